SELECT l.no, l.route,
       (SELECT COUNT(*) FROM stop_call c WHERE c.line_no = l.no AND c.delay BETWEEN -60 AND 180) AS on_time,
       (SELECT COUNT(*) FROM stop_call c WHERE c.line_no = l.no AND c.delay > 180) AS late,
       (SELECT COUNT(*) FROM stop_call c WHERE c.line_no = l.no AND c.delay < -60) AS early,
       (SELECT COUNT(*) FROM stop_call c WHERE c.line_no = l.no AND c.delay IS NULL) AS silent,
       COALESCE((SELECT SUM(c.boarded) FROM stop_call c WHERE c.line_no = l.no AND c.weekday >= 6), 0) AS weekend_riders
FROM line l
ORDER BY l.no
