SELECT c.id, c.callsign, c.remarks
FROM contact c
LEFT JOIN card k ON k.contact_id = c.id
LEFT JOIN confirmation e ON e.contact_id = c.id AND e.state <> 'refused'
WHERE c.band = 20 AND k.id IS NULL AND e.id IS NULL
ORDER BY c.id
