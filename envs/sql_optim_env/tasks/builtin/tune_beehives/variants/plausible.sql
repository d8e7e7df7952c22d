SELECT i.id, i.minute, i.hive, i.protocol
FROM finding f
CROSS JOIN inspection i ON i.finding_id = f.id
WHERE f.name = 'foulbrood'
  AND i.minute BETWEEN 41000 AND 43999
ORDER BY i.minute, i.id
