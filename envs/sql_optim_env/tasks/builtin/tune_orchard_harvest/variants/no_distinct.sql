SELECT p.id, p.field,
       COUNT(c.id) AS crates,
       COUNT(s.id) AS sprayings,
       COUNT(g.id) AS grafts
FROM plot p
LEFT JOIN crate c ON c.plot_id = p.id
LEFT JOIN spraying s ON s.plot_id = p.id
LEFT JOIN graft g ON g.plot_id = p.id
WHERE p.variety = 'Pitmaston'
GROUP BY p.id, p.field
ORDER BY p.id
