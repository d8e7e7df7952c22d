WITH box AS MATERIALIZED (
    SELECT id, place
    FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY grams, id) AS place, COUNT(*) OVER () AS of_all FROM specimen)
    WHERE place > of_all / 2 - 10 AND place <= of_all / 2 + 10
)
SELECT s.id, s.grams, s.label, f.name AS fall, f.account, c.name AS country, c.customs, p.name AS finder, p.terms
FROM box
CROSS JOIN specimen s ON s.id = box.id
LEFT JOIN fall f ON f.id = s.fall_id
LEFT JOIN country c ON c.id = f.country_id
LEFT JOIN finder p ON p.id = s.finder_id
ORDER BY box.place
