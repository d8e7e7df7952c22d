"""A country vet's practice: farms, herds, and the visits to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.tune.base import TuneDataset
from sql_optim_env.datasets.tune.draws import dealt, gapped_ids, text
from sql_optim_env.datasets.tune.edges import Row, Value

__all__ = ["DATASET"]

_SPECIES: Final = ("alpaca", "cattle", "deer", "donkey", "goat", "goose", "hen", "horse", "llama", "mule", "pig", "sheep")
_WORDS: Final = (
    "lame on the near hind, foot trimmed and dressed; temperature normal; second dose due in three weeks; drench given to the whole pen; "
    "calved in the night, both well; teeth rasped; advised to keep the ram apart; blood taken for the ministry"
).split()
_ROADS: Final = (
    "over the ford and left at the lime kiln; gate sticks, lift it; not the track by the wood, it floods; dog is loud; park by the "
    "dairy; second house after the chapel; ask at the mill when nobody answers"
).split()
_MONDAY: Final = 1_717_372_800  # 2024-06-03 00:00:00 UTC
_WEEK: Final = 7 * 86_400


class _CountryVet(TuneDataset):
    name: ClassVar[str] = "tune_country_vet"
    ddl: ClassVar[str] = """\
CREATE TABLE farm (
    id         INTEGER PRIMARY KEY,
    valley     TEXT,
    directions TEXT NOT NULL
);

CREATE TABLE herd (
    id      INTEGER PRIMARY KEY,
    species TEXT,
    history TEXT NOT NULL
);

CREATE TABLE visit (
    id      INTEGER PRIMARY KEY,
    herd_id INTEGER,
    farm_id INTEGER,
    at      INTEGER,
    notes   TEXT NOT NULL
);

CREATE INDEX herd_species ON herd(species);
"""
    tables: ClassVar[tuple[str, ...]] = ("farm", "herd", "visit")
    sizes: ClassVar[Mapping[str, int]] = {"farm": 960, "herd": 1_080, "visit": 7_200, "that_week": 44, "fitting": 40}
    references: ClassVar[Mapping[str, str]] = {"visit.herd_id": "herd", "visit.farm_id": "farm"}
    hot: ClassVar[Mapping[str, Sequence[Value]]] = {
        "farm.valley": (*["upper"] * 4, "lower"),
        "herd.species": (*["goat", "sheep"] * 3, "Goat", "horse"),
        "visit.at": (_MONDAY - 1, _MONDAY, _MONDAY + 200_000, _MONDAY + 500_000, _MONDAY + _WEEK - 1, _MONDAY + _WEEK),
    }
    edge_seed: ClassVar[int] = 151

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """A sixth of all visits is to goats and sheep; ``fitting`` of those ``that_week`` are, and to farms in the upper valley."""
        farms: list[Row] = [
            (number, valley, text(dice, _ROADS, dice.randrange(260, 340)))
            for number, valley in zip(gapped_ids(dice, sizes["farm"]), dealt(dice, ("upper", "upper", "lower"), sizes["farm"]), strict=True)
        ]
        herds: list[Row] = [
            (number, species, text(dice, _WORDS, dice.randrange(260, 340)))
            for number, species in zip(gapped_ids(dice, sizes["herd"]), dealt(dice, _SPECIES, sizes["herd"]), strict=True)
        ]
        upper = [farm for farm in farms if farm[1] == "upper"] or farms
        small = [herd for herd in herds if herd[1] in ("goat", "sheep")] or herds
        count = sizes["visit"] if farms and herds else 0
        plan = (["fitting"] * sizes["fitting"] + ["then"] * (sizes["that_week"] - sizes["fitting"]))[:count]
        plan += ["before"] * (count - len(plan))
        dice.shuffle(plan)
        owners, places = dealt(dice, herds, count), dealt(dice, farms, count)
        visits: list[Row] = []
        for number, kind, herd, farm in zip(gapped_ids(dice, count), plan, owners, places, strict=True):
            at = _MONDAY - dice.randrange(1, 100 * _WEEK) if kind == "before" else _MONDAY + dice.randrange(_WEEK)
            herd, farm = (dice.choice(small), dice.choice(upper)) if kind == "fitting" else (herd, farm)
            visits.append((number, herd[0], farm[0], at, text(dice, _WORDS, dice.randrange(250, 330))))
        return {"farm": farms, "herd": herds, "visit": visits}


DATASET: Final = _CountryVet()
