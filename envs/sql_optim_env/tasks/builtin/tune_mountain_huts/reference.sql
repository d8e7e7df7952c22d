WITH h AS MATERIALIZED (SELECT id, name FROM hut WHERE valley = 7),
own AS MATERIALIZED (SELECT hut_id, id FROM entry WHERE hut_id IN (SELECT id FROM h)),
latest AS MATERIALIZED (
    SELECT v.id AS evening, h.id AS hut, h.name, MAX(o.id) AS signed
    FROM evening v
    CROSS JOIN h
    LEFT JOIN own o ON o.hut_id = h.id AND o.id <= v.minute
    GROUP BY v.id, h.id
)
SELECT l.evening, l.hut, l.name, l.signed, e.party, e.message
FROM latest l
LEFT JOIN entry e ON e.id = l.signed
ORDER BY l.evening, l.hut
