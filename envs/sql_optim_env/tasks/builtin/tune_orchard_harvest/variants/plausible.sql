SELECT p.id, p.field, COALESCE(c.n, 0) AS crates, COALESCE(s.n, 0) AS sprayings, COALESCE(g.n, 0) AS grafts
FROM plot p
LEFT JOIN (SELECT plot_id, COUNT(*) AS n FROM crate GROUP BY plot_id) c ON c.plot_id = p.id
LEFT JOIN (SELECT plot_id, COUNT(*) AS n FROM spraying GROUP BY plot_id) s ON s.plot_id = p.id
LEFT JOIN (SELECT plot_id, COUNT(*) AS n FROM graft GROUP BY plot_id) g ON g.plot_id = p.id
WHERE p.variety = 'Pitmaston'
ORDER BY p.id
