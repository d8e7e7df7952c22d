WITH seen AS MATERIALIZED (
    SELECT day, species, COUNT(*) AS sightings
    FROM sighting
    WHERE site = 1
    GROUP BY day, species
),
added AS (
    SELECT day, COUNT(*) AS species
    FROM (SELECT species, MIN(COALESCE(day, -1)) AS day FROM seen WHERE species IS NOT NULL GROUP BY species)
    GROUP BY day
)
SELECT d.day, d.sightings, SUM(COALESCE(n.species, 0)) OVER (ORDER BY d.day) AS list
FROM (SELECT day, SUM(sightings) AS sightings FROM seen GROUP BY day) d
LEFT JOIN added n ON n.day IS d.day
ORDER BY d.day
