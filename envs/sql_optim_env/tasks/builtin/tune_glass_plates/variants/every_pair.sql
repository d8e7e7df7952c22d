SELECT star, id, minutes, journal
FROM (
    SELECT CASE
               WHEN field = 117 AND emulsion IN ('103a-O', 'IIa-D') THEN 'AR Lac'
               WHEN field = 117 AND emulsion = 'IIa-D' THEN 'BW Vul'
               WHEN field = 128 AND emulsion = '103a-E' THEN 'CQ Cep'
               WHEN field = 140 AND emulsion = 'IIIa-J' THEN 'DI Her'
               WHEN field = 155 AND emulsion = 'IIa-O' THEN 'EE Peg'
           END AS star, id, minutes, journal
    FROM plate
    WHERE observer <> 7
)
WHERE star IS NOT NULL
ORDER BY star, id
