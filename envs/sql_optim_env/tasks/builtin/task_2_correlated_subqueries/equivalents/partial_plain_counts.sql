SELECT
    r.tier,
    COUNT(*) AS credited_orders,
    SUM(r.total) AS credited_value,
    COUNT(*) FILTER (WHERE r.returned_later) AS before_a_return
FROM (
    SELECT
        o.id,
        o.total,
        u.tier,
        (SELECT COUNT(*)
         FROM orders AS p
         WHERE p.customer_id = o.customer_id
           AND p.created_at >= TIMESTAMP '2024-07-01'
           AND p.created_at < o.created_at) AS earlier_orders,
        EXISTS (SELECT 1
                FROM orders AS b
                WHERE b.customer_id = o.customer_id
                  AND b.status = 'returned'
                  AND b.created_at > o.created_at) AS returned_later
    FROM orders AS o
    JOIN users AS u ON u.id = o.customer_id
    WHERE o.created_at >= TIMESTAMP '2024-07-01'
) AS r
WHERE r.earlier_orders % 3 = 2
GROUP BY r.tier
