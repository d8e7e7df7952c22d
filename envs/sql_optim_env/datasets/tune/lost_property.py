"""A lost property office: kinds of things, and every thing that was handed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.tune.base import TuneDataset
from sql_optim_env.datasets.tune.draws import dealt, gapped_ids, text
from sql_optim_env.datasets.tune.edges import Row, Value

__all__ = ["DATASET"]

_KINDS: Final = ("bag", "clothing", "document", "glasses", "hearing aid", "keys", "telephone", "toy", "umbrella")
_WORDS: Final = (
    "found under a seat in the second carriage, slightly wet; brown leather with a brass clasp, initials inside; handed in by the guard; "
    "nobody asked yet; kept with the tag of the line; smells of tobacco; one strap missing; child's name sewn in"
).split()
_FROM, _TO = 2_000, 58_000


class _LostProperty(TuneDataset):
    name: ClassVar[str] = "tune_lost_property"
    ddl: ClassVar[str] = """\
CREATE TABLE kind (
    id   INTEGER PRIMARY KEY,
    name TEXT
);

CREATE TABLE item (
    id      INTEGER PRIMARY KEY,
    kind_id INTEGER,
    found   INTEGER,
    shelf   INTEGER NOT NULL,
    details TEXT NOT NULL
);
"""
    tables: ClassVar[tuple[str, ...]] = ("kind", "item")
    sizes: ClassVar[Mapping[str, int]] = {"kind": len(_KINDS), "item": 8_400, "hearing_aids": 66}
    references: ClassVar[Mapping[str, str]] = {"item.kind_id": "kind"}
    hot: ClassVar[Mapping[str, Sequence[Value]]] = {
        "kind.name": ("hearing aid", "hearing aid", "Hearing aid", "unsorted"),
        "item.found": (_FROM - 1, _FROM, 30_000, _TO - 1, _TO),
    }
    edge_seed: ClassVar[int] = 141

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """``hearing_aids`` of the items are hearing aids; the other kinds share the rest. The numbers of the kinds differ on every seed."""
        names = dealt(dice, _KINDS, sizes["kind"])
        kinds: list[Row] = list(zip(gapped_ids(dice, len(names), gap=9), names, strict=True))
        rare = [number for number, name in kinds if name == "hearing aid"]
        common = [number for number, name in kinds if name != "hearing aid"] or rare
        owners = [rare[0]] * min(sizes["hearing_aids"], sizes["item"]) if rare else []
        owners += dealt(dice, common, sizes["item"] - len(owners) if common else 0)
        dice.shuffle(owners)
        items: list[Row] = [
            (number, kind, dice.randrange(0, 60_000), dice.randrange(1, 400), text(dice, _WORDS, dice.randrange(320, 420)))
            for number, kind in zip(gapped_ids(dice, len(owners)), owners, strict=True)
        ]
        return {"kind": kinds, "item": items}


DATASET: Final = _LostProperty()
