SELECT n.readings, m.first_minute, m.last_minute, d.shallowest, d.deepest, c.saltiest
FROM (SELECT COUNT(*) AS readings FROM reading) n,
     (SELECT MIN(minute) AS first_minute, MAX(minute) AS last_minute FROM reading) m,
     (SELECT MIN(depth_mm) AS shallowest, MAX(depth_mm) AS deepest FROM reading) d,
     (SELECT MAX(chloride) AS saltiest FROM reading) c
