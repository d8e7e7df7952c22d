WITH h AS MATERIALIZED (SELECT id, name, access FROM hut WHERE valley = 7),
own AS MATERIALIZED (SELECT hut_id, id FROM entry WHERE hut_id IN (SELECT id FROM h)),
latest AS MATERIALIZED (
    SELECT v.id AS evening, h.id AS hut, MAX(o.id) AS signed
    FROM evening v
    CROSS JOIN h
    LEFT JOIN own o ON o.hut_id = h.id AND o.id <= v.minute
    GROUP BY v.id, h.id
)
SELECT l.evening, l.hut, h.name, h.access, l.signed, p.party, p.message
FROM latest l
JOIN h ON h.id = l.hut
LEFT JOIN entry p ON p.id = l.signed
ORDER BY l.evening, l.hut
