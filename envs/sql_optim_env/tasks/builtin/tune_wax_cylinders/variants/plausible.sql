SELECT village,
       COUNT(*) AS cylinders,
       COUNT(sound) AS digitised,
       SUM(length(sound) = 0) AS blank,
       SUM(length(sound)) AS bytes,
       MIN(CASE WHEN length(sound) > 0 THEN recorded END) AS earliest
FROM cylinder
GROUP BY village
ORDER BY village
