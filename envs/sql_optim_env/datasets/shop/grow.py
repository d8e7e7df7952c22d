"""Growing a small instance out of pools of values: who has how many rows, and which values stand in them.

Values are dealt from decks, so every value of a pool turns up before any turns up twice. The rows of the four tables are made so that
declared constraints hold and nothing else can be relied upon: ids have gaps and are not in time order, rows are not stored in either order,
rows repeat but for their id, sessions are shared between users, and some parents have no children.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, Generic, TypeVar

from sql_optim_env.datasets.shop.schema import EVENT_TYPES, PLANS, STATUSES, TIERS
from sql_optim_env.datasets.shop.small import Dice, Rows

__all__ = ["SESSION_IDS", "Pools", "Shape", "grow"]

T = TypeVar("T")

_DOMAINS: Final = ("mail.example", "web.example", "post.example", "office.co.example")
_MICROSECOND: Final = timedelta(microseconds=1)


SESSION_IDS: Final = (-1, 0, 1, 2, 3, 4, 5, 6) * 16 + tuple(range(100, 140))
"""Some sessions of many events, many of a single one or two."""


@dataclass(frozen=True, slots=True)
class Pools:
    """Values to deal. ``*_ids`` and ``emails`` are used once each, before fillers; the others come back."""

    user_times: tuple[datetime, ...]
    order_times: tuple[datetime, ...]
    event_times: tuple[datetime, ...]
    totals: tuple[Decimal, ...]
    prices: tuple[Decimal, ...]
    emails: tuple[str, ...]
    regions: tuple[str, ...]
    names: tuple[str, ...]
    categories: tuple[str, ...]
    user_ids: tuple[int, ...] = ()
    product_ids: tuple[int, ...] = ()
    order_ids: tuple[int, ...] = ()
    event_ids: tuple[int, ...] = ()
    session_ids: tuple[int, ...] = SESSION_IDS
    group_sizes: tuple[int, ...] = ()
    """Numbers of children that some parent must have exactly."""
    steps: tuple[timedelta, ...] = (_MICROSECOND, timedelta(minutes=30), timedelta(days=1))
    """Distances in time between rows of one owner."""
    first_times: tuple[datetime, ...] = ()
    """Times that orders and events must have before any other."""
    wanted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Texts that queries ask for, by column; a third of the rows has one of them in every such column at once."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How many rows, and how alike they are. Shares are in percent."""

    users: int
    products: int
    orders: int
    events: int
    nulls: int = 15
    repeats: int = 10
    """Rows that repeat the previous one but for the id."""
    chained: int = 25
    """Rows that follow another of the same owner at one of the pool's steps."""
    same_time: int = 10
    """Rows that share the time of another of the same owner, and nothing else."""
    childless: int = 25
    """Parents without children."""


class _Deck(Generic[T]):
    """Deals the values of a pool in a random order, and starts again when all are dealt; some may be dealt before all others."""

    def __init__(self, dice: Dice, values: Sequence[T], first: Sequence[T] = ()) -> None:
        self._dice, self._values, self._left = dice, values, dice.shuffled(first)

    def deal(self) -> T:
        if not self._left:
            self._left = self._dice.shuffled(self._values)
        return self._left.pop()


def grow(dice: Dice, pools: Pools, shape: Shape) -> Rows:
    """Make the rows of a small instance."""
    rows = Rows()
    user_ids = _ids(dice, pools.user_ids, shape.users)
    product_ids = _ids(dice, pools.product_ids, shape.products)
    _users(rows, dice, pools, shape, user_ids)
    _products(rows, dice, pools, product_ids)

    goods = _parents(dice, pools.product_ids, product_ids, shape)
    # One product that nobody asks for is dealt first and then no more: it has a single order, while the others have several.
    once = [number for number in goods if number not in pools.product_ids][: len(goods) > 1]
    products = _Deck(dice, [number for number in goods if number not in once], once)
    totals, statuses = _Deck(dice, pools.totals), _Deck(dice, STATUSES)
    owners = _owners(dice, pools, user_ids, shape.orders, shape)
    drafts: list[tuple[int, int | None, str, Decimal, datetime]] = []
    for customer, when, again in _timed(dice, owners, pools.order_times, pools, shape):
        if again:
            drafts.append(drafts[-1])
        else:
            product = None if dice.chance(shape.nulls) or not product_ids else products.deal()
            (status,) = _fit(dice, pools, status=statuses.deal())
            drafts.append((customer, product, status, totals.deal(), when))
    numbers = _ids(dice, pools.order_ids, len(drafts))
    rows.orders = [(number, *draft) for number, draft in zip(numbers, dice.shuffled(drafts), strict=True)]

    sessions, kinds = _Deck(dice, pools.session_ids), _Deck(dice, EVENT_TYPES)
    owners = _owners(dice, pools, user_ids, shape.events, shape)
    visits: list[tuple[int, int | None, str, datetime]] = []
    for user, when, again in _timed(dice, owners, pools.event_times, pools, shape):
        if again:
            visits.append(visits[-1])
        else:
            (kind,) = _fit(dice, pools, event_type=kinds.deal())
            visits.append((user, None if dice.chance(shape.nulls) else sessions.deal(), kind, when))
    numbers = _ids(dice, pools.event_ids, len(visits))
    rows.events = [(number, *visit) for number, visit in zip(numbers, dice.shuffled(visits), strict=True)]
    return rows


