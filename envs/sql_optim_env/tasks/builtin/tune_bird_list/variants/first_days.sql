SELECT d.day, d.sightings,
       (SELECT COUNT(*)
        FROM (SELECT species, MIN(day) AS day FROM sighting WHERE site = 1 AND species IS NOT NULL GROUP BY species) f
        WHERE f.day <= d.day) AS list
FROM (SELECT day, COUNT(*) AS sightings FROM sighting WHERE site = 1 GROUP BY day) d
ORDER BY d.day
