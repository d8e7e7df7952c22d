WITH RECURSIVE up(id) AS (
    SELECT id FROM reach WHERE id = 12 AND shut IS NOT 1
    UNION
    SELECT r.id FROM up CROSS JOIN reach r ON r.downstream_id = up.id WHERE r.shut IS NOT 1
)
SELECT r.id, r.name, r.survey
FROM up
CROSS JOIN reach r ON r.id = up.id
ORDER BY r.id
