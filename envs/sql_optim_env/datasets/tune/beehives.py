"""Bee inspectors' visits to hives, and the findings that they know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.tune.base import TuneDataset
from sql_optim_env.datasets.tune.draws import dealt, gapped_ids, text
from sql_optim_env.datasets.tune.edges import Row, Value

__all__ = ["DATASET"]

_FINDINGS: Final = ("chilled brood", "foulbrood", "healthy", "queenless", "varroa", "wax moth")
_WORDS: Final = (
    "nine frames covered, stores sufficient; combs dark, to be renewed; cappings sunken, scales adhere to the cell wall; entrance reduced "
    "against wasps; smoker hardly needed; sample sent to the laboratory; owner advised and the stand marked"
).split()
_FROM, _TO = 41_000, 43_999  # the minutes of the outbreak


class _Beehives(TuneDataset):
    name: ClassVar[str] = "tune_beehives"
    ddl: ClassVar[str] = """\
CREATE TABLE finding (
    id   INTEGER PRIMARY KEY,
    name TEXT
);

CREATE TABLE inspection (
    id         INTEGER PRIMARY KEY,
    finding_id INTEGER,
    minute     INTEGER,
    hive       INTEGER NOT NULL,
    protocol   TEXT NOT NULL
);

CREATE INDEX inspection_minute ON inspection(minute);
"""
    tables: ClassVar[tuple[str, ...]] = ("finding", "inspection")
    sizes: ClassVar[Mapping[str, int]] = {
        "finding": len(_FINDINGS),
        "inspection": 8_600,
        "foulbrood": 72,
        "foulbrood_elsewhen": 3,
        "others_then": 450,
    }
    references: ClassVar[Mapping[str, str]] = {"inspection.finding_id": "finding"}
    hot: ClassVar[Mapping[str, Sequence[Value]]] = {
        "finding.name": ("foulbrood", "foulbrood", "Foulbrood", "healthy"),
        "inspection.minute": (_FROM - 1, _FROM, 42_000, _TO, _TO + 1),
    }
    edge_seed: ClassVar[int] = 151

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """Foulbrood is rare, and nearly all of it falls in the outbreak, in which many hives were inspected that had something else."""
        names = dealt(dice, _FINDINGS, sizes["finding"])
        findings: list[Row] = list(zip(gapped_ids(dice, len(names), gap=9), names, strict=True))
        rare = [number for number, name in findings if name == "foulbrood"]
        common = [number for number, name in findings if name != "foulbrood"] or rare
        plan = ["foul then"] * (sizes["foulbrood"] - sizes["foulbrood_elsewhen"]) + ["foul elsewhen"] * sizes["foulbrood_elsewhen"]
        plan = (plan + ["other then"] * sizes["others_then"])[: sizes["inspection"]]
        plan += ["other elsewhen"] * (sizes["inspection"] - len(plan))
        dice.shuffle(plan)
        inspections: list[Row] = []
        for number, kind in zip(gapped_ids(dice, len(plan)), plan, strict=True):
            what, _, when = kind.partition(" ")
            minute = (
                dice.randrange(_FROM, _TO + 1)
                if when == "then"
                else dice.choice((dice.randrange(0, _FROM), dice.randrange(_TO + 1, 90_000)))
            )
            protocol = text(dice, _WORDS, dice.randrange(330, 440))
            inspections.append((number, dice.choice(rare if what == "foul" and rare else common), minute, dice.randrange(1, 700), protocol))
        return {"finding": findings, "inspection": inspections}


DATASET: Final = _Beehives()
