WITH wish(star, field, emulsion) AS (
    VALUES ('AR Lac', 117, '103a-O'),
           ('BW Vul', 117, 'IIa-D'),
           ('CQ Cep', 128, '103a-E'),
           ('DI Her', 140, 'IIIa-J'),
           ('EE Peg', 155, 'IIa-O')
),
of_field AS MATERIALIZED (SELECT id, field FROM plate WHERE field IN (SELECT field FROM wish)),
of_emulsion AS MATERIALIZED (SELECT id, emulsion FROM plate WHERE emulsion IN (SELECT emulsion FROM wish)),
found AS MATERIALIZED (
    SELECT w.star, f.id
    FROM of_field f
    JOIN of_emulsion e ON e.id = f.id
    JOIN wish w ON w.field = f.field AND w.emulsion = e.emulsion
)
SELECT k.star, p.id, p.minutes, p.journal
FROM found k
CROSS JOIN plate p ON p.id = k.id
WHERE p.observer <> 7
ORDER BY k.star, p.id
