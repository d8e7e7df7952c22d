"""A water board: readings taken at wells, each with the reader's remark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.tune.base import TuneDataset
from sql_optim_env.datasets.tune.draws import gapped_ids, text
from sql_optim_env.datasets.tune.edges import Row, Value

__all__ = ["DATASET"]

_WORDS: Final = (
    "clear cloudy rope wet after rain cover loose frost on rim pump running dipped twice smell of iron sheep near tape short".split()
)


class _WellLevels(TuneDataset):
    name: ClassVar[str] = "tune_well_levels"
    ddl: ClassVar[str] = """\
CREATE TABLE reading (
    id       INTEGER PRIMARY KEY,
    minute   INTEGER,
    depth_mm INTEGER,
    chloride INTEGER,
    remark   TEXT NOT NULL
);
"""
    tables: ClassVar[tuple[str, ...]] = ("reading",)
    sizes: ClassVar[Mapping[str, int]] = {"reading": 38_000}
    hot: ClassVar[Mapping[str, Sequence[Value]]] = {"reading.depth_mm": (-5, 0), "reading.chloride": (0, -1)}

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """Minute, depth and chloride are drawn apart from each other; a quarter of the readings has no chloride."""
        readings: list[Row] = []
        for number in gapped_ids(dice, sizes["reading"]):
            chloride = dice.randrange(5, 900) if dice.randrange(4) else None
            readings.append(
                (
                    number,
                    dice.randrange(1_000_000, 9_000_000),
                    dice.randrange(100, 40_000),
                    chloride,
                    text(dice, _WORDS, dice.randrange(54, 74)),
                )
            )
        return {"reading": readings}


DATASET: Final = _WellLevels()
