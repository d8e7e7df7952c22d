SELECT s.id, s.grams, s.label, f.name AS fall, f.account, c.name AS country, c.customs, p.name AS finder, p.terms
FROM specimen s
LEFT JOIN fall f ON f.id = s.fall_id
LEFT JOIN country c ON c.id = f.country_id
LEFT JOIN finder p ON p.id = s.finder_id
ORDER BY s.grams, s.id
LIMIT 20 OFFSET (SELECT COUNT(*) / 2 - 10 FROM specimen)
