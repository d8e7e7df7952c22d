SELECT c.id, c.second, c.strip, (SELECT r.owner FROM ring r WHERE r.mark = c.mark AND c.mark = r.mark) AS owner
FROM clocking c
WHERE c.race = 44 AND EXISTS (SELECT 1 FROM ring r WHERE r.mark = c.mark AND c.mark = r.mark)
ORDER BY c.second, c.id
