from __future__ import annotations

from collections import Counter

import pytest

from sql_optim_env.datasets.generate.domains import DOMAINS, GeneratedSplit
from sql_optim_env.tasks.audit.scenario import VARIANTS, Scenario, Variant
from tasks.audit import trials

KIND = "null_audit"


def gaps(scenario: Scenario, variant: Variant = "base") -> dict[str, int]:
    made = trials.content(scenario, variant)
    truth = made.truth[0]
    return {column: sum(row[k] is None for row in made.rows[scenario.target]) for k, column in enumerate(truth.columns)}


def test_by_default_one_of_eight_columns_is_52_per_cent_empty_and_the_others_about_10() -> None:
    for seed in range(20):
        scenario = trials.drawn(KIND, "train", seed, default=True)
        rows = len(trials.content(scenario, "base").rows[scenario.target])
        counted = gaps(scenario)
        assert len(counted) == 8
        assert counted.pop(scenario.expected.answer) / rows == 0.52
        assert all(0.08 <= count / rows <= 0.12 for count in counted.values())


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_answer_has_far_more_gaps_than_any_other_column(variant: Variant) -> None:
    for scenario in trials.every(KIND):
        counted = gaps(scenario, variant)
        most = counted.pop(scenario.expected.answer)
        assert most > 2.5 * max(counted.values())


def test_the_rows_that_everybody_is_shown_at_the_start_point_elsewhere() -> None:
    for scenario in trials.every(KIND):
        made = trials.content(scenario, "base")
        shown = list(zip(*made.rows[scenario.target][:5], strict=True))
        first = {column: cells.count(None) for column, cells in zip(made.truth[0].columns, shown, strict=True)}
        assert first[scenario.expected.answer] == 1
        assert max(first.values()) == 3


def test_what_was_typed_to_say_nothing_is_no_gap() -> None:
    typed = 0
    for scenario in trials.every(KIND):
        made = trials.content(scenario, "base")
        columns = zip(made.truth[0].columns, zip(*made.rows[scenario.target], strict=True), strict=True)
        blank = {column: sum(cell in ("n/a", "-", "unknown", "?", "") for cell in cells) / len(cells) for column, cells in columns}
        assert blank[scenario.expected.answer] == 0
        typed += max(blank.values()) > 0.3
    assert typed > trials.SEEDS * 1.5


def test_only_the_column_is_asked_for_and_nothing_is_to_be_repaired() -> None:
    for scenario in trials.every(KIND, 4):
        assert scenario.asks == ("answer",)
        assert not scenario.fixable
        assert scenario.check == ""
        assert scenario.defect.columns == (scenario.expected.answer,)
        assert all(not truth.repaired and not truth.removable for truth in trials.content(scenario, "base").truth)


def test_the_looks_find_the_column_and_show_its_gaps() -> None:
    for scenario in trials.every(KIND, 8):
        assert trials.shown(scenario, scenario.structure_look).structures == {scenario.target}
        found = trials.shown(scenario, scenario.column_look)
        row_count, *counts = found.rows[0]
        assert dict(zip(found.columns[1:], counts, strict=True)) == gaps(scenario)
        assert found.vm_steps >= row_count == len(trials.content(scenario, "base").rows[scenario.target])
        assert (scenario.target, scenario.expected.answer) in found.reads_columns


@pytest.mark.parametrize("split", DOMAINS)
def test_the_column_stands_at_any_place_and_bears_any_name(split: GeneratedSplit) -> None:
    places: Counter[int] = Counter()
    names: Counter[str] = Counter()
    for seed in range(60):
        scenario = trials.drawn(KIND, split, seed, default=True)
        places[trials.content(scenario, "base").truth[0].columns.index(scenario.expected.answer)] += 1
        names[scenario.expected.answer] += 1
    assert set(places) == set(range(8))
    assert places.most_common(1)[0][1] < 18
    assert names.most_common(1)[0][1] < 10


def test_draws_are_steady_and_various() -> None:
    scenarios = list(trials.every(KIND))
    for scenario in scenarios[:4]:
        again = [trials.content(scenario, variant) for variant in VARIANTS]
        assert again == [trials.content(scenario, variant) for variant in VARIANTS]
        assert len({repr(made.rows) for made in again}) == len(VARIANTS)
    assert len({scenario.description for scenario in scenarios}) > len(scenarios) * 0.8
    assert len({(scenario.target, *gaps(scenario)) for scenario in scenarios}) == len(scenarios)
    assert len({len(trials.content(scenario, "base").rows[scenario.target]) for scenario in scenarios}) > len(scenarios) / 2
