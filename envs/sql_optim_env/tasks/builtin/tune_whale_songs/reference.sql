WITH RECURSIVE f(id, station, phrases) AS (
    SELECT id, station, phrases
    FROM song
    WHERE id = (SELECT id FROM song WHERE station IS NOT NULL ORDER BY station, id LIMIT 1)
    UNION ALL
    SELECT g.id, g.station, g.phrases
    FROM f
    CROSS JOIN song g ON g.id = (SELECT id FROM song WHERE station > f.station ORDER BY station, id LIMIT 1)
)
SELECT f.station, (SELECT COUNT(*) FROM f) AS stations,
       f.id AS first_id, f.phrases AS first_phrases,
       l.id AS last_id, l.phrases AS last_phrases
FROM f
CROSS JOIN song l ON l.id = (SELECT MAX(id) FROM song WHERE station = f.station)
ORDER BY f.station
