SELECT o.customer_id, g.orders, g.revenue, o.first_total, o.total AS last_total, o.status AS last_status
FROM (
    SELECT
        customer_id,
        total,
        status,
        FIRST_VALUE(total) OVER (PARTITION BY customer_id ORDER BY created_at, id) AS first_total,
        ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY created_at DESC, id DESC) AS recency
    FROM orders
) AS o
JOIN (SELECT customer_id, COUNT(*) AS orders, SUM(total) AS revenue FROM orders GROUP BY customer_id) AS g USING (customer_id)
WHERE o.recency = 1
