SELECT v.id, h.species, h.history, f.directions, v.at, v.notes
FROM visit v
JOIN herd h ON h.id = v.herd_id
JOIN farm f ON f.id = v.farm_id
WHERE h.species IN ('goat', 'sheep') AND f.valley = 'upper'
  AND v.at >= 1717372800 AND v.at <= 1717977600
ORDER BY v.id
