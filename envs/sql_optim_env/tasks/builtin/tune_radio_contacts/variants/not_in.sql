SELECT id, callsign, remarks
FROM contact
WHERE band = 20
  AND id NOT IN (SELECT contact_id FROM card WHERE contact_id IS NOT NULL)
  AND id NOT IN (SELECT contact_id FROM confirmation WHERE contact_id IS NOT NULL AND state <> 'refused')
ORDER BY id
