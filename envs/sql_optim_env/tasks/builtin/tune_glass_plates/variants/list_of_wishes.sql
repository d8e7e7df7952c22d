WITH wish(star, field, emulsion) AS (VALUES ('AR Lac', 117, '103a-O'), ('BW Vul', 117, 'IIa-D'), ('CQ Cep', 128, '103a-E'), ('DI Her', 140, 'IIIa-J'), ('EE Peg', 155, 'IIa-O'))
SELECT w.star, p.id, p.minutes, p.journal
FROM wish w
CROSS JOIN plate p ON p.field = w.field AND p.emulsion = w.emulsion
WHERE p.observer <> 7
ORDER BY w.star, p.id
