"""The box office of several theatres: halls, and in a table each tickets sold, refunds paid and complaints received."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.tune.base import TuneDataset
from sql_optim_env.datasets.tune.draws import gapped_ids, text
from sql_optim_env.datasets.tune.edges import Row, Value

__all__ = ["DATASET"]

_HALLS: Final = "Arcade Basilica Casino Drapers Empire Forum Gaiety Hippodrome Institute Jubilee Kursaal Lyceum".split()
_WORDS: Final = (
    "row H seats together please; paid by cheque; a pillar in the way; the interval drinks were warm; understudy played; sent by post to "
    "the usual address; the heating failed; asks for the same week next year; gift for a colleague"
).split()
_DAY: Final = 1_709_596_800  # 2024-03-05 00:00:00 UTC
_SPAN: Final = 120  # days of business, the day in question in the middle


class _TicketOffice(TuneDataset):
    name: ClassVar[str] = "tune_ticket_office"
    ddl: ClassVar[str] = """\
CREATE TABLE hall (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL
);

CREATE TABLE sale (
    id      INTEGER PRIMARY KEY,
    hall_id INTEGER,
    sold_at INTEGER,
    pence   INTEGER,
    wishes  TEXT NOT NULL
);

CREATE TABLE refund (
    id      INTEGER PRIMARY KEY,
    hall_id INTEGER,
    paid_at INTEGER,
    pence   INTEGER,
    reason  TEXT NOT NULL
);

CREATE TABLE complaint (
    id       INTEGER PRIMARY KEY,
    hall_id  INTEGER,
    received INTEGER,
    letter   TEXT NOT NULL
);
"""
    tables: ClassVar[tuple[str, ...]] = ("hall", "sale", "refund", "complaint")
    sizes: ClassVar[Mapping[str, int]] = {
        "hall": len(_HALLS),
        "sale": 9_000,
        "sales_that_day": 52,
        "refund": 3_200,
        "refunds_that_day": 20,
        "complaint": 1_100,
        "complaints_that_day": 8,
    }
    references: ClassVar[Mapping[str, str]] = {"sale.hall_id": "hall", "refund.hall_id": "hall", "complaint.hall_id": "hall"}
    hot: ClassVar[Mapping[str, Sequence[Value]]] = dict.fromkeys(
        ("sale.sold_at", "refund.paid_at", "complaint.received"), (_DAY - 1, _DAY, _DAY + 40_000, _DAY + 86_399, _DAY + 86_400)
    )

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """As many rows a table fall on the day in question as ``sizes`` says, on every seed."""
        ids = gapped_ids(dice, sizes["hall"])

        def rows(table: str, low: int, high: int, *, priced: bool) -> list[Row]:
            count = sizes[table] if ids else 0
            days = [0] * min(sizes[f"{table}s_that_day"], count)
            days += [dice.choice((-1, 1)) * dice.randrange(1, _SPAN // 2) for _ in range(count - len(days))]
            dice.shuffle(days)
            return [
                (
                    number,
                    dice.choice(ids),
                    _DAY + day * 86_400 + dice.randrange(86_400),
                    *((dice.randrange(4, 90) * 50,) if priced else ()),
                    text(dice, _WORDS, dice.randrange(low, high)),
                )
                for number, day in zip(gapped_ids(dice, count), days, strict=True)
            ]

        return {
            "hall": list(zip(ids, _HALLS, strict=False)),
            "sale": rows("sale", 190, 290, priced=True),
            "refund": rows("refund", 230, 330, priced=True),
            "complaint": rows("complaint", 600, 900, priced=False),
        }


DATASET: Final = _TicketOffice()
