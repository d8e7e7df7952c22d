SELECT r.id, r.condition, s.shown, s.slip
FROM showing s
JOIN reel r ON r.id = CAST(s.reel_no AS INTEGER)
WHERE r.vault = 31
ORDER BY r.id, s.id
