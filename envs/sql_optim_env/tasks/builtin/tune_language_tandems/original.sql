WITH record AS (
    SELECT l.id, l.name, COUNT(*) AS meetings, SUM(m.minutes) AS minutes, MAX(length(m.note)) AS longest
    FROM learner l
    JOIN meeting m ON m.learner_id = l.id
    GROUP BY l.id
)
SELECT p.id, p.language,
       a.name AS first, a.meetings AS first_meetings, a.minutes AS first_minutes, a.longest AS first_longest,
       b.name AS second, b.meetings AS second_meetings, b.minutes AS second_minutes, b.longest AS second_longest,
       t.name AS tutor, t.minutes AS tutor_minutes
FROM pairing p
JOIN record a ON a.id = p.first_id
JOIN record b ON b.id = p.second_id
LEFT JOIN record t ON t.id = p.tutor_id
WHERE p.state = 'waiting'
ORDER BY p.id
