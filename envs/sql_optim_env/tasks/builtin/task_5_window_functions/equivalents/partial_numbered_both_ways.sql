SELECT
    customer_id,
    COUNT(*) AS orders,
    SUM(total) AS revenue,
    MAX(total) FILTER (WHERE place = 1) AS first_total,
    MAX(total) FILTER (WHERE recency = 1) AS last_total,
    MAX(status) FILTER (WHERE recency = 1) AS last_status
FROM (
    SELECT
        customer_id,
        total,
        status,
        ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY created_at, id) AS place,
        ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY created_at DESC, id DESC) AS recency
    FROM orders
) AS n
GROUP BY customer_id
