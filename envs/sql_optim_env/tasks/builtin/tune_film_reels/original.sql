SELECT r.id, r.condition, s.shown, s.slip
FROM showing s
JOIN reel r ON r.id = s.reel_no
WHERE r.vault = 31
ORDER BY r.id, s.id
