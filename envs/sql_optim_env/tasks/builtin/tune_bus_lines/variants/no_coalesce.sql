SELECT l.no, l.route, c.on_time, c.late, c.early, c.silent, c.weekend_riders
FROM line l
LEFT JOIN (
    SELECT line_no, SUM(delay BETWEEN -60 AND 180) AS on_time, SUM(delay > 180) AS late, SUM(delay < -60) AS early,
           SUM(delay IS NULL) AS silent, SUM(CASE WHEN weekday >= 6 THEN boarded ELSE 0 END) AS weekend_riders
    FROM stop_call GROUP BY line_no
) c ON c.line_no = l.no
ORDER BY l.no
