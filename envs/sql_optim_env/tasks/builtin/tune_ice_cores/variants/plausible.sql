WITH layer AS MATERIALIZED (SELECT id, depth, ash FROM section WHERE ash >= 3),
pick AS MATERIALIZED (
    SELECT * FROM (SELECT 'deep' AS part, id, depth, ash FROM layer ORDER BY depth DESC, id DESC LIMIT 11)
    UNION ALL
    SELECT * FROM (SELECT 'shallow' AS part, id, depth, ash FROM layer ORDER BY depth, id LIMIT 11)
    UNION ALL
    SELECT * FROM (SELECT 'thick' AS part, id, depth, ash FROM layer ORDER BY ash DESC, depth, id LIMIT 11)
)
SELECT p.part, p.id, p.depth, p.ash, hex(substr(s.scan, 1, 24)) AS head, (SELECT COUNT(*) FROM layer) AS ashy
FROM pick p
CROSS JOIN section s ON s.id = p.id
ORDER BY p.part, p.depth, p.id
