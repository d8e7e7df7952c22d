SELECT star, id, minutes, journal
FROM (
    SELECT CASE
               WHEN field = 117 AND emulsion LIKE '103a-O' THEN 'AR Lac'
               WHEN field = 117 AND emulsion LIKE 'IIa-D' THEN 'BW Vul'
               WHEN field = 128 AND emulsion LIKE '103a-E' THEN 'CQ Cep'
               WHEN field = 140 AND emulsion LIKE 'IIIa-J' THEN 'DI Her'
               WHEN field = 155 AND emulsion LIKE 'IIa-O' THEN 'EE Peg'
           END AS star, id, minutes, journal
    FROM plate
    WHERE observer <> 7
)
WHERE star IS NOT NULL
ORDER BY star, id
