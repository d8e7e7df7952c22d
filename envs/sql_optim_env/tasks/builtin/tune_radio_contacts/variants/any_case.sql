SELECT c.id, c.callsign, c.remarks
FROM (
    SELECT id FROM contact WHERE band = 20
    EXCEPT
    SELECT contact_id FROM card
    EXCEPT
    SELECT contact_id FROM confirmation WHERE lower(state) <> 'refused'
) k
CROSS JOIN contact c ON c.id = k.id
ORDER BY c.id
