WITH h AS MATERIALIZED (SELECT id, name, access FROM hut WHERE valley = 7),
own AS MATERIALIZED (SELECT hut_id, id FROM entry WHERE hut_id IN (SELECT id FROM h)),
latest AS MATERIALIZED (
    SELECT v.id AS evening, h.id AS hut, MAX(o.id) AS signed
    FROM evening v
    CROSS JOIN h
    LEFT JOIN own o ON o.hut_id = h.id AND o.id <= v.minute
    GROUP BY v.minute, h.id
),
page AS MATERIALIZED (
    SELECT e.id, e.party, e.message
    FROM (SELECT DISTINCT signed FROM latest WHERE signed IS NOT NULL) s
    CROSS JOIN entry e ON e.id = s.signed
)
SELECT l.evening, l.hut, h.name, h.access, l.signed, p.party, p.message
FROM latest l
JOIN h ON h.id = l.hut
LEFT JOIN page p ON p.id = l.signed
ORDER BY l.evening, l.hut
