"""Mutants that know the visible data: its result as constants, everywhere or only where the data is recognised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sql_optim_env.cli.mutation.mutant import Mutant

__all__ = ["PublicResult", "constants"]

_MOST_ROWS: Final = 80
_MOST_TEXT: Final = 19_000
"""Characters; a longer statement is refused for its length and would prove nothing."""


@dataclass(frozen=True, slots=True)
class PublicResult:
    """The right result on the visible data, every value as a literal of the dialect, and the rows of each table there."""

    names: Sequence[str]
    rows: Sequence[Sequence[str]]
    row_counts: Mapping[str, int]


def constants(sql: str, public: PublicResult) -> tuple[Mutant, ...]:
    """Mutants of ``sql`` that answer, wholly or in part, what is right on the visible data."""
    names = [f'"{name}"' for name in public.names]
    found = [Mutant("constant result", f"SELECT {', '.join(names)} FROM (\n{sql}\n) AS r WHERE 1 = 0")]
    for place in range(len(names)):
        values = Counter(row[place] for row in public.rows)
        if values:
            usual = values.most_common(1)[0][0]
            shown = [f"{usual} AS {name}" if k == place else name for k, name in enumerate(names)]
            found.append(Mutant("constant result", f"SELECT {', '.join(shown)} FROM (\n{sql}\n) AS r"))
    if 0 < len(public.rows) <= _MOST_ROWS:
        values_list = ", ".join(f"({', '.join(row)})" for row in public.rows)
        known = f"WITH known({', '.join(names)}) AS (VALUES {values_list})"
        found.append(Mutant("constant result", f"{known}\nSELECT * FROM known"))
        for table, count in public.row_counts.items():
            here = f"(SELECT COUNT(*) FROM {table})"
            branches = f"SELECT * FROM known WHERE {here} = {count} UNION ALL SELECT * FROM (\n{sql}\n) AS r WHERE {here} <> {count}"
            found.append(Mutant("fingerprint branch", f"{known}\n{branches}"))
    return tuple(mutant for mutant in found if len(mutant.sql) <= _MOST_TEXT)
