WITH RECURSIVE trail(reach_id, at) AS (
    SELECT id, id FROM reach WHERE shut IS NOT 1
    UNION
    SELECT t.reach_id, b.id
    FROM trail t
    JOIN reach a ON a.id = t.at
    JOIN reach b ON b.id = a.downstream_id
    WHERE b.shut IS NOT 1
)
SELECT r.id, r.name, r.survey
FROM reach r
WHERE r.id IN (SELECT reach_id FROM trail WHERE at = 12)
ORDER BY r.id
