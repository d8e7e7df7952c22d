"""Guest books of mountain huts (the number of an entry is the minute in which it was signed), and evenings that a search asks about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.tune.base import TuneDataset
from sql_optim_env.datasets.tune.draws import gapped_ids, text
from sql_optim_env.datasets.tune.edges import Row, Value

__all__ = ["DATASET"]

_VALLEY: Final = 7
_SHARES: Final = (70, 80, 88, 94, 98)  # percent of the entries that are signed before an evening
_PEAKS: Final = (
    "Adler Birk Dachs Eisen Falken Geier Hoch Joch Kessel Lerchen Mittag Nebel Ochsen Pfaffen Roten Schnee Tauben Wilden Zinnen".split()
)
_WORDS: Final = (
    "up by the ridge in thick fog, heard the bells before we saw the roof; soup and a dry bunk; wind from the north all "
    "night; two of us turn back, the others try the saddle; snow soft after nine; the spring is frozen; left a rope for "
    "whoever needs it; thanks to the warden and her dog"
).split()


class _MountainHuts(TuneDataset):
    name: ClassVar[str] = "tune_mountain_huts"
    ddl: ClassVar[str] = """\
CREATE TABLE hut (
    id     INTEGER PRIMARY KEY,
    valley INTEGER,
    name   TEXT NOT NULL,
    access TEXT NOT NULL
);

CREATE TABLE evening (
    id     INTEGER PRIMARY KEY,
    minute INTEGER
);

CREATE TABLE entry (
    id      INTEGER PRIMARY KEY,
    hut_id  INTEGER,
    party   INTEGER,
    message TEXT NOT NULL
);
"""
    tables: ClassVar[tuple[str, ...]] = ("hut", "evening", "entry")
    sizes: ClassVar[Mapping[str, int]] = {"hut": 400, "of_valley": 9, "evening": 5, "entry": 26_000}
    references: ClassVar[Mapping[str, str]] = {"entry.hut_id": "hut"}
    hot: ClassVar[Mapping[str, Sequence[Value]]] = {"hut.valley": (_VALLEY, _VALLEY, _VALLEY + 1), "evening.minute": (0, 30, 60, 90, 91)}
    edge_seed: ClassVar[int] = 151

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """Huts draw about equally many parties; an evening is the minute of one of the later entries."""
        ids = gapped_ids(dice, sizes["hut"])
        wanted = set(dice.sample(ids, min(sizes["of_valley"], len(ids))))
        huts: list[Row] = [
            (
                number,
                _VALLEY if number in wanted else dice.choice([valley for valley in range(1, 50) if valley != _VALLEY]),
                f"{dice.choice(_PEAKS)}hütte {number}",
                text(dice, _WORDS, dice.randrange(850, 990)),
            )
            for number in ids
        ]
        entries: list[Row] = [
            (number, dice.choice(ids), dice.randrange(1, 9), text(dice, _WORDS, dice.randrange(300, 400)))
            for number in gapped_ids(dice, sizes["entry"] if ids else 0, gap=8)
        ]
        signed = [number for number, *_ in entries]
        minutes = [signed[len(signed) * share // 100] for share in _SHARES[: sizes["evening"]]] if signed else []
        evenings: list[Row] = list(zip(gapped_ids(dice, len(minutes)), minutes, strict=True))
        return {"hut": huts, "evening": evenings, "entry": entries}


DATASET: Final = _MountainHuts()
