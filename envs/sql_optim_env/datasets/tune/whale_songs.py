"""Songs of whales as stations in the sea record them; a station is known by its long name only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.tune.base import TuneDataset
from sql_optim_env.datasets.tune.draws import dealt, gapped_ids, text
from sql_optim_env.datasets.tune.edges import Row, Value

__all__ = ["DATASET"]

_PLACES: Final = (
    "Aurora Bank",
    "Boreas Deep",
    "Cinder Rise",
    "Dogger South",
    "Ember Trough",
    "Fulmar Ridge",
    "Gannet Hole",
    "Halcyon Slope",
    "Icefall Bay",
    "Jetsam Shoal",
    "Kittiwake Sill",
)
_STATIONS: Final = tuple(f"moored hydrophone array {at}, {place}, on the edge of the shelf" for at, place in enumerate(_PLACES, start=11))
_NOTES: Final = "uu waa grr eek moan trill rise fall click pause pulse chirp hum sweep knock".split()


class _WhaleSongs(TuneDataset):
    name: ClassVar[str] = "tune_whale_songs"
    ddl: ClassVar[str] = """\
CREATE TABLE song (
    id      INTEGER PRIMARY KEY,
    station TEXT,
    decibel INTEGER,
    phrases TEXT NOT NULL
);
"""
    tables: ClassVar[tuple[str, ...]] = ("song",)
    sizes: ClassVar[Mapping[str, int]] = {"song": 24_000, "stations": 11}
    hot: ClassVar[Mapping[str, Sequence[Value]]] = {"song.station": (*_STATIONS[:3], _STATIONS[0].upper(), "")}

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """Every station sings equally often."""
        stations = dealt(dice, _STATIONS[: max(sizes["stations"], 1)], sizes["song"])
        songs: list[Row] = [
            (number, station, dice.randrange(90, 190), text(dice, _NOTES, dice.randrange(320, 420)))
            for number, station in zip(gapped_ids(dice, len(stations)), stations, strict=True)
        ]
        return {"song": songs}


DATASET: Final = _WhaleSongs()
