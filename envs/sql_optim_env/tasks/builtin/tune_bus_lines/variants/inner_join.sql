SELECT l.no, l.route,
       COALESCE(c.on_time, 0) AS on_time, COALESCE(c.late, 0) AS late, COALESCE(c.early, 0) AS early,
       c.silent AS silent, COALESCE(c.weekend_riders, 0) AS weekend_riders
FROM line l
JOIN (
    SELECT line_no, SUM(delay BETWEEN -60 AND 180) AS on_time, SUM(delay > 180) AS late, SUM(delay < -60) AS early,
           SUM(delay IS NULL) AS silent, SUM(CASE WHEN weekday >= 6 THEN boarded END) AS weekend_riders
    FROM stop_call GROUP BY line_no
) c ON c.line_no = l.no
ORDER BY l.no
