from __future__ import annotations

from random import Random

from sql_optim_env.tasks.audit.draws import PlainColumn
from sql_optim_env.tasks.audit.tables import Mended, Table, content_of

BOATS = Table("boats", (("boat", "INTEGER PRIMARY KEY"), ("hull", "TEXT")), ((1, "oak"), (2, "OAK"), (3, "ash")), ("CHECK (boat > 0)",))
MENDED = Mended(BOATS, (None, (2, "oak"), (3, "ash")), ((4, "elm"),))
EXTRA = PlainColumn("pieces", "INTEGER", "count", (), 5, 5)


def test_truth_tells_good_mended_missing_and_surplus_rows_apart() -> None:
    truth = MENDED.truth()
    assert (truth.table, truth.columns) == ("boats", ("boat", "hull"))
    assert truth.good == ((3, "ash"),)
    assert truth.repaired == (((2, "oak"),), ((4, "elm"),))
    assert truth.removable == 1


def test_a_wider_table_has_the_same_rows_and_a_column_behind_the_first() -> None:
    places = set()
    for seed in range(20):
        wider = MENDED.widened(EXTRA, Random(seed))
        at = wider.table.names.index("pieces")
        places.add(at)
        assert wider.table.columns[at] == ("pieces", "INTEGER")
        assert [(*row[:at], *row[at + 1 :]) for row in wider.table.rows] == list(BOATS.rows)
        assert {row[at] for row in wider.table.rows} == {5}
        assert [None if row is None else row[at] for row in wider.right] == [None, 5, 5]
        assert wider.missing[0][at] is None
        assert wider.table.constraints == BOATS.constraints
    assert places == {1, 2}


def test_a_database_keeps_the_order_of_its_tables_and_has_the_target_s_truth_first() -> None:
    crews = Table("crews", (("crew", "INTEGER PRIMARY KEY"),), ((7,),))
    content = content_of((crews, MENDED), "boats")
    assert content.ddl == (
        "CREATE TABLE crews (\n  crew INTEGER PRIMARY KEY\n)",
        "CREATE TABLE boats (\n  boat INTEGER PRIMARY KEY,\n  hull TEXT,\n  CHECK (boat > 0)\n)",
    )
    assert dict(content.rows) == {"crews": ((7,),), "boats": BOATS.rows}
    assert [truth.table for truth in content.truth] == ["boats", "crews"]
    assert (content.truth[1].good, content.truth[1].repaired, content.truth[1].removable) == (((7,),), (), 0)
