SELECT l.no, l.route,
       COALESCE(SUM(CASE WHEN m.what = 'on time' THEN m.n END), 0) AS on_time,
       COALESCE(SUM(CASE WHEN m.what = 'late' THEN m.n END), 0) AS late,
       COALESCE(SUM(CASE WHEN m.what = 'early' THEN m.n END), 0) AS early,
       COALESCE(SUM(CASE WHEN m.what = 'silent' THEN m.n END), 0) AS silent,
       COALESCE(SUM(CASE WHEN m.what = 'weekend' THEN m.n END), 0) AS weekend_riders
FROM line l
LEFT JOIN (
    SELECT 'on time' AS what, line_no, COUNT(*) AS n FROM stop_call WHERE delay BETWEEN -60 AND 180 GROUP BY line_no
    UNION ALL
    SELECT 'late' AS what, line_no, COUNT(*) AS n FROM stop_call WHERE delay > 180 GROUP BY line_no
    UNION ALL
    SELECT 'early' AS what, line_no, COUNT(*) AS n FROM stop_call WHERE delay < -60 GROUP BY line_no
    UNION ALL
    SELECT 'silent' AS what, line_no, COUNT(*) AS n FROM stop_call WHERE delay IS NULL GROUP BY line_no
    UNION ALL
    SELECT 'weekend' AS what, line_no, SUM(boarded) AS n FROM stop_call WHERE weekday >= 6 GROUP BY line_no
) m ON m.line_no = l.no
GROUP BY l.no, l.route
ORDER BY l.no
