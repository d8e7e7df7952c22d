"""A harbour office: every call of a vessel at a berth, most of them long over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.tune.base import TuneDataset
from sql_optim_env.datasets.tune.draws import gapped_ids, text
from sql_optim_env.datasets.tune.edges import Row, Value

__all__ = ["DATASET"]

_PAST: Final = ("cleared", "sailed", "cancelled", "diverted")
_NAMES: Final = (
    "Amity Bonaventure Cygnet Dauntless Endeavour Fulmar Guillemot Halcyon Intrepid Kestrel Lapwing Meridian Petrel Speedwell".split()
)
_WORDS: Final = (
    "two tugs ordered; pilot on board at the bar; draught nine metres, awaiting spring tide; agent asks for fresh water and a crane "
    "for the deck cargo; customs seal intact; crew change at the outer mole"
).split()
_FROM, _TO = 52_000, 52_719  # the hours that the query asks for


class _HarbourBerths(TuneDataset):
    name: ClassVar[str] = "tune_harbour_berths"
    ddl: ClassVar[str] = """\
CREATE TABLE berth_call (
    id      INTEGER PRIMARY KEY,
    status  TEXT NOT NULL,
    hour    INTEGER,
    vessel  TEXT NOT NULL,
    metres  INTEGER NOT NULL,
    remarks TEXT NOT NULL
);

CREATE INDEX berth_call_status ON berth_call(status);
"""
    tables: ClassVar[tuple[str, ...]] = ("berth_call",)
    sizes: ClassVar[Mapping[str, int]] = {"berth_call": 8_000, "moored": 540, "moored_recently": 84, "others_recently": 4}
    hot: ClassVar[Mapping[str, Sequence[Value]]] = {
        "berth_call.status": ("moored", "moored", "Moored", "sailed"),
        "berth_call.hour": (_FROM - 1, _FROM, _FROM + 300, _TO, _TO + 1),
    }

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """``sizes`` says how many calls are moored, and how many of each kind began in the hours that the query asks for."""
        count = sizes["berth_call"]
        plan = ["moored recently"] * sizes["moored_recently"] + ["moored before"] * (sizes["moored"] - sizes["moored_recently"])
        plan = (plan + ["over recently"] * sizes["others_recently"])[:count]
        plan += ["over before"] * (count - len(plan))
        dice.shuffle(plan)
        calls: list[Row] = []
        for number, kind in zip(gapped_ids(dice, count), plan, strict=True):
            state, _, when = kind.partition(" ")
            status = "moored" if state == "moored" else dice.choice(_PAST)
            hour = dice.randrange(_FROM, _TO + 1) if when == "recently" else dice.randrange(20_000, _FROM)
            remarks = text(dice, _WORDS, dice.randrange(330, 450))
            calls.append((number, status, hour, f"{dice.choice(_NAMES)} {dice.randrange(2, 60)}", dice.randrange(20, 260), remarks))
        return {"berth_call": calls}


DATASET: Final = _HarbourBerths()
