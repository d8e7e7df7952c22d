SELECT id, hour, vessel, metres, remarks
FROM berth_call
WHERE +status = 'moored'
  AND hour >= 52000 AND hour < 52719
ORDER BY hour, id
