SELECT c.id, c.second, c.strip, r.owner
FROM clocking c
JOIN ring r ON lower(c.mark) = lower(r.mark)
WHERE c.race = 44
ORDER BY c.second, c.id, r.id
