WITH seen AS MATERIALIZED (
    SELECT day, species, COUNT(*) AS sightings
    FROM sighting
    WHERE site = 1
    GROUP BY day, species
),
added AS (
    SELECT day, COUNT(*) AS species
    FROM (SELECT species, MIN(day) AS day FROM seen WHERE day IS NOT NULL GROUP BY species)
    GROUP BY day
)
SELECT d.day, d.sightings, COALESCE(SUM(n.species) OVER (ORDER BY d.day), 0) AS list
FROM (SELECT day, SUM(sightings) AS sightings FROM seen GROUP BY day) d
LEFT JOIN added n ON n.day = d.day
ORDER BY d.day
