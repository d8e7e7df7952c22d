SELECT COALESCE((SELECT MAX(id) FROM reading), 0) AS readings,
       (SELECT MIN(minute) FROM reading) AS first_minute,
       (SELECT MAX(minute) FROM reading) AS last_minute,
       (SELECT MIN(depth_mm) FROM reading) AS shallowest,
       (SELECT MAX(depth_mm) FROM reading) AS deepest,
       (SELECT MAX(chloride) FROM reading) AS saltiest
