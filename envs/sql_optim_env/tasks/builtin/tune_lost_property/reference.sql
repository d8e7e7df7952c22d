SELECT i.id, i.found, i.shelf, i.details
FROM kind k
CROSS JOIN item i ON i.kind_id = k.id
WHERE k.name = 'hearing aid'
  AND i.found >= 2000 AND i.found < 58000
ORDER BY i.id
