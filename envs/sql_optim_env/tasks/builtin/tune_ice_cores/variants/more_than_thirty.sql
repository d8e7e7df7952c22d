WITH depths AS MATERIALIZED (SELECT id, depth FROM section),
ashes AS MATERIALIZED (SELECT id, ash FROM section WHERE ash > 30),
layer AS MATERIALIZED (SELECT a.id, d.depth, a.ash FROM ashes a JOIN depths d ON d.id = a.id),
pick AS MATERIALIZED (
    SELECT * FROM (SELECT 'deep' AS part, id, depth, ash FROM layer ORDER BY depth DESC, id DESC LIMIT 14)
    UNION ALL
    SELECT * FROM (SELECT 'shallow' AS part, id, depth, ash FROM layer ORDER BY depth, id LIMIT 14)
    UNION ALL
    SELECT * FROM (SELECT 'thick' AS part, id, depth, ash FROM layer ORDER BY ash DESC, depth, id LIMIT 14)
),
head AS MATERIALIZED (
    SELECT s.id, hex(substr(s.scan, 1, 24)) AS head
    FROM (SELECT DISTINCT id FROM pick) u
    CROSS JOIN section s ON s.id = u.id
)
SELECT p.part, p.id, p.depth, p.ash, h.head, (SELECT COUNT(*) FROM layer) AS ashy
FROM pick p
JOIN head h ON h.id = p.id
ORDER BY p.part, p.depth, p.id