def _ids(dice: Dice, wanted: Iterable[int], count: int) -> list[int]:
    """``count`` different ids in no order: the wanted ones, then fillers with gaps."""
    chosen = dict.fromkeys(list(wanted)[:count])
    candidate = 0
    while len(chosen) < count:
        candidate += 1 + dice.below(3)
        chosen.setdefault(candidate)
    return dice.shuffled(list(chosen))


def _users(rows: Rows, dice: Dice, pools: Pools, shape: Shape, ids: list[int]) -> None:
    times, regions = _Deck(dice, pools.user_times), _Deck(dice, pools.regions)
    tiers, plans = _Deck(dice, TIERS), _Deck(dice, PLANS)
    emails = dice.shuffled(pools.emails)
    taken = set(emails)
    for number in ids:
        email = f"user{number}@{dice.pick(_DOMAINS)}"
        if email in taken or (emails and dice.chance(60)):
            email = emails.pop() if emails else f"user{number}@spare.example"
        taken.add(email)
        tier, region, plan = _fit(dice, pools, tier=tiers.deal(), region=regions.deal(), plan=plans.deal())
        rows.users.append((number, email, tier, None if dice.chance(shape.nulls) else region, plan, times.deal()))


def _products(rows: Rows, dice: Dice, pools: Pools, ids: list[int]) -> None:
    names, categories, prices = _Deck(dice, pools.names), _Deck(dice, pools.categories), _Deck(dice, pools.prices)
    for number in ids:
        name, category = _fit(dice, pools, name=names.deal(), category=categories.deal())
        rows.products.append((number, name, category, prices.deal()))


def _fit(dice: Dice, pools: Pools, **dealt: str) -> list[str]:
    """The dealt values, or in a third of the cases, wherever queries ask for a text, one that they ask for."""
    if not dice.chance(33):
        return list(dealt.values())
    return [dice.pick(pools.wanted[column]) if pools.wanted.get(column) else value for column, value in dealt.items()]


def _parents(dice: Dice, wanted: Sequence[int], ids: list[int], shape: Shape) -> list[int]:
    """The parents that may have children: the wanted ones always, of the others not the childless share."""
    chosen = [number for number in ids if number in wanted]
    others = [number for number in ids if number not in wanted]
    chosen += others[len(others) * shape.childless // 100 :]
    return dice.shuffled(chosen)


def _owners(dice: Dice, pools: Pools, user_ids: list[int], count: int, shape: Shape) -> list[int]:
    """The user of each of ``count`` rows: exact group sizes first, then a few single rows, then a skewed rest."""
    if not user_ids or not count:
        return []
    parents = _parents(dice, pools.user_ids, user_ids, shape)
    waiting = [number for number in parents if number not in pools.user_ids] or list(parents)
    owners: list[int] = []
    for size in (*pools.group_sizes, 1, 1, 2):
        if len(waiting) > 1 and len(owners) + size <= count * 2 // 3:
            owners += [waiting.pop()] * size
    busy = [number for number in parents if number in waiting or number in pools.user_ids] or parents
    busy.sort(key=lambda number: number not in pools.user_ids)
    while len(owners) < count:
        owners.append(busy[dice.below(1 + dice.below(len(busy)))])
    return owners


def _timed(dice: Dice, owners: list[int], times: Sequence[datetime], pools: Pools, shape: Shape) -> Iterator[tuple[int, datetime, bool]]:
    """Owner and time of each row, and whether the row repeats the one before it (only ever within one owner)."""
    deck, stride = _Deck(dice, times, pools.first_times), _Deck(dice, pools.steps)
    seen: dict[int, list[datetime]] = {}
    previous: int | None = None
    for owner in owners:
        past = seen.setdefault(owner, [])
        if owner == previous and dice.chance(shape.repeats * 2):
            yield owner, past[-1], True
            continue
        if past and dice.chance(shape.same_time):
            when = dice.pick(past)
        elif past and dice.chance(shape.chained):
            when = dice.pick(past) + stride.deal() * (1 if dice.chance(50) else -1)
        else:
            when = deck.deal()
        past.append(when)
        previous = owner
        yield owner, when, False
