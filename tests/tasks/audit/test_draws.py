from __future__ import annotations

from datetime import date
from itertools import pairwise
from random import Random

import pytest

from sql_optim_env.datasets.generate.domains import DOMAINS
from sql_optim_env.engines.sqlite.build import build_database
from sql_optim_env.engines.sqlite.tables import declared_types, read_rows
from sql_optim_env.tasks.audit import draws
from sql_optim_env.tasks.audit.draws import PlainColumn, Style

WORLDS = [domain for split in DOMAINS for domain in DOMAINS[split]]
PLAIN = Style("_", "", "", "{}_id")
SQUASHED = Style("", "t_", "_reg", "{}_no")


def test_a_style_writes_all_names_of_a_database_alike() -> None:
    assert (PLAIN.column("unit_price"), PLAIN.key("ice_session"), PLAIN.table("ice_sessions")) == (
        "unit_price",
        "ice_session_id",
        "ice_sessions",
    )
    assert (SQUASHED.column("unit_price"), SQUASHED.key("ice_session"), SQUASHED.table("all", "ice_sessions")) == (
        "unitprice",
        "icesessionno",
        "t_allicesessions_reg",
    )
    assert len({draws.draw_style(Random(seed)) for seed in range(60)}) > 15


@pytest.mark.parametrize("domain", WORLDS, ids=lambda domain: domain.owner)
def test_plain_columns_have_different_names_that_are_free_and_say_what_they_hold(domain: draws.Domain) -> None:
    for seed in range(20):
        dice = Random(seed)
        style = draws.draw_style(dice)
        taken = {style.column(domain.first), style.column("remark")}
        columns = draws.plain_columns(dice, domain, style, 14, taken=taken)
        names = [column.name for column in columns]
        assert len(set(names)) == 14
        assert not set(names) & taken
        database = build_database(
            [draws.create_table("t", [(c.name, c.declared) for c in columns])], {"t": draws.rows_of(dice, columns, 9)}
        )
        stored = read_rows(database, "t", names)
        assert stored is not None
        for row in stored:
            kinds = [{str: "TEXT", int: "INTEGER", float: "REAL"}[type(cell)] for cell in row]
            assert kinds == [column.declared for column in columns]


def test_plain_columns_can_be_held_to_some_meanings() -> None:
    columns = draws.plain_columns(Random(1), WORLDS[0], PLAIN, 4, meanings=("date", "money"))
    assert {column.meaning for column in columns} == {"date", "money"}
    with pytest.raises(ValueError, match="the pool has 2 names that are free, not 3"):
        draws.plain_columns(Random(1), WORLDS[0], PLAIN, 3, meanings=("flag",))


def test_cells_stay_within_the_column_s_bounds() -> None:
    words = ("amber", "blue")
    made = {
        meaning: PlainColumn("c", "TEXT", meaning, words, 100, 250).cells(Random(3), 200)
        for meaning in ("count", "money", "date", "code", "word", "phrase", "person")
    }
    assert all(100 <= int(str(cell)) <= 250 for cell in made["count"])
    assert all(1 <= float(str(cell)) <= 2.5 for cell in made["money"])
    assert all("2015-04-11" <= str(cell) <= "2015-09-08" for cell in made["date"])
    assert {str(cell)[:3] for cell in made["code"]} == {"AM-", "BL-"}
    assert set(made["word"]) == set(words)
    assert all(len(str(cell).split()) == 4 for cell in made["phrase"])
    assert all(str(cell).split()[1] in draws.PEOPLE for cell in made["person"])


def test_one_cell_is_drawn_like_many() -> None:
    column = PlainColumn("c", "INTEGER", "count", (), 1, 900)
    assert [column.cell(Random(5))] == column.cells(Random(5), 1)


def test_sizes_are_the_documented_ones_or_around_them() -> None:
    assert draws.around(Random(1), 320, default=True) == 320
    sizes = {draws.around(Random(seed), 320, default=False) for seed in range(200)}
    assert min(sizes) >= 240
    assert max(sizes) <= 400
    assert len(sizes) > 50


def test_a_default_draw_uses_as_many_dice_as_another_one() -> None:
    dice = [Random(1), Random(1)]
    draws.around(dice[0], 320, default=True)
    draws.around(dice[1], 320, default=False)
    assert dice[0].random() == dice[1].random()


def test_positions_are_sorted_and_as_many_as_asked_for() -> None:
    by_share, by_count = draws.positions(Random(2), 200, 0.1), draws.positions(Random(2), 200, 7)
    assert (len(by_share), len(by_count)) == (20, 7)
    assert by_share == sorted(set(by_share))
    assert 0 <= by_share[0]
    assert by_share[-1] < 200


def test_ids_rise_with_gaps_and_labels_differ() -> None:
    ids = draws.varied_ids(Random(4), 100, gap=3)
    assert {b - a for a, b in pairwise(ids)} == {1, 2, 3}
    assert len(set(draws.labels(Random(4), WORLDS[0], 100))) == 100


def test_days_and_money_lie_where_they_should() -> None:
    days = {draws.day(Random(seed), date(2024, 2, 28), 3) for seed in range(40)}
    assert days == {date(2024, 2, 28), date(2024, 2, 29), date(2024, 3, 1)}
    assert set(draws.iso_days(Random(1), date(2024, 2, 28), 3, 50)) == {each.isoformat() for each in days}
    amounts = [draws.money(Random(seed), 2, 5) for seed in range(200)]
    assert 2 <= min(amounts) < max(amounts) < 5
    assert all(amount == round(amount, 2) for amount in amounts)


def test_words_for_sentences() -> None:
    assert draws.spoken("ice_session") == "ice session"
    assert draws.started("a club") == "A club"
    assert (draws.a_or_an("ascent"), draws.a_or_an("balloon")) == ("an ascent", "a balloon")


def test_a_table_is_written_as_it_is_declared() -> None:
    ddl = draws.create_table("t", [("a", "INTEGER PRIMARY KEY"), ("b", "TEXT NOT NULL"), ("c", "")], "UNIQUE (b)")
    assert declared_types(build_database([ddl], {"t": [(1, "x", 2)]}), "t") == {"a": "INTEGER", "b": "TEXT", "c": "BLOB"}
    assert ddl.endswith("UNIQUE (b)\n)")


def test_a_table_to_be_left_alone_has_nothing_to_mend() -> None:
    truth = draws.unchanged("t", ["a", "b"], [[1, "x"], [2, None]])
    assert (truth.table, truth.columns, truth.good) == ("t", ("a", "b"), ((1, "x"), (2, None)))
    assert (truth.repaired, truth.removable, truth.affinities) == ((), 0, {})
