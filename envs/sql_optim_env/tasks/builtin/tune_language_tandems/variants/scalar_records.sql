SELECT p.id, p.language,
       a.name AS first,
       (SELECT COUNT(*) FROM meeting m WHERE m.learner_id = a.id) AS first_meetings,
       (SELECT SUM(m.minutes) FROM meeting m WHERE m.learner_id = a.id) AS first_minutes,
       (SELECT MAX(length(m.note)) FROM meeting m WHERE m.learner_id = a.id) AS first_longest,
       b.name AS second,
       (SELECT COUNT(*) FROM meeting m WHERE m.learner_id = b.id) AS second_meetings,
       (SELECT SUM(m.minutes) FROM meeting m WHERE m.learner_id = b.id) AS second_minutes,
       (SELECT MAX(length(m.note)) FROM meeting m WHERE m.learner_id = b.id) AS second_longest,
       t.name AS tutor,
       (SELECT SUM(m.minutes) FROM meeting m WHERE m.learner_id = t.id) AS tutor_minutes
FROM pairing p
JOIN learner a ON a.id = p.first_id
JOIN learner b ON b.id = p.second_id
LEFT JOIN learner t ON t.id = p.tutor_id AND EXISTS (SELECT 1 FROM meeting m WHERE m.learner_id = t.id)
WHERE p.state = 'waiting'
  AND EXISTS (SELECT 1 FROM meeting m WHERE m.learner_id = a.id)
  AND EXISTS (SELECT 1 FROM meeting m WHERE m.learner_id = b.id)
ORDER BY p.id
