SELECT h.id, h.name,
       COALESCE(s.tickets, 0) AS tickets,
       COALESCE(s.pence, 0) AS taken,
       COALESCE(r.pence, 0) AS refunded,
       c.letters AS letters
FROM hall h
LEFT JOIN (
    SELECT hall_id, COUNT(*) AS tickets, SUM(pence) AS pence
    FROM sale
    WHERE sold_at BETWEEN 1709596800 AND 1709683200
    GROUP BY hall_id
) s ON s.hall_id = h.id
LEFT JOIN (
    SELECT hall_id, SUM(pence) AS pence
    FROM refund
    WHERE paid_at BETWEEN 1709596800 AND 1709683200
    GROUP BY hall_id
) r ON r.hall_id = h.id
LEFT JOIN (
    SELECT hall_id, COUNT(*) AS letters
    FROM complaint
    WHERE received BETWEEN 1709596800 AND 1709683200
    GROUP BY hall_id
) c ON c.hall_id = h.id
ORDER BY h.id
