SELECT id, grams, label, fall, account, country, customs, finder, terms
FROM (
    SELECT s.id, s.grams, s.label, f.name AS fall, f.account, c.name AS country, c.customs, p.name AS finder, p.terms,
           ROW_NUMBER() OVER (ORDER BY s.grams, s.id) AS place,
           COUNT(*) OVER () AS of_all
    FROM specimen s
    LEFT JOIN fall f ON f.id = s.fall_id
    LEFT JOIN country c ON c.id = f.country_id
    LEFT JOIN finder p ON p.id = s.finder_id
)
WHERE place > of_all / 2 - 10 AND place <= of_all / 2 + 10
ORDER BY place
