"""An observatory's archive of photographic plates, each with what the observer wrote beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.tune.base import TuneDataset
from sql_optim_env.datasets.tune.draws import dealt, gapped_ids, text
from sql_optim_env.datasets.tune.edges import Row, Value

__all__ = ["DATASET"]

_EMULSIONS: Final = tuple(
    f"{speed}{sensitised}" for speed in "103a IIa IIIa I IV V".split() for sensitised in "-O -J -F -D -E -G -N -B -C".split()
)
_FIELDS: Final = range(101, 161)
_WANTED: Final = ((117, "103a-O"), (117, "IIa-D"), (128, "103a-E"), (140, "IIIa-J"), (155, "IIa-O"))
_CLOCK_WAS_WRONG: Final = 7
_WORDS: Final = (
    "guided on the finder star; seeing two arcseconds, wind from the west; dome slit fogged; developed four minutes in "
    "fresh D19; a meteor crosses the lower corner; emulsion lifted at one edge; exposure stopped twice for cloud; moon "
    "rising; comparison stars marked in ink"
).split()


class _GlassPlates(TuneDataset):
    name: ClassVar[str] = "tune_glass_plates"
    ddl: ClassVar[str] = """\
CREATE TABLE plate (
    id       INTEGER PRIMARY KEY,
    field    INTEGER,
    emulsion TEXT,
    observer INTEGER,
    minutes  INTEGER NOT NULL,
    journal  TEXT NOT NULL
);
"""
    tables: ClassVar[tuple[str, ...]] = ("plate",)
    sizes: ClassVar[Mapping[str, int]] = {"plate": 25_000, "wanted": 10}
    hot: ClassVar[Mapping[str, Sequence[Value]]] = {
        "plate.field": (117, 117, 128, 140, 155, 156),
        "plate.emulsion": ("103a-O", "103A-O", "IIa-D", "103a-E", "IIIa-J", "IIa-O"),
        "plate.observer": (_CLOCK_WAS_WRONG, 8),
    }

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """Fields and emulsions are dealt evenly; of every wanted pair there are as many plates as ``sizes`` says, one by observer 7."""
        count, wanted = sizes["plate"], sizes["wanted"]
        pairs = [pair for pair in _WANTED for _ in range(wanted)][:count]
        observers = [_CLOCK_WAS_WRONG if place % max(wanted, 1) == 0 else dice.randrange(8, 21) for place in range(len(pairs))]
        fields, emulsions = dealt(dice, _FIELDS, count - len(pairs)), dealt(dice, _EMULSIONS, count - len(pairs))
        for field, emulsion in zip(fields, emulsions, strict=True):
            pairs.append((field + 1 if (field, emulsion) in _WANTED else field, emulsion))
            observers.append(dice.randrange(1, 21))
        order = list(range(count))
        dice.shuffle(order)
        plates: list[Row] = [
            (number, *pairs[at], observers[at], dice.randrange(5, 180), text(dice, _WORDS, dice.randrange(290, 390)))
            for number, at in zip(gapped_ids(dice, count), order, strict=True)
        ]
        return {"plate": plates}


DATASET: Final = _GlassPlates()
