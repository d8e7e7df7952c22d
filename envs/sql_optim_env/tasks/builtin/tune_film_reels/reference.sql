SELECT r.id, r.condition, s.shown, s.slip
FROM reel r
CROSS JOIN showing s ON s.reel_no = printf('%06d', r.id)
WHERE r.vault = 31
ORDER BY r.id, s.id
