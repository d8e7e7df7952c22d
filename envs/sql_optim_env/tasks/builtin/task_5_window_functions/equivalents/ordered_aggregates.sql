SELECT
    customer_id,
    COUNT(*) AS orders,
    SUM(total) AS revenue,
    FIRST(total ORDER BY created_at, id) AS first_total,
    LAST(total ORDER BY created_at, id) AS last_total,
    LAST(status ORDER BY created_at, id) AS last_status
FROM orders
GROUP BY customer_id
