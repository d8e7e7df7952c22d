SELECT customer_id, orders, revenue, first_total, last_total, last_status
FROM (
    SELECT
        o.*,
        COUNT(*) OVER (PARTITION BY customer_id) AS orders,
        SUM(total) OVER (PARTITION BY customer_id) AS revenue,
        FIRST_VALUE(total) OVER (PARTITION BY customer_id ORDER BY created_at, id) AS first_total,
        LAST_VALUE(total) OVER (PARTITION BY customer_id ORDER BY created_at, id
                                ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS last_total,
        LAST_VALUE(status) OVER (PARTITION BY customer_id ORDER BY created_at, id
                                 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS last_status,
        ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY created_at DESC, id DESC) AS recency
    FROM orders AS o
) AS w
WHERE recency = 1
