SELECT d.day, d.sightings,
       (SELECT COUNT(DISTINCT s.species)
        FROM sighting s
        WHERE s.day <= d.day AND s.site = 1) AS list
FROM (SELECT day, COUNT(*) AS sightings FROM sighting WHERE site = 1 GROUP BY day) d
ORDER BY d.day
