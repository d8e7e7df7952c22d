SELECT v.id AS evening, h.id AS hut, h.name, h.access, e.id AS signed, e.party, e.message
FROM evening v
CROSS JOIN hut h
LEFT JOIN entry e ON e.id = (SELECT MAX(m.id) FROM entry m WHERE m.hut_id = h.id AND m.id <= v.minute)
WHERE h.valley = 7
ORDER BY v.id, h.id
