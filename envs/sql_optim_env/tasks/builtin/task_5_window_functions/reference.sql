SELECT
    o.customer_id,
    ANY_VALUE(h.orders) AS orders,
    ANY_VALUE(h.revenue) AS revenue,
    ARG_MIN(o.total, o.id) FILTER (WHERE o.created_at = h.first_at) AS first_total,
    ARG_MAX(o.total, o.id) FILTER (WHERE o.created_at = h.last_at) AS last_total,
    ARG_MAX(o.status, o.id) FILTER (WHERE o.created_at = h.last_at) AS last_status
FROM orders AS o
JOIN (
    SELECT customer_id, COUNT(*) AS orders, SUM(total) AS revenue, MIN(created_at) AS first_at, MAX(created_at) AS last_at
    FROM orders
    GROUP BY customer_id
) AS h ON h.customer_id = o.customer_id AND (o.created_at = h.first_at OR o.created_at = h.last_at)
GROUP BY o.customer_id
