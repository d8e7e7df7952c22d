SELECT
    customer_id,
    orders,
    revenue,
    first_order.total AS first_total,
    last_order.total AS last_total,
    last_order.status AS last_status
FROM (
    SELECT
        customer_id,
        COUNT(*) AS orders,
        SUM(total) AS revenue,
        MIN({'at': created_at, 'id': id, 'total': total}) AS first_order,
        MAX({'at': created_at, 'id': id, 'total': total, 'status': status}) AS last_order
    FROM orders
    GROUP BY customer_id
) AS h
