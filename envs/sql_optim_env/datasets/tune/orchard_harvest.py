"""A fruit estate: its plots, and what was done on each: crates picked, sprayings, grafts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.tune.base import TuneDataset
from sql_optim_env.datasets.tune.draws import dealt, gapped_ids, text
from sql_optim_env.datasets.tune.edges import Row, Value

__all__ = ["DATASET"]

_VARIETIES: Final = ("Ashmead", "Blenheim", "Bramley", "Costard", "Egremont", "Laxton", "Pitmaston", "Ribston", "Sturmer", "Worcester")
_WORDS: Final = (
    "ripe firm russet windfall upper lower row ladder frost mild copper sulphur lime scion stock bark wax tape second first pass".split()
)
_CHILDREN: Final = ("crate", "spraying", "graft")


class _OrchardHarvest(TuneDataset):
    name: ClassVar[str] = "tune_orchard_harvest"
    ddl: ClassVar[str] = """\
CREATE TABLE plot (
    id      INTEGER PRIMARY KEY,
    variety TEXT,
    field   TEXT NOT NULL
);

CREATE TABLE crate (
    id      INTEGER PRIMARY KEY,
    plot_id INTEGER,
    kilos   INTEGER NOT NULL,
    label   TEXT NOT NULL
);

CREATE TABLE spraying (
    id      INTEGER PRIMARY KEY,
    plot_id INTEGER,
    litres  INTEGER NOT NULL,
    mixture TEXT NOT NULL
);

CREATE TABLE graft (
    id      INTEGER PRIMARY KEY,
    plot_id INTEGER,
    scions  INTEGER NOT NULL,
    method  TEXT NOT NULL
);

CREATE INDEX crate_plot ON crate(plot_id);
CREATE INDEX spraying_plot ON spraying(plot_id);
CREATE INDEX graft_plot ON graft(plot_id);
"""
    tables: ClassVar[tuple[str, ...]] = ("plot", *_CHILDREN)
    sizes: ClassVar[Mapping[str, int]] = {"plot": 4_000, "of_variety": 26, "crate": 20_000, "spraying": 16_000, "graft": 20_000}
    references: ClassVar[Mapping[str, str]] = {f"{child}.plot_id": "plot" for child in _CHILDREN}
    hot: ClassVar[Mapping[str, Sequence[Value]]] = {"plot.variety": ("Pitmaston", "Pitmaston", "pitmaston", "Ribston")}

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """Children are dealt evenly to the plots, then a twentieth of them moves to the next plot."""
        ids = gapped_ids(dice, sizes["plot"])
        wanted = set(dice.sample(range(len(ids)), min(sizes["of_variety"], len(ids))))
        others = [variety for variety in _VARIETIES if variety != "Pitmaston"]
        plots: list[Row] = [
            (number, "Pitmaston" if place in wanted else dice.choice(others), f"{text(dice, _WORDS, 30)} {place}")
            for place, number in enumerate(ids)
        ]
        result: dict[str, Sequence[Row]] = {"plot": plots}
        for child in _CHILDREN:
            places = [
                (place + (dice.randrange(20) == 0)) % max(len(ids), 1) for place in dealt(dice, range(len(ids)), sizes[child] if ids else 0)
            ]
            result[child] = [
                (number, ids[place], dice.randrange(4, 26), text(dice, _WORDS, dice.randrange(24, 40)))
                for number, place in zip(gapped_ids(dice, len(places)), places, strict=True)
            ]
        return result


DATASET: Final = _OrchardHarvest()
