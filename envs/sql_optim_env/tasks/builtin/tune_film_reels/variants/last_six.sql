SELECT r.id, r.condition, s.shown, s.slip
FROM reel r
CROSS JOIN showing s ON s.reel_no = substr('000000' || r.id, -6)
WHERE r.vault = 31
ORDER BY r.id, s.id
