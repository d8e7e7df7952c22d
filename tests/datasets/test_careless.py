"""Rewrites that look right: each must differ from its query on some hidden instance, while a right one equals it on all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sql_optim_env.datasets import Dataset, Instance


def test_hidden_instances_tell_a_careless_rewrite_from_a_right_one(
    careless: dict[str, str],
    shop: Dataset,
    adversarial_instances: tuple[Instance, ...],
    filled: Callable[..., Any],
    capture: Callable[..., Any],
) -> None:
    differing = []
    for instance in (*adversarial_instances, *shop.edge_instances([careless["sql"]])):
        con = filled(instance)
        expected = capture(con, careless["sql"])
        assert capture(con, careless["right"]) == expected, instance.name
        if capture(con, careless["careless"]) != expected:
            differing.append(instance.name)
    assert differing
    # Types or names must not be what gives it away: the data has to.
    con = filled(adversarial_instances[0])
    assert capture(con, careless["careless"])[:2] == capture(con, careless["sql"])[:2]
