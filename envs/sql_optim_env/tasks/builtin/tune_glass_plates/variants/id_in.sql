SELECT 'AR Lac' AS star, id, minutes, journal
FROM plate
WHERE field = 117 AND id IN (SELECT id FROM plate WHERE emulsion = '103a-O') AND observer <> 7
UNION ALL
SELECT 'BW Vul' AS star, id, minutes, journal
FROM plate
WHERE field = 117 AND id IN (SELECT id FROM plate WHERE emulsion = 'IIa-D') AND observer <> 7
UNION ALL
SELECT 'CQ Cep' AS star, id, minutes, journal
FROM plate
WHERE field = 128 AND id IN (SELECT id FROM plate WHERE emulsion = '103a-E') AND observer <> 7
UNION ALL
SELECT 'DI Her' AS star, id, minutes, journal
FROM plate
WHERE field = 140 AND id IN (SELECT id FROM plate WHERE emulsion = 'IIIa-J') AND observer <> 7
UNION ALL
SELECT 'EE Peg' AS star, id, minutes, journal
FROM plate
WHERE field = 155 AND id IN (SELECT id FROM plate WHERE emulsion = 'IIa-O') AND observer <> 7
ORDER BY star, id
