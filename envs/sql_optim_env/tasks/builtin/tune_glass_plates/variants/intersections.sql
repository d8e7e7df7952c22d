SELECT 'AR Lac' AS star, p.id AS id, p.minutes AS minutes, p.journal AS journal
FROM (SELECT id FROM plate WHERE field = 117 INTERSECT SELECT id FROM plate WHERE emulsion = '103a-O') k
CROSS JOIN plate p ON p.id = k.id
WHERE p.observer <> 7
UNION ALL
SELECT 'BW Vul' AS star, p.id AS id, p.minutes AS minutes, p.journal AS journal
FROM (SELECT id FROM plate WHERE field = 117 INTERSECT SELECT id FROM plate WHERE emulsion = 'IIa-D') k
CROSS JOIN plate p ON p.id = k.id
WHERE p.observer <> 7
UNION ALL
SELECT 'CQ Cep' AS star, p.id AS id, p.minutes AS minutes, p.journal AS journal
FROM (SELECT id FROM plate WHERE field = 128 INTERSECT SELECT id FROM plate WHERE emulsion = '103a-E') k
CROSS JOIN plate p ON p.id = k.id
WHERE p.observer <> 7
UNION ALL
SELECT 'DI Her' AS star, p.id AS id, p.minutes AS minutes, p.journal AS journal
FROM (SELECT id FROM plate WHERE field = 140 INTERSECT SELECT id FROM plate WHERE emulsion = 'IIIa-J') k
CROSS JOIN plate p ON p.id = k.id
WHERE p.observer <> 7
UNION ALL
SELECT 'EE Peg' AS star, p.id AS id, p.minutes AS minutes, p.journal AS journal
FROM (SELECT id FROM plate WHERE field = 155 INTERSECT SELECT id FROM plate WHERE emulsion = 'IIa-O') k
CROSS JOIN plate p ON p.id = k.id
WHERE p.observer <> 7
ORDER BY star, id
