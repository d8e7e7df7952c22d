SELECT i.id, i.minute, i.hive, i.protocol
FROM finding f
CROSS JOIN inspection i ON i.finding_id = f.id
WHERE f.name = 'foulbrood'
ORDER BY i.minute, i.id
