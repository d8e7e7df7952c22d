WITH c AS MATERIALIZED (SELECT village, recorded, COALESCE(length(sound), 0) AS size FROM cylinder)
SELECT village,
       COUNT(*) AS cylinders,
       COUNT(size) AS digitised,
       SUM(size = 0) AS blank,
       SUM(size) AS bytes,
       MIN(CASE WHEN size > 0 THEN recorded END) AS earliest
FROM c
GROUP BY village
ORDER BY village
