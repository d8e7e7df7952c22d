from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sql_optim_env.engines.base import Column
from sql_optim_env.engines.duckdb import AdmissionPolicy, Capture, Database, Statement, compare
from sql_optim_env.engines.duckdb.cost import Card, build_card
from sql_optim_env.errors import AgentError, ErrorCode, InfraError

LIMITS = {"max_rows": 200_000, "max_bytes": 1 << 26}
NUMBERS = AdmissionPolicy(frozenset({"numbers", "dims"}))


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("numbers") / "secret_name.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE numbers AS SELECT i AS n, i % 100 AS k, md5(i::VARCHAR) AS s, i / 3 AS d FROM range(150000) r(i)")
        con.execute("CREATE TABLE dims (k BIGINT PRIMARY KEY, name VARCHAR); INSERT INTO dims SELECT i, 'd' || i FROM range(100) r(i)")
    return path


@pytest.fixture(scope="module")
def card(numbers: Path) -> Card:
    with duckdb.connect(str(numbers), read_only=True) as con:
        return build_card(con)


@pytest.fixture
def temp_dir(tmp_path: Path) -> Path:
    return tmp_path / "spill"


@pytest.fixture
def db(numbers: Path, temp_dir: Path) -> Iterator[Database]:
    with Database(numbers, temp_dir=temp_dir) as opened:
        yield opened


@dataclass
class FixedPrice:
    """A cost model that says what it is told, and remembers what it was asked."""

    price: int
    version: str = "fixed"
    calls: list[tuple[Mapping[str, Any], Mapping[str, Any] | None]] = field(default_factory=list)

    def cost(self, profile: Mapping[str, Any], plan: Mapping[str, Any] | None, card: Card) -> int:
        self.calls.append((profile, plan))
        return self.price


def run(db: Database, sql: str, **options: Any) -> Any:
    return db.run(db.admit(sql, NUMBERS), **{**LIMITS, **options})


def failure(db: Database, sql: str, **options: Any) -> AgentError:
    with pytest.raises(AgentError) as caught:
        run(db, sql, **options)
    return caught.value


def test_a_run_keeps_rows_names_types_and_measurements(db: Database) -> None:
    result = run(db, "SELECT n, k, k AS k, sum(n) OVER () AS total FROM numbers WHERE n < 3 ORDER BY n -- the end")
    assert result.execution.columns == (Column("n", "BIGINT"), Column("k", "BIGINT"), Column("k", "BIGINT"), Column("total", "HUGEINT"))
    assert result.capture.columns == result.execution.columns
    assert result.capture.table["c0"].to_pylist() == [0, 1, 2]
    assert result.execution.row_count == 3
    assert result.execution.cpu_ms > 0
    assert result.execution.wall_ms > 0


def test_an_empty_result_has_its_columns(db: Database) -> None:
    result = run(db, "SELECT n, [s] AS s FROM numbers WHERE n < 0")
    assert (result.execution.row_count, result.capture.table.num_columns) == (0, 2)
    assert result.execution.columns[1] == Column("s", "VARCHAR[]")


def test_cost_is_the_same_in_every_run_and_every_connection(numbers: Path, temp_dir: Path, card: Card) -> None:
    sql = (
        "SELECT d.name, count(*) AS n, sum(x.d) AS s FROM numbers x JOIN dims d USING (k) WHERE x.s LIKE '%a' GROUP BY 1 ORDER BY 3 LIMIT 7"
    )
    costs = set()
    for _ in range(3):
        with Database(numbers, temp_dir=temp_dir, card=card) as db:
            executions = [run(db, sql).execution for _ in range(3)]
            costs |= {execution.cost for execution in executions}
            assert {execution.cost_version for execution in executions} == {db.cost_version}
    assert len(costs) == 1
    assert costs.pop() > 100_000


def test_the_model_is_given_the_profile_and_the_plan_of_this_very_statement(numbers: Path, temp_dir: Path, card: Card) -> None:
    model = FixedPrice(10**12)
    with Database(numbers, temp_dir=temp_dir, card=card, cost_model=model) as db:
        result = run(db, "SELECT k, count(*) AS c FROM numbers GROUP BY k")
    profile, plan = model.calls[0]
    assert result.execution.cost == 10**12
    assert result.execution.cost_version == "fixed"
    assert profile["query"]["total_rows_scanned"] == 150_000
    assert profile is result.profile
    assert plan is not None
    assert plan["error"] is False


