SELECT id, callsign, remarks
FROM contact
WHERE band = 20
  AND id NOT IN (SELECT contact_id FROM card )
  AND id NOT IN (SELECT contact_id FROM confirmation WHERE state <> 'refused')
ORDER BY id
