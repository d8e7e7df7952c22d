SELECT 'AR Lac' AS star, p.id AS id, p.minutes AS minutes, p.journal AS journal
FROM (SELECT id FROM plate WHERE field = 117 INTERSECT SELECT id FROM plate WHERE emulsion = '103a-O' EXCEPT SELECT id FROM plate WHERE observer = 7) k
CROSS JOIN plate p ON p.id = k.id
WHERE 1
UNION ALL
SELECT 'BW Vul' AS star, p.id AS id, p.minutes AS minutes, p.journal AS journal
FROM (SELECT id FROM plate WHERE field = 117 INTERSECT SELECT id FROM plate WHERE emulsion = 'IIa-D' EXCEPT SELECT id FROM plate WHERE observer = 7) k
CROSS JOIN plate p ON p.id = k.id
WHERE 1
UNION ALL
SELECT 'CQ Cep' AS star, p.id AS id, p.minutes AS minutes, p.journal AS journal
FROM (SELECT id FROM plate WHERE field = 128 INTERSECT SELECT id FROM plate WHERE emulsion = '103a-E' EXCEPT SELECT id FROM plate WHERE observer = 7) k
CROSS JOIN plate p ON p.id = k.id
WHERE 1
UNION ALL
SELECT 'DI Her' AS star, p.id AS id, p.minutes AS minutes, p.journal AS journal
FROM (SELECT id FROM plate WHERE field = 140 INTERSECT SELECT id FROM plate WHERE emulsion = 'IIIa-J' EXCEPT SELECT id FROM plate WHERE observer = 7) k
CROSS JOIN plate p ON p.id = k.id
WHERE 1
UNION ALL
SELECT 'EE Peg' AS star, p.id AS id, p.minutes AS minutes, p.journal AS journal
FROM (SELECT id FROM plate WHERE field = 155 INTERSECT SELECT id FROM plate WHERE emulsion = 'IIa-O' EXCEPT SELECT id FROM plate WHERE observer = 7) k
CROSS JOIN plate p ON p.id = k.id
WHERE 1
ORDER BY star, id
