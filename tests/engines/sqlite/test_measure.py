from __future__ import annotations

import hashlib
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from sql_optim_env.engines.base import Column
from sql_optim_env.engines.sqlite import Caps, Run, apply_ddl, engine_version, measure
from sql_optim_env.engines.sqlite.vfs import MAX_TEMPORARY_BYTES, locked_vfs
from sql_optim_env.errors import AgentError, ErrorCode, InfraError

SCAN = "SELECT id FROM parcel WHERE hub = 11 AND +grams > 0 ORDER BY id"
ENDLESS = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


def table_pages(database: bytes, name: str) -> int:
    con = apsw.Connection(":memory:")
    con.deserialize("main", database)
    count = con.execute("SELECT count(*) FROM dbstat WHERE name = ?", (name,)).get
    con.close()
    return int(count)


def refusal(database: bytes, sql: str, caps: Caps) -> AgentError:
    with pytest.raises(AgentError) as caught:
        measure(database, sql, tables=("parcel", "hub", "route"), caps=caps)
    return caught.value


def test_a_scan_asks_for_every_page_of_the_table_once(depot: bytes, run: Callable[[bytes, str], Run]) -> None:
    measured = run(depot, SCAN)
    # Every page of the tree, and page 1 for the transaction.
    assert measured.pages == table_pages(depot, "parcel") + 1
    assert measured.plan == "SCAN parcel"


def test_the_count_is_the_plain_engines_own(depot: bytes, run: Callable[[bytes, str], Run]) -> None:
    for sql in (SCAN, "SELECT count(*) FROM parcel", "SELECT p.id FROM hub h JOIN parcel p ON p.grams = h.id", "SELECT 1"):
        con = apsw.Connection(":memory:")
        con.deserialize("main", depot)
        con.execute(sql, explain=1).fetchall()
        counters = (apsw.SQLITE_DBSTATUS_CACHE_HIT, apsw.SQLITE_DBSTATUS_CACHE_MISS)
        for counter in counters:
            con.status(counter, True)
        rows = con.execute(sql).fetchall()
        measured = run(depot, sql)
        assert measured.pages == sum(con.status(counter)[0] for counter in counters)
        assert list(measured.capture.rows) == rows
        con.close()


def test_overflow_pages_are_counted(run: Callable[[bytes, str], Run]) -> None:
    con = apsw.Connection(":memory:")
    con.execute("CREATE TABLE parcel (id INTEGER PRIMARY KEY, story TEXT); CREATE INDEX i ON parcel(story)")
    con.executemany("INSERT INTO parcel VALUES (?, ?)", ((n, f"{n}" + "x" * 40_000) for n in range(20)))
    database = con.serialize("main")
    assert run(database, "SELECT sum(length(upper(story))) FROM parcel INDEXED BY i WHERE story > ''").pages > 20 * 9


def test_an_index_is_worth_its_pages_and_the_result_stays(depot: bytes, tables: tuple[str, ...], run: Callable[[bytes, str], Run]) -> None:
    indexed = apply_ddl(depot, ["CREATE INDEX i ON parcel(hub)", "ANALYZE"], tables=tables, max_indexes=1)
    sql = "SELECT id FROM parcel WHERE hub = 11 ORDER BY id"
    before, after = run(depot, sql), run(indexed, sql)
    assert before.pages > 260 and after.pages < 10
    assert before.capture == after.capture
    assert after.plan == "SEARCH parcel USING COVERING INDEX i (hub=?)"


FRESH = """
    import sys
    from sql_optim_env.engines.sqlite import apply_ddl, measure
    database = open(sys.argv[1], "rb").read()
    tuned = apply_ddl(database, ["CREATE INDEX i ON parcel(hub)", "ANALYZE"], tables=("parcel",), max_indexes=1)
    for content in (database, tuned):
        done = measure(content, "SELECT fault, count(*) AS n, max(story) FROM parcel WHERE hub IN (3, 11) GROUP BY 1", tables=("parcel",))
        print(done.pages, done.vm_steps, done.spill_bytes, done.capture.rows)
"""


def test_fresh_processes_count_the_same(depot: bytes, tmp_path: Path) -> None:
    path = tmp_path / "depot.sqlite"
    path.write_bytes(depot)
    outputs = {
        subprocess.run([sys.executable, "-c", textwrap.dedent(FRESH), str(path)], capture_output=True, check=True, timeout=60).stdout
        for _ in range(3)
    }
    assert len(outputs) == 1
    assert hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256(depot).digest()


def test_repeating_a_measurement_gives_the_same_figures(depot: bytes, run: Callable[[bytes, str], Run]) -> None:
    first, second = (run(depot, "SELECT story, grams FROM parcel ORDER BY story DESC") for _ in range(2))
    assert (first.pages, first.vm_steps, first.spill_bytes, first.plan) == (second.pages, second.vm_steps, second.spill_bytes, second.plan)


