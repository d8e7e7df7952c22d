SELECT COUNT(*) AS readings,
       MIN(minute) AS first_minute,
       MAX(minute) AS last_minute,
       MIN(depth_mm) AS shallowest,
       MAX(depth_mm) AS deepest,
       MAX(chloride) AS saltiest
FROM reading
