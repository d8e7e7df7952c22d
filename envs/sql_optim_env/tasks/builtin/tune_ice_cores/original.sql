SELECT x.*, (SELECT COUNT(*) FROM section WHERE ash >= 3) AS ashy
FROM (
    SELECT * FROM (SELECT 'deep' AS part, id, depth, ash, hex(substr(scan, 1, 24)) AS head
                   FROM section WHERE ash >= 3 ORDER BY depth DESC, id DESC LIMIT 11)
    UNION ALL
    SELECT * FROM (SELECT 'shallow' AS part, id, depth, ash, hex(substr(scan, 1, 24)) AS head
                   FROM section WHERE ash >= 3 ORDER BY depth, id LIMIT 11)
    UNION ALL
    SELECT * FROM (SELECT 'thick' AS part, id, depth, ash, hex(substr(scan, 1, 24)) AS head
                   FROM section WHERE ash >= 3 ORDER BY ash DESC, depth, id LIMIT 11)
) x
ORDER BY part, depth, id
