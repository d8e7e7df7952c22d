from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from sql_optim_env.engines.duckdb import AdmissionPolicy, Database
from sql_optim_env.engines.duckdb.explain import MAX_PLAN_LENGTH, plan_text
from sql_optim_env.errors import AgentError, ErrorCode

SQL = """
WITH g AS MATERIALIZED (SELECT customer_id, count(*) AS n FROM orders WHERE status = 'paid' GROUP BY 1)
SELECT u.id, g.n FROM users u JOIN g ON g.customer_id = u.id JOIN g h ON h.n <= g.n WHERE u.email LIKE '%x.org' ORDER BY 1 -- end
"""


def explained(database: Database, policy: AdmissionPolicy, sql: str, *, analyze: bool) -> str:
    return database.explain(database.admit(sql, policy), analyze=analyze)


def test_a_plan_shows_estimated_rows_and_with_analyze_measured_ones(database: Database, policy: AdmissionPolicy) -> None:
    plan, measured = (explained(database, policy, SQL, analyze=analyze) for analyze in (False, True))
    assert re.search(r"^ +SEQ_SCAN \[rows: estimated \d+\] \(Table: orders;", plan, re.MULTILINE)
    assert "actual" not in plan
    assert re.search(r"^ +SEQ_SCAN \[rows: estimated \d+, actual 6, scanned 12\] \(Table: orders;", measured, re.MULTILINE)
    assert "Filters: (status = 'paid')" in measured


def test_children_stand_below_their_parent(database: Database, policy: AdmissionPolicy) -> None:
    lines = explained(database, policy, "SELECT tier, count(*) AS n FROM users GROUP BY tier ORDER BY 2", analyze=True).splitlines()
    assert [line.split()[0] for line in lines if "ORDER" in line or "SCAN" in line] == ["ORDER_BY", "SEQ_SCAN"]
    assert [len(line) - len(line.lstrip()) for line in lines] == [2 * depth for depth in range(len(lines))]


@pytest.mark.parametrize("analyze", [False, True])
def test_a_plan_is_the_same_every_time_and_holds_no_path_time_or_file_name(
    database: Database, policy: AdmissionPolicy, small_shop: Path, tmp_path: Path, analyze: bool
) -> None:
    plans = {explained(database, policy, SQL, analyze=analyze) for _ in range(3)}
    copy = shutil.copy(small_shop, tmp_path / "another_name.duckdb")
    with Database(Path(copy), temp_dir=tmp_path) as fresh:
        plans.add(explained(fresh, policy, SQL, analyze=analyze))
    assert len(plans) == 1
    plan = plans.pop()
    for hidden in (str(small_shop), small_shop.stem, str(tmp_path), "another_name", "timing", "0.0"):
        assert hidden not in plan


def test_a_statement_answered_from_statistics_still_has_a_plan(database: Database, policy: AdmissionPolicy) -> None:
    assert "SCAN" in explained(database, policy, "SELECT count(*) AS n FROM users", analyze=True)


def test_explain_fails_like_a_run(database: Database, policy: AdmissionPolicy) -> None:
    for analyze in (False, True):
        with pytest.raises(AgentError) as caught:
            explained(database, policy, "SELECT nope FROM users", analyze=analyze)
        assert caught.value.code is ErrorCode.BINDING_ERROR


def test_a_long_plan_is_cut_and_says_so(database: Database, policy: AdmissionPolicy) -> None:
    plan = explained(database, policy, " UNION ALL ".join(["SELECT id FROM users WHERE email LIKE '%x'"] * 300), analyze=False)
    assert len(plan) <= MAX_PLAN_LENGTH
    assert "more branches are left out" in plan.splitlines()[-1]


def test_details_of_one_operator_are_cut_too() -> None:
    text = plan_text([{"name": "FILTER", "extra_info": {"Expression": "x" * 5_000, "Estimated Cardinality": "1234"}, "children": []}])
    assert text.startswith("FILTER [rows: estimated 1,234] (Expression: xxx")
    assert len(text) < 400
