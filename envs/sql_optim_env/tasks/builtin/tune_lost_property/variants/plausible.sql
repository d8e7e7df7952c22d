SELECT i.id, i.found, i.shelf, i.details
FROM item i
JOIN kind k ON k.id = i.kind_id
WHERE k.name = 'hearing aid'
  AND i.found >= 2000 AND i.found < 58000
ORDER BY i.id
