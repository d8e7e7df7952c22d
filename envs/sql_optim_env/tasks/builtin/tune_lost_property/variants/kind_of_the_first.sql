SELECT i.id, i.found, i.shelf, i.details
FROM item i
WHERE i.kind_id = (SELECT k.id FROM kind k WHERE k.name = 'hearing aid')
  AND i.found >= 2000 AND i.found < 58000
ORDER BY i.id
