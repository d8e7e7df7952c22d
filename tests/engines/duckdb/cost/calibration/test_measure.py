from __future__ import annotations

from pathlib import Path

from sql_optim_env.engines.duckdb.cost.calibration.measure import Statement, connect, measure, serialized_plan


def statement(sql: str) -> Statement:
    return Statement("shop", "test", "test", sql)


def test_every_statement_is_read_once_a_pass_and_its_planning_is_taken_off(shop_path: Path) -> None:
    statements = [statement("SELECT status, sum(total) FROM orders GROUP BY 1"), statement("SELECT * FROM orders ORDER BY total, id")]
    measured = measure({"shop": shop_path}, statements, passes=3)
    assert [item.statement for item in measured] == statements
    for item in measured:
        assert len(item.cpu) == 3
        assert 0 < item.net <= min(item.cpu)
        assert item.target_ns == item.net * 1e9
        assert item.plan is not None


def test_operator_times_are_in_pre_order_and_not_left_in_the_profile(shop_path: Path) -> None:
    (item,) = measure({"shop": shop_path}, [statement("SELECT id FROM orders ORDER BY total")], passes=1)

    def count(node: dict[str, object]) -> int:
        assert "timing" not in node
        children = node.get("children") or []
        assert isinstance(children, list)
        return 1 + sum(count(child) for child in children)

    assert len(item.operators) == sum(count(root) for root in item.profile["operator"])


def test_a_statement_that_fails_is_left_out_and_reported(shop_path: Path) -> None:
    lines: list[str] = []
    good, bad = statement("SELECT 1 FROM users"), statement("SELECT sum(email::INTEGER) FROM users")
    measured = measure({"shop": shop_path}, [bad, good], passes=2, progress=lines.append)
    assert [item.statement for item in measured] == [good]
    assert lines[0].startswith("left out: ConversionException")
    assert lines[-1] == "pass 2 of 2: 1 statements, 1 left out"


def test_connections_have_the_settings_of_the_fit(shop_path: Path) -> None:
    con = connect(shop_path)
    values = con.execute("SELECT current_setting('threads'), current_setting('disabled_optimizers')").fetchall()
    assert values == [(1, "join_filter_pushdown")]
    assert serialized_plan(con, "SELECT count(*) FROM users WHERE id > 5") is not None
    assert serialized_plan(con, "not a statement") is None
    con.close()
