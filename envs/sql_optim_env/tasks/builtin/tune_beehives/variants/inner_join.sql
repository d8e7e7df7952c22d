SELECT i.id, i.minute, i.hive, i.protocol
FROM inspection i
JOIN finding f ON f.id = i.finding_id
WHERE f.name = 'foulbrood'
  AND i.minute BETWEEN 41000 AND 43999
ORDER BY i.minute, i.id
