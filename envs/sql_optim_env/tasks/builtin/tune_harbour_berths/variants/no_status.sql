SELECT id, hour, vessel, metres, remarks
FROM berth_call
WHERE hour BETWEEN 52000 AND 52719
ORDER BY hour, id
