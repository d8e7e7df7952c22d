SELECT c.id, c.callsign, c.remarks
FROM contact c
WHERE c.band = 20
  AND NOT EXISTS (SELECT 1 FROM card k WHERE k.contact_id = c.id)
  AND NOT EXISTS (SELECT 1 FROM confirmation e WHERE e.contact_id = c.id AND e.state <> 'refused')
ORDER BY c.id
