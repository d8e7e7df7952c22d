SELECT village,
       COUNT(*) AS cylinders,
       COUNT(sound) AS digitised,
       SUM(sound = x'') AS blank,
       SUM(length(sound)) AS bytes,
       MIN(CASE WHEN sound <> x'' THEN recorded END) AS earliest
FROM cylinder
GROUP BY village
ORDER BY village
