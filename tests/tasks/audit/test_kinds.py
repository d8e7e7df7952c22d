from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from random import Random

import apsw
import pytest

from sql_optim_env.datasets.generate.domains import DOMAINS, GeneratedSplit
from sql_optim_env.tasks.audit.kinds import kinds
from sql_optim_env.tasks.audit.scenario import VARIANTS
from tasks.audit import trials

KEYWORDS = {word.lower() for word in apsw.keywords}

REPAIRED = [name for name in kinds() if name != "null_audit"]
TOLD = ["timezone_shift", "unit_mixup", "scd_overlap", "join_fanout", "near_duplicates", "truncated_load"]
"""The descriptions of the other kinds are held to name no wrong column, above."""

# Everything that a scenario and its databases are made of, as one digest a kind.
DIGESTS = """
import hashlib
from random import Random
from sql_optim_env.datasets.generate.domains import DOMAINS
from sql_optim_env.tasks.audit.kinds import kinds
from sql_optim_env.tasks.audit.scenario import VARIANTS
for name, kind in kinds().items():
    scenario = kind.draw(DOMAINS["train"][4], Random(7), seed="7", default=False)
    contents = [kind.content(scenario, variant) for variant in VARIANTS]
    print(name, hashlib.sha256(repr((scenario, contents)).encode()).hexdigest())
"""


def elsewhere(hash_seed: str) -> list[str]:
    """The digests, made in a process whose sets and dicts of text are hashed with another seed."""
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    return subprocess.run([sys.executable, "-c", DIGESTS], env=environment, capture_output=True, text=True, check=True).stdout.split("\n")


def test_every_process_draws_the_same_and_makes_the_same_rows() -> None:
    here = []
    for name, kind in kinds().items():
        scenario = kind.draw(DOMAINS["train"][4], Random(7), seed="7", default=False)
        contents = [kind.content(scenario, variant) for variant in VARIANTS]
        here.append(f"{name} {hashlib.sha256(repr((scenario, contents)).encode()).hexdigest()}")
    assert elsewhere("1") == elsewhere("4242") == [*here, ""]


@pytest.mark.parametrize("kind", kinds())
def test_no_name_is_drawn_twice_in_any_domain(kind: str) -> None:
    """A table has every column once, and the problem's own statements mean one thing each: on empty tables all of them run."""
    for domain in (domain for split in DOMAINS.values() for domain in split):
        for number in range(3):
            scenario = kinds()[kind].draw(domain, Random(f"names:{number}"), seed=f"names:{number}", default=False)
            con = apsw.Connection(":memory:")
            for statement in trials.content(scenario, "extra_column").ddl:
                con.execute(statement)
            for statement in (scenario.structure_look, scenario.column_look, scenario.reference_fix, scenario.check):
                con.execute(statement).fetchall()
            con.close()


@pytest.mark.parametrize("kind", kinds())
@pytest.mark.parametrize("split", DOMAINS)
def test_names_are_plain_in_every_domain(kind: str, split: GeneratedSplit) -> None:
    for number, domain in enumerate(DOMAINS[split]):
        scenario = kinds()[kind].draw(domain, Random(number), seed=str(number), default=number % 2 == 0)
        truths = trials.content(scenario, "base").truth
        tables = [truth.table for truth in truths]
        assert truths[0].table == scenario.target
        assert len(set(tables)) == len(tables)
        for truth in truths:
            assert len(set(truth.columns)) == len(truth.columns)
            for name in (truth.table, *truth.columns):
                assert re.fullmatch(r"[a-z][a-z0-9_]*", name)
                assert name not in KEYWORDS


@pytest.mark.parametrize("kind", ["null_audit", "type_repair", "dedup_bug", "fk_integrity", "schema_drift"])
def test_the_description_names_no_column_that_is_wrong(kind: str) -> None:
    for split in DOMAINS:
        for domain in DOMAINS[split]:
            for seed in range(6):
                scenario = kinds()[kind].draw(domain, Random(seed), seed=str(seed), default=seed % 2 == 0)
                truth = next(truth for truth in trials.content(scenario, "base").truth if truth.table == scenario.defect.table)
                for column in scenario.defect.columns:
                    assert column not in truth.columns or not re.search(rf"\b{column}\b", scenario.description.lower())


@pytest.mark.parametrize("kind", REPAIRED)
def test_the_reference_repairs_every_database(kind: str) -> None:
    trials.assert_reference_is_whole(kind)


# The target of schema_drift is not there before the repair, so its looks have a test of their own.
@pytest.mark.parametrize("kind", [name for name in REPAIRED if name != "schema_drift"])
def test_looks_bear_on_the_defect(kind: str) -> None:
    trials.assert_looks_bear_on_the_defect(kind)


@pytest.mark.parametrize("kind", REPAIRED)
def test_draws_are_steady_and_various(kind: str) -> None:
    trials.assert_draws_are_steady_and_various(kind)


@pytest.mark.parametrize("kind", kinds())
def test_columns_are_told_apart(kind: str) -> None:
    trials.assert_columns_are_told_apart(kind)


@pytest.mark.parametrize("kind", kinds())
def test_a_database_is_small(kind: str) -> None:
    trials.assert_small(kind)


@pytest.mark.parametrize("kind", TOLD)
def test_the_description_is_told_well(kind: str) -> None:
    trials.assert_told_well(kind, may_name=kind == "join_fanout")
