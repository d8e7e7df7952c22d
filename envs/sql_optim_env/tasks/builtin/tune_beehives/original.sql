SELECT i.id, i.minute, i.hive, i.protocol
FROM inspection i
LEFT JOIN finding f ON f.id = i.finding_id
WHERE COALESCE(f.name, 'none') = 'foulbrood'
  AND i.minute BETWEEN 41000 AND 43999
ORDER BY i.minute, i.id
