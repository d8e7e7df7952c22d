WITH p AS MATERIALIZED (SELECT id, field FROM plot WHERE variety = 'Pitmaston'),
     c AS MATERIALIZED (SELECT plot_id, COUNT(*) AS n FROM crate WHERE plot_id IN (SELECT id FROM p) GROUP BY plot_id),
     s AS MATERIALIZED (SELECT plot_id, COUNT(*) AS n FROM spraying WHERE plot_id IN (SELECT id FROM p) GROUP BY plot_id),
     g AS MATERIALIZED (SELECT plot_id, COUNT(*) AS n FROM graft WHERE plot_id IN (SELECT id FROM p) GROUP BY plot_id)
SELECT p.id, p.field, COALESCE(c.n, 0) AS crates, COALESCE(s.n, 0) AS sprayings, COALESCE(g.n, 0) AS grafts
FROM p
LEFT JOIN c ON c.plot_id = p.id
LEFT JOIN s ON s.plot_id = p.id
LEFT JOIN g ON g.plot_id = p.id
ORDER BY p.id
