"""A sound archive: one row for each wax cylinder, with its digitised sound where there is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.tune.base import TuneDataset
from sql_optim_env.datasets.tune.draws import dealt, gapped_ids
from sql_optim_env.datasets.tune.edges import Row, Value

__all__ = ["DATASET"]

_VILLAGES: Final = ("Aldercombe", "Brackenthwaite", "Crosby Fell", "Dunmere", "Eskholme", "Farrowdale", "Gillbeck")


class _WaxCylinders(TuneDataset):
    name: ClassVar[str] = "tune_wax_cylinders"
    ddl: ClassVar[str] = """\
CREATE TABLE cylinder (
    id       INTEGER PRIMARY KEY,
    village  TEXT,
    recorded INTEGER,
    sound    BLOB CHECK (typeof(sound) IN ('blob', 'null'))
);
"""
    tables: ClassVar[tuple[str, ...]] = ("cylinder",)
    sizes: ClassVar[Mapping[str, int]] = {"cylinder": 900}
    hot: ClassVar[Mapping[str, Sequence[Value]]] = {"cylinder.sound": (b"", b"\0", b"\0\0"), "cylinder.village": _VILLAGES[:2]}

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """One sound in ten is missing, one in twelve empty, a third short; the others fill one to three pages and leave little behind."""
        count = sizes["cylinder"]
        kinds = dealt(dice, ["none"] * 6 + ["empty"] * 5 + ["short"] * 20 + ["long"] * 29, count)
        villages = dealt(dice, _VILLAGES, count)
        cylinders: list[Row] = []
        for number, kind, village in zip(gapped_ids(dice, count), kinds, villages, strict=True):
            length = {
                "none": 0,
                "empty": 0,
                "short": dice.randrange(200, 1_000),
                "long": 4_092 * dice.randrange(1, 4) + dice.randrange(460, 860),
            }[kind]
            sound = None if kind == "none" else dice.randbytes(length)
            cylinders.append((number, village, dice.randrange(1898, 1931), sound))
        return {"cylinder": cylinders}


DATASET: Final = _WaxCylinders()
