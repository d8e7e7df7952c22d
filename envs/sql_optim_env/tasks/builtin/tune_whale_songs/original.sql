SELECT s.station, n.stations,
       f.id AS first_id, f.phrases AS first_phrases,
       l.id AS last_id, l.phrases AS last_phrases
FROM (SELECT DISTINCT station FROM song) s
JOIN (SELECT COUNT(DISTINCT station) AS stations FROM song) n
JOIN (SELECT station, MIN(id) AS id FROM song GROUP BY station) a ON a.station = s.station
JOIN (SELECT station, MAX(id) AS id FROM song GROUP BY station) z ON z.station = s.station
JOIN song f ON f.id = a.id
JOIN song l ON l.id = z.id
ORDER BY s.station
