"""A bird observatory's season: one narrow row for every sighting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.tune.base import TuneDataset
from sql_optim_env.datasets.tune.draws import dealt, gapped_ids
from sql_optim_env.datasets.tune.edges import Row, Value

__all__ = ["DATASET"]

_GENERA: Final = "Acrocephalus Calidris Emberiza Hippolais Lanius Motacilla Oenanthe Phylloscopus Sylvia Turdus".split()
_EPITHETS: Final = (
    "alba alpina aurita borealis cinerea collaris excubitor flava hispanica isabellina lapponica marina minor montana palustris pilaris "
    "rubetra rustica serena sibirica torquata trochilus vespertina viridis"
).split()


class _BirdList(TuneDataset):
    name: ClassVar[str] = "tune_bird_list"
    ddl: ClassVar[str] = """\
CREATE TABLE sighting (
    id      INTEGER PRIMARY KEY,
    day     INTEGER,
    site    INTEGER,
    species TEXT,
    birds   INTEGER
);
"""
    tables: ClassVar[tuple[str, ...]] = ("sighting",)
    sizes: ClassVar[Mapping[str, int]] = {"sighting": 14_000, "days": 92}
    hot: ClassVar[Mapping[str, Sequence[Value]]] = {"sighting.site": (1, 1, 1, 2)}

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """As many sightings on each day and at each of three sites. Most species are rare: the list still grows late in the season."""
        count = sizes["sighting"]
        kinds = [f"{genus} {epithet}" for genus in _GENERA for epithet in _EPITHETS]
        dice.shuffle(kinds)
        days, sites = dealt(dice, range(1, sizes["days"] + 1), count), dealt(dice, (1, 2, 3), count)
        sightings: list[Row] = [
            (number, day, site, kinds[int(len(kinds) * dice.random() ** 6)], dice.randrange(1, 60))
            for number, day, site in zip(gapped_ids(dice, count), days, sites, strict=True)
        ]
        return {"sighting": sightings}


DATASET: Final = _BirdList()
