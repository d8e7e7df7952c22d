"""A collection of meteorites: specimens, the falls that they come from, the countries, and those who found them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.tune.base import TuneDataset
from sql_optim_env.datasets.tune.draws import gapped_ids, text
from sql_optim_env.datasets.tune.edges import Row

__all__ = ["DATASET"]

_SYLLABLES: Final = "al bar cho dun el for gran hol im jor kal lun mor nes or pul quen rad sal tor ur ves wen yal zag".split()
_WORDS: Final = (
    "fusion crust complete, flow lines on the leading face; cut and polished on one side, bands at sixty degrees; "
    "chondrules up to two millimetres; rust along a crack, kept over silica gel; struck a barn roof in daylight and was "
    "warm when picked up; found by plough, taken for slag; matrix dark, metal grains bright; half of it went to another "
    "museum in exchange"
).split()


def _name(dice: Random) -> str:
    return "".join(dice.choice(_SYLLABLES) for _ in range(3)).capitalize()


class _Meteorites(TuneDataset):
    name: ClassVar[str] = "tune_meteorites"
    ddl: ClassVar[str] = """\
CREATE TABLE country (
    id      INTEGER PRIMARY KEY,
    name    TEXT NOT NULL,
    customs TEXT NOT NULL
);

CREATE TABLE fall (
    id         INTEGER PRIMARY KEY,
    country_id INTEGER,
    name       TEXT NOT NULL,
    account    TEXT NOT NULL
);

CREATE TABLE finder (
    id    INTEGER PRIMARY KEY,
    name  TEXT NOT NULL,
    terms TEXT NOT NULL
);

CREATE TABLE specimen (
    id        INTEGER PRIMARY KEY,
    fall_id   INTEGER,
    finder_id INTEGER,
    grams     INTEGER,
    label     TEXT NOT NULL
);
"""
    tables: ClassVar[tuple[str, ...]] = ("country", "fall", "finder", "specimen")
    sizes: ClassVar[Mapping[str, int]] = {"country": 120, "fall": 900, "finder": 1_100, "specimen": 3_100}
    references: ClassVar[Mapping[str, str]] = {"fall.country_id": "country", "specimen.fall_id": "fall", "specimen.finder_id": "finder"}
    hot: ClassVar[Mapping[str, Sequence[int]]] = {"specimen.grams": (400, 401, 402, 400)}

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """Weights are small numbers, so that many specimens share one; each specimen has a fall, a finder and a country."""
        countries: list[Row] = [(number, _name(dice), text(dice, _WORDS, 500)) for number in gapped_ids(dice, sizes["country"])]
        falls: list[Row] = [
            (number, dice.choice(countries)[0], _name(dice), text(dice, _WORDS, dice.randrange(900, 1_100)))
            for number in gapped_ids(dice, sizes["fall"] if countries else 0)
        ]
        finders: list[Row] = [
            (number, f"{_name(dice)} {_name(dice)}", text(dice, _WORDS, dice.randrange(600, 700)))
            for number in gapped_ids(dice, sizes["finder"])
        ]
        specimens: list[Row] = [
            (
                number,
                dice.choice(falls)[0],
                dice.choice(finders)[0],
                dice.randrange(20, 1_200),
                text(dice, _WORDS, dice.randrange(800, 1_000)),
            )
            for number in gapped_ids(dice, sizes["specimen"] if falls and finders else 0)
        ]
        return {"country": countries, "fall": falls, "finder": finders, "specimen": specimens}


DATASET: Final = _Meteorites()
