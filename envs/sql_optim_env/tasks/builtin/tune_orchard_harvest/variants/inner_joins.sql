SELECT p.id, p.field,
       COUNT(DISTINCT c.id) AS crates,
       COUNT(DISTINCT s.id) AS sprayings,
       COUNT(DISTINCT g.id) AS grafts
FROM plot p
JOIN crate c ON c.plot_id = p.id
JOIN spraying s ON s.plot_id = p.id
JOIN graft g ON g.plot_id = p.id
WHERE p.variety = 'Pitmaston'
GROUP BY p.id, p.field
ORDER BY p.id
