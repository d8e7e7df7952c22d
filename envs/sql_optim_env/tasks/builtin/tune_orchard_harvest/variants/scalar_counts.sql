SELECT p.id, p.field,
       (SELECT COUNT(*) FROM crate c WHERE c.plot_id = p.id) AS crates,
       (SELECT COUNT(*) FROM spraying s WHERE s.plot_id = p.id) AS sprayings,
       (SELECT COUNT(*) FROM graft g WHERE g.plot_id = p.id) AS grafts
FROM plot p
WHERE p.variety = 'Pitmaston'
ORDER BY p.id
