SELECT v.id, h.species, h.history, f.directions, v.at, v.notes
FROM visit v
JOIN herd h ON h.id = v.herd_id
JOIN farm f ON f.id = v.farm_id
WHERE h.species = 'goat' AND f.valley = 'upper'
  AND date(v.at, 'unixepoch') BETWEEN '2024-06-03' AND '2024-06-09'
UNION ALL
SELECT v.id, h.species, h.history, f.directions, v.at, v.notes
FROM visit v
JOIN herd h ON h.id = v.herd_id
JOIN farm f ON f.id = v.farm_id
WHERE h.species = 'sheep' AND f.valley = 'upper'
  AND date(v.at, 'unixepoch') BETWEEN '2024-06-03' AND '2024-06-09'
ORDER BY 1
