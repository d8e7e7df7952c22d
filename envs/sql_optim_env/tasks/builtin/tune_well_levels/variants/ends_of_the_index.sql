SELECT (SELECT COUNT(*) FROM reading) AS readings,
       (SELECT minute FROM reading ORDER BY minute LIMIT 1) AS first_minute,
       (SELECT MAX(minute) FROM reading) AS last_minute,
       (SELECT depth_mm FROM reading ORDER BY depth_mm LIMIT 1) AS shallowest,
       (SELECT MAX(depth_mm) FROM reading) AS deepest,
       (SELECT MAX(chloride) FROM reading) AS saltiest