def test_without_a_card_or_when_unpriced_nothing_is_priced(numbers: Path, temp_dir: Path, card: Card) -> None:
    model = FixedPrice(0)
    with Database(numbers, temp_dir=temp_dir, card=card, cost_model=model) as db:
        execution = run(db, "SELECT count(DISTINCT s) AS c FROM numbers", priced=False).execution
    with Database(numbers, temp_dir=temp_dir, cost_model=model) as db:
        assert run(db, "SELECT count(DISTINCT s) AS c FROM numbers").execution.cost == 0
    assert (execution.cost, execution.hidden_work, model.calls) == (0, False, [])


def test_work_far_above_its_cost_is_called_hidden(numbers: Path, temp_dir: Path, card: Card) -> None:
    heavy = "SELECT sum(levenshtein(s, md5(s))) AS x FROM numbers"
    with Database(numbers, temp_dir=temp_dir, card=card, cost_model=FixedPrice(1_000)) as db:
        assert run(db, heavy).execution.hidden_work is True
        assert run(db, "SELECT 1 AS x").execution.hidden_work is False
    with Database(numbers, temp_dir=temp_dir, card=card, cost_model=FixedPrice(10**10)) as db:
        assert run(db, heavy).execution.hidden_work is False


def test_one_high_reading_is_repeated_and_the_minimum_counts(
    numbers: Path, temp_dir: Path, card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Database(numbers, temp_dir=temp_dir, card=card, cost_model=FixedPrice(0)) as db:
        read = db._read
        readings = iter([50.0, 4.0, 60.0])
        taken: list[float] = []

        def slow(*arguments: Any) -> Any:
            reading = read(*arguments)
            taken.append(next(readings))
            return type(reading)(reading.table, taken[-1], reading.wall_ms)

        monkeypatch.setattr(db, "_read", slow)
        execution = run(db, "SELECT 1 AS x").execution
    # The second reading is under the line, so no third one is needed.
    assert (execution.cpu_ms, execution.hidden_work, taken) == (4.0, False, [50.0, 4.0])


@pytest.mark.parametrize(
    ("sql", "code", "says"),
    [
        ("SELECT nope FROM numbers", ErrorCode.BINDING_ERROR, 'Referenced column "nope" not found'),
        ("SELECT n + s FROM numbers", ErrorCode.BINDING_ERROR, "+"),
        ("SELECT sum(n) FROM numbers GROUP BY sum(n)", ErrorCode.BINDING_ERROR, "GROUP BY"),
        ("SELECT CAST('x' AS INTEGER)", ErrorCode.EXECUTION_ERROR, "Could not convert string 'x'"),
        ("SELECT n + 9223372036854775800 FROM numbers", ErrorCode.EXECUTION_ERROR, "Overflow"),
        # fails in the second batch of the stream, after rows have been handed out
        ("SELECT CASE WHEN n > 140000 THEN CAST(s AS INTEGER) END FROM numbers", ErrorCode.EXECUTION_ERROR, "Could not convert string"),
        ("SELECT (SELECT n FROM numbers)", ErrorCode.EXECUTION_ERROR, "More than one row"),
        ("SELECT list(a.s || b.k) FROM numbers a, dims b", ErrorCode.OUT_OF_MEMORY, "more memory"),
        ("SELECT a.n FROM numbers a, numbers b, numbers c", ErrorCode.RESULT_TOO_LARGE, "200,000 rows"),
        ("SELECT repeat(s, 100) FROM numbers", ErrorCode.RESULT_TOO_LARGE, "bytes"),
        (f"SELECT {'*, ' * 400} 1 FROM numbers WHERE false", ErrorCode.RESULT_TOO_LARGE, "columns"),
        ("SELECT to_hours(2562047788) AS i", ErrorCode.EXECUTION_ERROR, "292 years"),
        ("SELECT [to_hours(2562047788)] AS i FROM numbers LIMIT 3", ErrorCode.EXECUTION_ERROR, "292 years"),
    ],
)
def test_a_failure_has_its_code_and_the_next_statement_works(
    db: Database, numbers: Path, temp_dir: Path, sql: str, code: ErrorCode, says: str
) -> None:
    error = failure(db, sql)
    assert error.code is code
    assert says in error.message
    for hidden in (str(numbers), numbers.stem, str(temp_dir), "Possible solutions", "SET "):
        assert hidden not in error.message
    assert run(db, "SELECT count(*) AS c FROM numbers").capture.table["c0"].to_pylist() == [150_000]


def test_intervals_that_arrow_can_hold_are_captured(db: Database) -> None:
    result = run(db, "SELECT to_days(n::INTEGER) AS i, [to_months(k::INTEGER)] AS l FROM numbers WHERE n < 40 ORDER BY n DESC")
    assert result.execution.row_count == 40
    assert compare(
        result.capture, run(db, "SELECT to_days(n::INTEGER) AS i, [to_months(k::INTEGER)] AS l FROM numbers LIMIT 40").capture
    ).equal


def test_a_spilling_statement_leaves_nothing_behind_that_counts(numbers: Path, temp_dir: Path) -> None:
    sort = "SELECT s, row_number() OVER (ORDER BY s, n) AS r FROM numbers QUALIFY r <= 3"
    with Database(numbers, memory_mb=24, spill_mb=200, temp_dir=temp_dir) as db:
        assert [run(db, sort).execution.row_count for _ in range(3)] == [3, 3, 3]
    with Database(numbers, memory_mb=24, spill_mb=0, temp_dir=temp_dir) as db:
        assert failure(db, sort).code is ErrorCode.OUT_OF_MEMORY
        assert run(db, "SELECT 1 AS x").execution.row_count == 1


def test_thousands_of_statements_and_errors_do_not_wear_a_connection_out(db: Database) -> None:
    good, bad = db.admit("SELECT name FROM dims WHERE k = 7", NUMBERS), Statement("SELECT nope FROM dims")
    for _ in range(1_000):
        assert db.run(good, **LIMITS).execution.row_count == 1
        with pytest.raises(AgentError):
            db.run(bad, **LIMITS)


def test_an_internal_error_reopens_the_instance(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    before = db._con

    def broken(*_: Any) -> Any:
        raise duckdb.FatalException("FATAL Error: database has been invalidated")

    with monkeypatch.context() as patch:
        patch.setattr(db, "_read", broken)
        assert failure(db, "SELECT 1 AS x").code is ErrorCode.ENGINE_CRASH
    assert db._con is not before
    assert run(db, "SELECT 1 AS x").execution.row_count == 1


def test_an_input_output_error_is_ours_and_not_the_agents(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise duckdb.IOException("IO Error: cannot read")

    monkeypatch.setattr(db, "_read", broken)
    with pytest.raises(InfraError, match="infra_error: the engine cannot read"):
        run(db, "SELECT 1 AS x")


def test_a_missing_instance_is_ours_too(tmp_path: Path) -> None:
    with pytest.raises(InfraError) as caught:
        Database(tmp_path / "gone.duckdb", temp_dir=tmp_path)
    assert str(tmp_path) not in str(caught.value)


def test_a_statement_admitted_once_runs_on_every_instance(
    small_shop: Path, database: Database, policy: AdmissionPolicy, tmp_path: Path
) -> None:
    statement = database.admit("SELECT count(*) AS n FROM users", policy)
    copy = shutil.copy(small_shop, tmp_path / "copy.duckdb")
    with Database(Path(copy), temp_dir=tmp_path) as other:
        assert other.run(statement, **LIMITS).capture.table["c0"].to_pylist() == [6]


def test_duplicate_names_compare_position_by_position(capture_of: Callable[[str], Capture]) -> None:
    assert compare(
        capture_of("SELECT id AS a, tier AS a FROM users"), capture_of("SELECT id AS A, tier AS a FROM users ORDER BY id DESC")
    ).equal
    verdict = compare(capture_of("SELECT id AS a, 1 AS a FROM users"), capture_of("SELECT id AS a, 2 AS a FROM users"))
    assert (verdict.missing_count, verdict.extra_count) == (6, 6)


# -- what stays locked should a statement ever get past admission -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO dims VALUES (1000, 'x')",
        "SET threads = 2",
        "SET memory_limit = '10GB'",
        "PRAGMA disable_profiling",
        "RESET disabled_optimizers",
        "SET enable_external_access = true",
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM 'x.csv'",
        "COPY dims TO 'x.csv'",
        "ATTACH 'other.duckdb'",
        "INSTALL httpfs",
        "LOAD httpfs",
    ],
)
def test_the_engine_itself_refuses(db: Database, sql: str) -> None:
    with pytest.raises(duckdb.Error):
        db._con.execute(sql).fetchall()


def test_the_session_is_the_one_that_costs_are_defined_for(db: Database) -> None:
    settings = dict(db._con.execute("SELECT name, value FROM duckdb_settings()").fetchall())
    assert settings["threads"] == "1"
    assert settings["async_threads"] == "0"
    assert settings["disabled_optimizers"] == "join_filter_pushdown"
    assert settings["TimeZone"] == "UTC"
    assert settings["lock_configuration"] == "true"
    assert settings["enable_external_access"] == "false"
    assert settings["arrow_lossless_conversion"] == "true"