def test_a_run_is_also_an_execution_in_pages(small: bytes, run: Callable[[bytes, str], Run]) -> None:
    execution = run(small, "SELECT id, 1.5 AS r, fault FROM parcel UNION ALL SELECT 'x', 1, NULL").execution()
    assert execution.columns == (Column("id", "INTEGER/TEXT"), Column("r", "INTEGER/REAL"), Column("fault", "TEXT"))
    assert (execution.row_count, execution.cost_version, execution.hidden_work) == (31, engine_version(), False)
    assert execution.cost > 0 and execution.wall_ms > 0


def test_names_of_an_empty_result_are_known(small: bytes, run: Callable[[bytes, str], Run]) -> None:
    capture = run(small, "SELECT id AS Number, fault FROM parcel WHERE 0").capture
    assert (capture.names, capture.rows) == (("Number", "fault"), ())


def test_steps_are_capped_while_running_and_exactly_at_the_end(small: bytes, run: Callable[[bytes, str], Run]) -> None:
    endless = refusal(small, ENDLESS, Caps(max_vm_steps=1_000_000))
    assert endless.code is ErrorCode.TIMEOUT
    assert "1,000,000 steps" in endless.message
    steps = run(small, SCAN).vm_steps
    assert steps > 100
    measure(small, SCAN, tables=("parcel",), caps=Caps(max_vm_steps=steps))
    error = refusal(small, SCAN, Caps(max_vm_steps=steps - 1))
    assert error.code is ErrorCode.TIMEOUT
    assert f"{steps - 1:,} steps" in error.message


def test_spilled_bytes_are_counted_and_capped(depot: bytes, run: Callable[[bytes, str], Run]) -> None:
    sql = "SELECT a.id, b.story || a.story AS s FROM parcel a CROSS JOIN hub h JOIN parcel b ON b.id = a.id WHERE h.id < 2 ORDER BY s"
    spilled = run(depot, sql).spill_bytes
    assert spilled > 4_000_000
    assert run(depot, SCAN).spill_bytes == 0
    measure(depot, sql, tables=("parcel", "hub"), caps=Caps(max_spill_bytes=spilled))
    assert refusal(depot, sql, Caps(max_spill_bytes=spilled - 1)).code is ErrorCode.OUT_OF_MEMORY
    assert refusal(depot, sql, Caps(max_spill_bytes=1_000)).code is ErrorCode.OUT_OF_MEMORY


def test_temporary_space_is_bounded_and_given_back(depot: bytes) -> None:
    sql = (
        "WITH x AS MATERIALIZED (SELECT a.id, a.story || b.story AS s FROM parcel a, hub c, parcel b WHERE b.id <= 80) "
        "SELECT count(DISTINCT s || id) FROM x"
    )
    error = refusal(depot, sql, Caps())
    assert error.code is ErrorCode.OUT_OF_MEMORY
    assert f"{MAX_TEMPORARY_BYTES >> 20} MiB" in error.message
    assert locked_vfs().temporary_bytes == 0


def test_the_deadline_stops_what_no_cap_stops(small: bytes) -> None:
    error = refusal(small, ENDLESS, Caps(max_vm_steps=1 << 60, deadline_s=0.05))
    assert error.code is ErrorCode.TIMEOUT
    assert "0.05 s" in error.message


def test_a_deadline_that_one_slow_call_outran_still_counts(small: bytes) -> None:
    slow = "SELECT instr(hex(zeroblob(60000)), hex(zeroblob(20000)) || '1')"
    error = refusal(small, slow, Caps(deadline_s=0.01))
    assert error.code is ErrorCode.TIMEOUT


@pytest.mark.parametrize("caps", [Caps(max_rows=29), Caps(max_bytes=30 * 8 - 1)])
def test_results_are_capped(small: bytes, caps: Caps) -> None:
    measure(small, "SELECT id FROM parcel", tables=("parcel",), caps=Caps(max_rows=30, max_bytes=30 * 8))
    assert refusal(small, "SELECT id FROM parcel", caps).code is ErrorCode.RESULT_TOO_LARGE


def test_memory_is_bounded(small: bytes) -> None:
    sql = (
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 2000) SELECT json_group_array(hex(zeroblob(400000))) FROM n"
    )
    assert refusal(small, sql, Caps()).code in (ErrorCode.OUT_OF_MEMORY, ErrorCode.EXECUTION_ERROR)


def test_bytes_that_are_no_database_are_our_trouble() -> None:
    for content in (b"", b"SQLite format 3\0" + b"\xff" * 5_000, b"x" * 4_096):
        with pytest.raises(InfraError, match="infra_error"):
            measure(content, "SELECT 1", tables=())


def test_a_wal_database_is_our_trouble(small: bytes) -> None:
    wal = bytearray(small)
    wal[18:20] = b"\x02\x02"
    with pytest.raises(InfraError, match="CantOpenError"):
        measure(bytes(wal), "SELECT 1", tables=())


def test_the_database_is_never_changed(small: bytes, run: Callable[[bytes, str], Run]) -> None:
    copy = bytes(bytearray(small))
    run(small, "SELECT * FROM parcel ORDER BY story")
    assert small == copy
