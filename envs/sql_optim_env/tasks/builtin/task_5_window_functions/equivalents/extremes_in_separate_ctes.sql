WITH history AS MATERIALIZED (
    SELECT customer_id, COUNT(*) AS orders, SUM(total) AS revenue, MIN(created_at) AS first_at, MAX(created_at) AS last_at
    FROM orders
    GROUP BY customer_id
),
first_order AS (
    SELECT o.customer_id, ARG_MIN(o.total, o.id) AS first_total
    FROM orders AS o JOIN history AS h ON h.customer_id = o.customer_id AND h.first_at = o.created_at
    GROUP BY o.customer_id
),
last_order AS (
    SELECT o.customer_id, ARG_MAX(o.total, o.id) AS last_total, ARG_MAX(o.status, o.id) AS last_status
    FROM orders AS o JOIN history AS h ON h.customer_id = o.customer_id AND h.last_at = o.created_at
    GROUP BY o.customer_id
)
SELECT customer_id, orders, revenue, first_total, last_total, last_status
FROM history
JOIN first_order USING (customer_id)
JOIN last_order USING (customer_id)
