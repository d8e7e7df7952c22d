"""The tables of the shop: the DDL that is executed, shown and relied upon."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sql_optim_env.datasets.dataset import ddl_with_counts

__all__ = ["DDL", "DOMAINS", "EVENT_TYPES", "PLANS", "STATUSES", "TABLES", "TIERS", "TIME_COLUMNS", "schema_info"]

TABLES: Final = ("users", "products", "orders", "events")

TIERS: Final = ("free", "silver", "gold", "platinum")
PLANS: Final = ("none", "trial", "monthly", "annual")
STATUSES: Final = ("pending", "paid", "shipped", "delivered", "cancelled", "returned")
EVENT_TYPES: Final = ("view", "search", "cart", "checkout", "purchase", "login", "logout")
DOMAINS: Final = {"tier": TIERS, "plan": PLANS, "status": STATUSES, "event_type": EVENT_TYPES}
"""The values that a CHECK allows, by column."""

TIME_COLUMNS: Final = (("users", "created_at"), ("orders", "created_at"), ("events", "occurred_at"))


def _domain(column: str, values: tuple[str, ...]) -> str:
    return f"CHECK ({column} IN ({', '.join(repr(value) for value in values)}))"


_CREATE: Final = {
    "users": f"""\
CREATE TABLE users (
    id         INTEGER PRIMARY KEY,
    email      VARCHAR NOT NULL UNIQUE CHECK (email = lower(email)),
    tier       VARCHAR NOT NULL {_domain("tier", TIERS)},
    region     VARCHAR,
    plan       VARCHAR NOT NULL {_domain("plan", PLANS)},
    created_at TIMESTAMP NOT NULL
);""",
    "products": """\
CREATE TABLE products (
    id       INTEGER PRIMARY KEY,
    name     VARCHAR NOT NULL,
    category VARCHAR NOT NULL,
    price    DECIMAL(10,2) NOT NULL CHECK (price >= 0)
);""",
    "orders": f"""\
CREATE TABLE orders (
    id          INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES users (id),
    product_id  INTEGER REFERENCES products (id),
    status      VARCHAR NOT NULL {_domain("status", STATUSES)},
    total       DECIMAL(10,2) NOT NULL,
    created_at  TIMESTAMP NOT NULL
);""",
    "events": f"""\
CREATE TABLE events (
    id          INTEGER PRIMARY KEY,
    user_id     INTEGER NOT NULL REFERENCES users (id),
    session_id  INTEGER,
    event_type  VARCHAR NOT NULL {_domain("event_type", EVENT_TYPES)},
    occurred_at TIMESTAMP NOT NULL
);""",
}

DDL: Final = "\n\n".join(_CREATE[table] for table in TABLES) + "\n"


def schema_info(row_counts: Mapping[str, int]) -> str:
    """The DDL with ``-- N rows`` above each table; a table that is not in ``row_counts`` gets no comment."""
    return ddl_with_counts((_CREATE[table] for table in TABLES), row_counts)
