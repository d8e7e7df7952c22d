WITH latest AS MATERIALIZED (
    SELECT v.id AS evening, e.hut_id, MAX(e.id) AS id
    FROM evening v
    JOIN entry e ON e.id <= v.minute
    GROUP BY v.id, e.hut_id
)
SELECT v.id AS evening, h.id AS hut, h.name, h.access, l.id AS signed, e.party, e.message
FROM evening v
CROSS JOIN hut h
LEFT JOIN latest l ON l.evening = v.id AND l.hut_id = h.id
LEFT JOIN entry e ON e.id = l.id
WHERE h.valley = 7
ORDER BY v.id, h.id
