"""A pigeon club: ring marks as their owners registered them, and what the clocks at the lofts stamped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.tune.base import TuneDataset
from sql_optim_env.datasets.tune.draws import gapped_ids, text
from sql_optim_env.datasets.tune.edges import Row, Value

__all__ = ["DATASET"]

_LETTERS: Final = "ABCDEFGHKLMNPRSTUVWXYZ"
_WORDS: Final = (
    "blue bar cock from the old Hansen line, flown from the coast twice; chequer hen, good feather, calm in the basket; wing stamp faint; "
    "trapped at once after circling; paid in full; bred by his father"
).split()
_RACE: Final = 44


def _mark(dice: Random) -> str:
    return "".join(dice.choice(_LETTERS) for _ in range(3)) + str(dice.randrange(1_000, 10_000))


class _PigeonRace(TuneDataset):
    name: ClassVar[str] = "tune_pigeon_race"
    ddl: ClassVar[str] = """\
CREATE TABLE ring (
    id       INTEGER PRIMARY KEY,
    mark     TEXT COLLATE NOCASE NOT NULL,
    owner    TEXT NOT NULL,
    pedigree TEXT NOT NULL
);

CREATE TABLE clocking (
    id     INTEGER PRIMARY KEY,
    race   INTEGER NOT NULL,
    mark   TEXT,
    second INTEGER NOT NULL,
    strip  TEXT NOT NULL
);
"""
    tables: ClassVar[tuple[str, ...]] = ("ring", "clocking")
    sizes: ClassVar[Mapping[str, int]] = {"ring": 16_000, "clocking": 7_500, "in_race": 32}
    hot: ClassVar[Mapping[str, Sequence[Value]]] = {
        "ring.mark": ("ABC1234", "abc1234", "Abc1234", "ABC1234 ", "KLM77"),
        "clocking.mark": ("ABC1234", "abc1234", "ABC1234 ", "KLM77"),
        "clocking.race": (_RACE, _RACE, _RACE - 1),
    }

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """Half of the marks are registered in small letters. One clocking in eight has the case of its letters swapped."""
        marks = [_mark(dice) if dice.randrange(2) else _mark(dice).lower() for _ in range(sizes["ring"])]
        rings: list[Row] = [
            (number, mark, f"{text(dice, _WORDS, 12)} {number}", text(dice, _WORDS, dice.randrange(90, 150)))
            for number, mark in zip(gapped_ids(dice, len(marks)), marks, strict=True)
        ]
        races = [_RACE] * sizes["in_race"] + [
            dice.choice([race for race in range(30, 60) if race != _RACE]) for _ in range(sizes["clocking"])
        ]
        races = races[: sizes["clocking"]]
        dice.shuffle(races)
        clockings: list[Row] = []
        for number, race in zip(gapped_ids(dice, len(races)), races, strict=True):
            mark = dice.choice(marks)
            stamped = mark.swapcase() if dice.randrange(8) == 0 else mark
            clockings.append((number, race, stamped, dice.randrange(20_000, 70_000), text(dice, _WORDS, dice.randrange(80, 120))))
        return {"ring": rings, "clocking": clockings}


DATASET: Final = _PigeonRace()
