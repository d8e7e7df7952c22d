SELECT
    customer_id,
    COUNT(*) AS orders,
    SUM(total) AS revenue,
    ARG_MIN(total, {'at': created_at, 'id': id}) AS first_total,
    ARG_MAX(total, {'at': created_at, 'id': id}) AS last_total,
    ARG_MAX(status, {'at': created_at, 'id': id}) AS last_status
FROM orders
GROUP BY customer_id
