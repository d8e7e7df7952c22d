from __future__ import annotations

from pathlib import Path

import numpy as np

from sql_optim_env.engines.duckdb.cost import Card, CostModel
from sql_optim_env.engines.duckdb.cost.calibration.dataset import CONSTANT_FEATURE, build_dataset
from sql_optim_env.engines.duckdb.cost.calibration.measure import Statement, measure


def test_a_query_becomes_a_row_whose_weighted_sum_is_its_cost(shop_path: Path, card: Card, model: CostModel) -> None:
    statements = [
        Statement("shop", "f", "t1", "SELECT status, sum(total) FROM orders WHERE total > 5 GROUP BY 1"),
        Statement("shop", "f", "t2", "SELECT * FROM orders ORDER BY total, id"),
    ]
    measured = measure({"shop": shop_path}, statements, passes=1)
    data = build_dataset(measured, {"shop": card}, model.weights.prices)
    assert data.names[-1] == CONSTANT_FEATURE
    weights = np.array([model.weight(name) for name in data.names[:-1]] + [model.weights.constant_ns])
    costs = [model.cost(item.profile, item.plan, card) for item in measured]
    assert [round(value) for value in data.queries @ weights] == costs
    assert data.templates == ["t1", "t2"]


def test_operators_know_their_query_and_badly_timed_ones_are_left_out(shop_path: Path, card: Card, model: CostModel) -> None:
    statements = [Statement("shop", "f", "t", "SELECT customer_id, list(id), median(total) FROM orders GROUP BY 1 ORDER BY 1")]
    data = build_dataset(measure({"shop": shop_path}, statements, passes=1), {"shop": card}, model.weights.prices)
    assert len(data.operators) == len(data.operator_targets) == len(data.owner) > 0
    assert set(data.owner.tolist()) == {0}
    sort = data.names.index("sort.rows")
    assert (data.operators[:, sort] == 0).all()
    assert data.queries[0, sort] > 0
