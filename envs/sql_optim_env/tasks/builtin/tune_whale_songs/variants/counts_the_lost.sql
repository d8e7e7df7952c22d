WITH s AS MATERIALIZED (
    SELECT station, MIN(id) AS a, MAX(id) AS z
    FROM song
    GROUP BY station
)
SELECT s.station, (SELECT COUNT(*) FROM s) AS stations,
       f.id AS first_id, f.phrases AS first_phrases,
       l.id AS last_id, l.phrases AS last_phrases
FROM s
CROSS JOIN song f ON f.id = s.a
CROSS JOIN song l ON l.id = s.z
WHERE s.station IS NOT NULL
ORDER BY s.station
