SELECT
    customer_id,
    COUNT(*) OVER history AS orders,
    SUM(total) OVER history AS revenue,
    FIRST_VALUE(total) OVER history AS first_total,
    total AS last_total,
    status AS last_status
FROM orders
WINDOW history AS (PARTITION BY customer_id ORDER BY created_at, id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
QUALIFY ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY created_at, id) = COUNT(*) OVER history
