WITH wait AS MATERIALIZED (
    SELECT id, language, first_id, second_id, tutor_id
    FROM pairing
    WHERE state = 'waiting'
),
who AS MATERIALIZED (
    SELECT first_id AS id FROM wait UNION SELECT second_id FROM wait UNION SELECT tutor_id FROM wait
),
record AS MATERIALIZED (
    SELECT l.id, l.name, COUNT(*) AS meetings, SUM(m.minutes) AS minutes, MAX(length(m.note)) AS longest
    FROM who w
    CROSS JOIN learner l ON l.id = w.id
    CROSS JOIN meeting m ON m.learner_id = l.id
    GROUP BY l.id
)
SELECT p.id, p.language,
       a.name AS first, a.meetings AS first_meetings, a.minutes AS first_minutes, a.longest AS first_longest,
       b.name AS second, b.meetings AS second_meetings, b.minutes AS second_minutes, b.longest AS second_longest,
       t.name AS tutor, t.minutes AS tutor_minutes
FROM wait p
JOIN record a ON a.id = p.first_id
JOIN record b ON b.id = p.second_id
LEFT JOIN record t ON t.id = p.tutor_id
ORDER BY p.id
