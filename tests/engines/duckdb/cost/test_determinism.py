"""The same statement on the same data has the same features, whichever connection runs it and however warm it is."""

from __future__ import annotations

import random
from typing import Any

from sql_optim_env.engines.duckdb.cost import Card, CostModel
from sql_optim_env.engines.duckdb.cost.features import total_features

CONNECTIONS = 10

SHAPES = (
    "SELECT * FROM orders",
    "SELECT id, total FROM orders WHERE total > 100 AND status = 'paid'",
    "SELECT count(*) FROM orders WHERE strftime(created_at, '%Y-%m') = '2023-03'",
    "SELECT count(*) FROM orders WHERE status LIKE '%ed' OR customer_id IN (1, 2, 3)",
    "SELECT md5(email) AS m, upper(tier) FROM users",
    "SELECT status, count(*), sum(total), avg(total) FROM orders GROUP BY 1",
    "SELECT customer_id, median(total), list(id) FROM orders GROUP BY 1",
    "SELECT customer_id, product_id, count(*) FROM orders GROUP BY ALL HAVING count(*) > 1",
    "SELECT count(DISTINCT customer_id) FROM orders",
    "SELECT status, count(DISTINCT customer_id), count(DISTINCT product_id) FROM orders GROUP BY 1",
    "SELECT DISTINCT customer_id, status FROM orders",
    "SELECT DISTINCT ON (customer_id) customer_id, total FROM orders ORDER BY customer_id, total DESC, id",
    "SELECT status, product_id, sum(total) FROM orders GROUP BY ROLLUP (1, 2)",
    "SELECT count(*) FILTER (total > 50), sum(total) FILTER (status = 'paid') FROM orders",
    "SELECT * FROM orders ORDER BY total DESC, id",
    "SELECT * FROM orders ORDER BY total DESC, id LIMIT 10",
    "SELECT * FROM orders ORDER BY created_at LIMIT 50 OFFSET 200",
    "SELECT id FROM users ORDER BY email",
    "SELECT * FROM orders LIMIT 100",
    "SELECT count(*) FROM orders o JOIN users u ON u.id = o.customer_id WHERE u.tier = 'gold'",
    "SELECT u.tier, sum(o.total) FROM users u LEFT JOIN orders o ON o.customer_id = u.id AND o.total > 150 GROUP BY 1",
    "SELECT o.id, p.name, u.email FROM orders o JOIN products p ON p.id = o.product_id JOIN users u ON u.id = o.customer_id "
    "WHERE p.price > 80",
    "SELECT count(*) FROM orders a JOIN orders b ON a.customer_id = b.customer_id AND a.created_at < b.created_at",
    "SELECT id FROM users u WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = u.id AND o.total > 190)",
    "SELECT id FROM users WHERE id NOT IN (SELECT customer_id FROM orders WHERE status = 'returned')",
    "SELECT u.id, (SELECT max(total) FROM orders o WHERE o.customer_id = u.id) AS m FROM users u",
    "SELECT o.id, (SELECT count(*) FROM orders p WHERE p.customer_id = o.customer_id AND p.created_at < o.created_at) AS n "
    "FROM orders o WHERE o.id < 500",
    "SELECT count(*) FROM products a, products b WHERE a.price + b.price > 100",
    "SELECT count(*) FROM orders o ASOF JOIN users u ON o.created_at >= u.created_at",
    "SELECT a.id FROM orders a JOIN orders b ON a.customer_id = b.customer_id OR a.product_id = b.product_id "
    "WHERE a.id < 300 AND b.id < 300",
    "SELECT id, row_number() OVER (PARTITION BY customer_id ORDER BY created_at, id) AS rn FROM orders",
    "SELECT id FROM orders QUALIFY rank() OVER (PARTITION BY customer_id ORDER BY total DESC) = 1",
    "SELECT id, sum(total) OVER (ORDER BY created_at RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) AS s FROM orders",
    "SELECT id, row_number() OVER () AS r FROM orders",
    "WITH c AS MATERIALIZED (SELECT * FROM orders WHERE total > 50) SELECT (SELECT count(*) FROM c), (SELECT max(total) FROM c)",
    "WITH c AS (SELECT customer_id, sum(total) AS t FROM orders GROUP BY 1) SELECT * FROM c WHERE t > (SELECT avg(t) FROM c)",
    "SELECT id FROM orders WHERE total > 150 UNION SELECT id FROM orders WHERE status = 'paid'",
    "SELECT customer_id FROM orders EXCEPT SELECT id FROM users WHERE tier = 'free'",
    "SELECT id FROM users INTERSECT SELECT product_id FROM orders",
    "SELECT part, count(*) FROM (SELECT unnest(string_split(email, '@')) AS part FROM users) GROUP BY 1",
    "SELECT count(*) FROM users u, unnest([u.id, 1, 2]) x(y)",
    "SELECT customer_id, list_sort(list(total))[1] AS s FROM orders GROUP BY 1",
    "SELECT status, string_agg(id::VARCHAR, ',' ORDER BY id) AS s FROM orders GROUP BY 1",
)


def test_features_are_identical_over_fresh_connections_and_warm_repeats(open_shop: Any, observe: Any, model: CostModel, card: Card) -> None:
    first: dict[str, dict[str, float]] = {}
    changed: list[str] = []
    for number in range(CONNECTIONS):
        con = open_shop()
        shapes = list(SHAPES)
        random.Random(number).shuffle(shapes)
        for sql in shapes:
            for _ in range(2 if number == 0 else 1):
                profile, plan = observe(con, sql)
                features = total_features(model.features(profile, plan, card))
                if first.setdefault(sql, features) != features:
                    changed.append(sql)
        con.close()
    assert changed == []
    assert len(first) >= 40
