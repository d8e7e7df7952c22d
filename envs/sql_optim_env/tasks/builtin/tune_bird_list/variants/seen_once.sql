WITH seen AS MATERIALIZED (
    SELECT day, species, COUNT(*) AS sightings
    FROM sighting
    WHERE site = 1
    GROUP BY day, species
)
SELECT d.day, d.sightings,
       (SELECT COUNT(DISTINCT s.species) FROM seen s WHERE s.day <= d.day) AS list
FROM (SELECT day, SUM(sightings) AS sightings FROM seen GROUP BY day) d
ORDER BY d.day
