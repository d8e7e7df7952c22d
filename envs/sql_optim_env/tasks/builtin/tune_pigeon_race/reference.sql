SELECT c.id, c.second, c.strip, r.owner
FROM clocking c
CROSS JOIN ring r ON r.mark = c.mark AND c.mark = r.mark
WHERE c.race = 44
ORDER BY c.second, c.id, r.id
