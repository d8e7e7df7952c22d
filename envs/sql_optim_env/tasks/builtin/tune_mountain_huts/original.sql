SELECT v.id AS evening, h.id AS hut, h.name, h.access, x.id AS signed, x.party, e.message
FROM evening v
CROSS JOIN hut h
LEFT JOIN (
    SELECT v.id AS evening, e.hut_id, e.id, e.party,
           ROW_NUMBER() OVER (PARTITION BY v.id, e.hut_id ORDER BY e.id DESC) AS k
    FROM evening v
    JOIN entry e ON e.id <= v.minute
) x ON x.evening = v.id AND x.hut_id = h.id AND x.k = 1
LEFT JOIN entry e ON e.id = x.id
WHERE h.valley = 7
ORDER BY v.id, h.id
