SELECT x.*, (SELECT COUNT(*) FROM section WHERE ash >= 30) AS ashy
FROM (
    SELECT * FROM (SELECT 'deep' AS part, id, depth, ash, hex(substr(scan, 1, 24)) AS head
                   FROM section WHERE ash >= 30 ORDER BY depth DESC, id DESC LIMIT 14)
    UNION ALL
    SELECT * FROM (SELECT 'shallow' AS part, id, depth, ash, hex(substr(scan, 1, 24)) AS head
                   FROM section WHERE ash >= 30 ORDER BY depth, id LIMIT 14)
    UNION ALL
    SELECT * FROM (SELECT 'thick' AS part, id, depth, ash, hex(substr(scan, 1, 24)) AS head
                   FROM section WHERE ash >= 30 ORDER BY ash DESC, depth, id LIMIT 14)
) x
ORDER BY part, depth, id
