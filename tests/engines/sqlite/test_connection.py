from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from sql_optim_env.engines.sqlite.connection import HEAP_LIMIT, MAX_VALUE_BYTES, Purpose, open_database
from sql_optim_env.engines.sqlite.vfs import locked_vfs
from sql_optim_env.errors import AgentError


@pytest.mark.parametrize("purpose", ["measure", "ddl", "scratch"])
def test_a_connection_is_hardened_and_can_open_no_file(small: bytes, purpose: Purpose, tmp_path: Path) -> None:
    with open_database(small, purpose) as con:
        assert con.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, -1) == 1
        for option in ("TRUSTED_SCHEMA", "DQS_DDL", "DQS_DML", "ENABLE_LOAD_EXTENSION", "WRITABLE_SCHEMA"):
            assert con.config(getattr(apsw, f"SQLITE_DBCONFIG_{option}"), -1) == 0
        assert con.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, -1) == int(purpose == "scratch")
        assert con.limit(apsw.SQLITE_LIMIT_LENGTH) == MAX_VALUE_BYTES
        assert apsw.hard_heap_limit(-1) == HEAP_LIMIT
        for sql in (f"ATTACH '{tmp_path}/a.db' AS a", f"VACUUM INTO '{tmp_path}/a.db'"):
            with pytest.raises((AgentError, apsw.Error)):
                con.execute(sql).fetchall()
        with pytest.raises((AgentError, apsw.Error)):
            con.load_extension(str(tmp_path / "x.so"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("purpose", ["measure", "scratch"])
def test_where_and_when_sorters_spill_is_settled(small: bytes, purpose: Purpose) -> None:
    with open_database(small, purpose) as con:
        assert (con.pragma("temp_store"), con.pragma("cache_size")) == (1, -2000)


def test_a_measuring_connection_cannot_write(small: bytes) -> None:
    with open_database(small, "measure") as con, pytest.raises(apsw.ReadOnlyError):
        con.execute("DELETE FROM parcel")


def test_memory_mapping_has_no_effect(depot: bytes) -> None:
    counters = (apsw.SQLITE_DBSTATUS_CACHE_HIT, apsw.SQLITE_DBSTATUS_CACHE_MISS)
    pages = []
    for size in (0, 1 << 30):
        with open_database(depot, "scratch") as con:
            con.execute(f"PRAGMA mmap_size = {size}").fetchall()
            for counter in counters:
                con.status(counter, True)
            con.execute("SELECT count(*) FROM parcel WHERE story > ''").fetchall()
            pages.append(sum(con.status(counter)[0] for counter in counters))
    assert pages[0] == pages[1] > 200


def test_the_clock_stands_still_and_counts_its_readings(small: bytes) -> None:
    before = locked_vfs().clock_readings
    with open_database(small, "scratch") as con:
        assert con.execute("SELECT datetime('now'), julianday(), current_date").fetchall() == [
            ("2000-01-01 00:00:00", 2451544.5, "2000-01-01")
        ]
        assert locked_vfs().clock_readings > before
        read = locked_vfs().clock_readings
        con.execute("SELECT datetime('2020-01-01'), strftime('%Y', sent) FROM parcel").fetchall()
    assert locked_vfs().clock_readings == read
