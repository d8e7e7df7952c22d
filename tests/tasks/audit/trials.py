"""Repairs of drawn problems, tried on all of their databases with the engine and the rules that grade them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from random import Random

from sql_optim_env.datasets.generate.domains import DOMAINS, GeneratedSplit
from sql_optim_env.engines.sqlite.investigate import Investigated, look
from sql_optim_env.engines.sqlite.script import run_script
from sql_optim_env.grading.audit_level import Level, repair_level
from sql_optim_env.sandbox.audit_repair import Built, build, repair_facts
from sql_optim_env.tasks.audit.kinds import kinds
from sql_optim_env.tasks.audit.scenario import VARIANTS, Content, Scenario, Variant

SEEDS = 20
NOTHING = "SELECT 1"
WHOLE: dict[Variant, Level] = dict.fromkeys(VARIANTS, "perfect")

Fix = Callable[[Scenario], str]


@lru_cache(maxsize=4_096)
def drawn(kind: str, split: GeneratedSplit, seed: int, *, default: bool = False) -> Scenario:
    """A problem of a kind, in a domain of the split, as ``scenario_of`` draws it for some task."""
    dice = Random(f"trial:{kind}:{split}:{seed}")
    return kinds()[kind].draw(dice.choice(DOMAINS[split]), dice, seed=f"{split}:{seed}", default=default)


def every(kind: str, seeds: int = SEEDS) -> Iterator[Scenario]:
    """So many problems of each split, every fourth of the documented sizes."""
    for split in DOMAINS:
        for seed in range(seeds):
            yield drawn(kind, split, seed, default=seed % 4 == 0)


def content(scenario: Scenario, variant: Variant) -> Content:
    """One of the problem's databases, freshly made."""
    return kinds()[scenario.kind].content(scenario, variant)


_built: dict[tuple[str, str, str, Variant], Built] = {}


def built(scenario: Scenario, variant: Variant = "base") -> Built:
    """One of the problem's databases; made once."""
    key = (scenario.kind, scenario.seed, scenario.description, variant)
    if key not in _built:
        if len(_built) == 64:
            _built.clear()
        _built[key] = build(scenario, variant)
    return _built[key]


def level(scenario: Scenario, fix: str, variant: Variant) -> Level:
    """How good a repair is on one of the problem's databases."""
    return repair_level(scenario, repair_facts(built(scenario, variant), lambda database: run_script(database, fix).database))


def levels(scenario: Scenario, fix: str) -> dict[Variant, Level]:
    """How good a repair is on each of the problem's databases."""
    return {variant: level(scenario, fix, variant) for variant in VARIANTS}


def shown(scenario: Scenario, sql: str, fix: str = NOTHING) -> Investigated:
    """What a look shows on the database that the agent sees, after a fix."""
    return look(run_script(built(scenario).database, fix).database, sql)


def assert_reference_is_whole(kind: str) -> None:
    """The reference repairs every database of every problem, and doing nothing repairs none."""
    for scenario in every(kind):
        assert levels(scenario, scenario.reference_fix) == WHOLE, (scenario.seed, scenario.reference_fix)
        assert level(scenario, NOTHING, "base") == "ineffective", scenario.seed


def assert_looks_bear_on_the_defect(kind: str) -> None:
    """The oracle's looks are found by what they read, and its check can fail."""
    for scenario in every(kind, 8):
        table, rows = scenario.defect.table, len(content(scenario, "base").rows[scenario.defect.table])
        wanted = {(table, column) for column in scenario.defect.columns}
        assert shown(scenario, scenario.structure_look).structures == {table}
        found = shown(scenario, scenario.column_look)
        assert found.reads_columns & wanted
        assert found.vm_steps >= rows
        assert found.row_count > 0
        before, after = shown(scenario, scenario.check), shown(scenario, scenario.check, scenario.reference_fix)
        assert before.reads_columns & wanted
        assert before.rows != after.rows


def assert_draws_are_steady_and_various(kind: str) -> None:
    """The same seed gives the same problem and data; another one other names, counts and values."""
    scenarios = list(every(kind))
    for scenario in scenarios[:3]:
        split, seed = scenario.seed.split(":")
        drawn.cache_clear()
        again = drawn(kind, "train" if split == "train" else "test", int(seed), default=int(seed) % 4 == 0)
        assert again == scenario
        made = [content(scenario, variant) for variant in VARIANTS]
        assert made == [content(again, variant) for variant in VARIANTS]
        assert len({repr(each.rows) for each in made}) == len(VARIANTS)
    assert len({scenario.description for scenario in scenarios}) > 0.9 * len(scenarios)
    assert len({(scenario.target, scenario.defect.columns) for scenario in scenarios}) > len(scenarios) // 2
    sizes = [len(content(scenario, "base").rows[scenario.defect.table]) for scenario in scenarios]
    assert len(set(sizes)) > len(sizes) // 3


def assert_columns_are_told_apart(kind: str) -> None:
    """No table has two columns of one name, and the extra column is one more."""
    for scenario in every(kind):
        base, wider = content(scenario, "base"), content(scenario, "extra_column")
        table = scenario.defect.table
        for truth in base.truth:
            assert len(set(truth.columns)) == len(truth.columns)
        assert base.truth[0].table == scenario.target == wider.truth[0].table
        before, after = (next(truth.columns for truth in each.truth if truth.table == table) for each in (base, wider))
        assert len(after) == len(before) + 1
        assert after[0] == before[0]
        extra = next(place for place, column in enumerate(after) if column not in before)
        assert [(*row[:extra], *row[extra + 1 :]) for row in wider.rows[table]] == list(base.rows[table])


def assert_told_well(kind: str, *, may_name: bool = False) -> None:
    """Descriptions are whole sentences, and do not say which column is wrong unless the rules cannot be told without it."""
    for scenario in every(kind):
        text = scenario.description
        assert text[0].isupper(), text
        assert text[-1] == ".", text
        assert not re.search(r"[{}]|  |\.\.|\b[Aa] [aeio]\w", text.replace("a one", "")), text
        named = [column for column in scenario.defect.columns if re.search(rf"\b{column}\b", text)]
        assert may_name or not named, (named, text)


def assert_small(kind: str, most: int = 3_000) -> None:
    """A database has few rows, since a grade makes and repairs four of them."""
    for scenario in every(kind, 4):
        for variant in VARIANTS:
            assert sum(map(len, content(scenario, variant).rows.values())) <= most


def outcomes(kind: str, fix: Fix, seeds: int) -> list[dict[Variant, Level]]:
    """What a careless repair comes to, problem by problem."""
    return [levels(scenario, fix(scenario)) for scenario in every(kind, seeds)]


def assert_careless(kind: str, fix: Fix, seeds: int = 3) -> None:
    """A careless repair runs, and on the shown database it is dangerous or worse."""
    for scenario in every(kind, seeds):
        script = fix(scenario)
        run_script(built(scenario).database, script)
        assert level(scenario, script, "base") in ("catastrophic", "ineffective", "dangerous"), (scenario.seed, script)


def assert_learned_by_heart(kind: str, fix: Fix, seeds: int = 3) -> None:
    """A repair that names what it found in the shown database is perfect there and worth nothing on other data."""
    for found in outcomes(kind, fix, seeds):
        assert found["base"] == found["extra_column"] == "perfect"
        assert not {found["shifted"], found["hidden_seed"]} & {"perfect", "acceptable"}
