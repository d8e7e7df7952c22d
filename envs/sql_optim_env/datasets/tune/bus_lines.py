"""Punctuality of a bus company: a few dozen lines, and one narrow row for every stop of every run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.tune.base import TuneDataset
from sql_optim_env.datasets.tune.draws import gapped_ids
from sql_optim_env.datasets.tune.edges import Row

__all__ = ["DATASET"]

_ENDS: Final = (
    "Abbey Aqueduct Brewery Cattle Market Dyke Eastgate Ferry Gasworks Hospital Infirmary Junction Kiln Lido Mill Nursery".split()
)


class _BusLines(TuneDataset):
    name: ClassVar[str] = "tune_bus_lines"
    ddl: ClassVar[str] = """\
CREATE TABLE line (
    no    INTEGER PRIMARY KEY,
    route TEXT NOT NULL
);

CREATE TABLE stop_call (
    id      INTEGER PRIMARY KEY,
    line_no INTEGER,
    delay   INTEGER,
    boarded INTEGER NOT NULL,
    weekday INTEGER NOT NULL
);
"""
    tables: ClassVar[tuple[str, ...]] = ("line", "stop_call")
    sizes: ClassVar[Mapping[str, int]] = {"line": 31, "stop_call": 52_000}
    references: ClassVar[Mapping[str, str]] = {"stop_call.line_no": "line"}
    hot: ClassVar[Mapping[str, Sequence[int]]] = {
        "stop_call.delay": (-61, -60, -59, 0, 179, 180, 181, 300, 301),
        "stop_call.weekday": (5, 6, 7),
        "stop_call.boarded": (0, 1),
    }

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """Delays in seconds, mostly small; one call in twenty has no delay because the beacon was silent."""
        numbers = gapped_ids(dice, sizes["line"], gap=7)
        lines: list[Row] = [(no, f"{dice.choice(_ENDS)} - {dice.choice(_ENDS)}") for no in numbers]
        calls: list[Row] = []
        for number in gapped_ids(dice, sizes["stop_call"], gap=3):
            delay = None if dice.randrange(20) == 0 else dice.randrange(-120, 241) + (dice.randrange(900) if dice.randrange(6) == 0 else 0)
            calls.append((number, dice.choice(numbers), delay, dice.randrange(0, 60), dice.randrange(1, 8)))
        return {"line": lines, "stop_call": calls}


DATASET: Final = _BusLines()
