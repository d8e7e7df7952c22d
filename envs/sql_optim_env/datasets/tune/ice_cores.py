"""Sections of an ice core: the scan of each comes first in its row, and what was read off it stands behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.tune.base import TuneDataset
from sql_optim_env.datasets.tune.draws import dealt, gapped_ids
from sql_optim_env.datasets.tune.edges import Row, Value

__all__ = ["DATASET"]

_CHAIN: Final = 4_092  # bytes of a value that an overflow page holds


class _IceCores(TuneDataset):
    name: ClassVar[str] = "tune_ice_cores"
    ddl: ClassVar[str] = """\
CREATE TABLE section (
    id    INTEGER PRIMARY KEY,
    scan  BLOB NOT NULL,
    depth INTEGER,
    ash   INTEGER
);
"""
    tables: ClassVar[tuple[str, ...]] = ("section",)
    sizes: ClassVar[Mapping[str, int]] = {"section": 840, "ashy": 150}
    hot: ClassVar[Mapping[str, Sequence[Value]]] = {"section.ash": (29, 30, 30, 31, 90), "section.depth": (5_000, 5_001, 5_002)}
    edge_seed: ClassVar[int] = 131

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """Scans of 8 to 9 kB, each on two overflow pages; more than one in six holds a layer of ash. Ids say nothing of depths."""
        count = sizes["section"]
        ash = [dice.randrange(30, 100) for _ in range(min(sizes["ashy"], count))]
        ash += dealt(dice, range(2, 30), count - len(ash))
        dice.shuffle(ash)
        size = 2 * _CHAIN if count > 200 else 40
        sections: list[Row] = [
            (number, dice.randbytes(size + dice.randrange(200, 480)), dice.randrange(2, 310_000), share)
            for number, share in zip(gapped_ids(dice, count), ash, strict=True)
        ]
        return {"section": sections}


DATASET: Final = _IceCores()
