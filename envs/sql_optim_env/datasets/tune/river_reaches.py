"""A river survey: every reach flows into the next one, and some are shut by a weir that no fish passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.tune.base import TuneDataset
from sql_optim_env.datasets.tune.draws import gapped_ids, text
from sql_optim_env.datasets.tune.edges import Row, Value

__all__ = ["DATASET"]

_MOUTH: Final = 12
_NAMES: Final = (
    "Alder Brook Chalk Dipper Eel Ferny Gravel Heron Iron Juniper Kestrel Lamprey Marl Otter Pike Quarry Rushy Sallow Trout Upper".split()
)
_WORDS: Final = (
    "bed of coarse gravel with redds in the tail of every pool; banks undercut and shaded by alder; silt from the maize "
    "fields above; a ford for cattle, poached on both sides; water crowfoot to a third of the width; kick sample rich in "
    "mayfly and cased caddis; two parr of last year; outfall of the old mill, dry; flow braided round an island of willow"
).split()
_DEEPEST: Final = 5


class _RiverReaches(TuneDataset):
    name: ClassVar[str] = "tune_river_reaches"
    ddl: ClassVar[str] = """\
CREATE TABLE reach (
    id            INTEGER PRIMARY KEY,
    downstream_id INTEGER,
    name          TEXT NOT NULL,
    shut          INTEGER,
    survey        TEXT NOT NULL
);
"""
    tables: ClassVar[tuple[str, ...]] = ("reach",)
    sizes: ClassVar[Mapping[str, int]] = {"reach": 710, "open": 100, "weirs": 22, "behind": 50}
    references: ClassVar[Mapping[str, str]] = {"reach.downstream_id": "reach"}
    hot: ClassVar[Mapping[str, Sequence[Value]]] = {"reach.downstream_id": (_MOUTH, _MOUTH, _MOUTH + 1), "reach.shut": (0, 0, 0, 1, 2, 2)}
    edge_seed: ClassVar[int] = 221

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """The river of the mouth has as many open reaches, weirs and reaches behind weirs as ``sizes`` says; the others grow at random."""
        count = sizes["reach"]
        ids = [_MOUTH, *(number for number in gapped_ids(dice, count) if number != _MOUTH)][:count]
        rest = ids[1:]
        dice.shuffle(rest)
        flows: dict[int, tuple[int | None, int]] = {number: (None, 0) for number in ids[:1]}
        depth = dict.fromkeys(ids[:1], 0)

        def add(below: Sequence[int], shut: int) -> int:
            number, into = rest.pop(), dice.choice([one for one in below if depth[one] < _DEEPEST])
            flows[number], depth[number] = (into, shut), depth[into] + 1
            return number

        river, weirs = ids[:1], list[int]()
        for _ in range(min(sizes["open"] - 1, len(rest))):
            river.append(add(river, 0))
        for _ in range(min(sizes["weirs"], len(rest))):
            weirs.append(add([one for one in river if depth[one] < _DEEPEST - 1], 1))
        behind = list(weirs)
        for _ in range(min(sizes["behind"], len(rest) if weirs else 0)):
            behind.append(add(behind, 0))
        others: list[int] = []
        while rest:
            if len(others) < 14:
                others.append(rest.pop())
                flows[others[-1]], depth[others[-1]] = (None, 0), 0
            else:
                others.append(add(others, int(dice.randrange(12) == 0)))
        reaches: list[Row] = [
            (
                number,
                flows[number][0],
                f"{dice.choice(_NAMES)} {dice.choice(_NAMES)}",
                flows[number][1],
                text(dice, _WORDS, dice.randrange(1_780, 1_960)),
            )
            for number in sorted(flows)
        ]
        return {"reach": reaches}


DATASET: Final = _RiverReaches()
