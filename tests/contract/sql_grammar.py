"""A seeded grammar of SQL: mostly valid statements over given tables, some of them hostile, some of them broken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

_AGGREGATES = (
    *("count", "min", "max", "count(DISTINCT") * 3,
    "sum",
    "avg",
    "group_concat",
    "string_agg",
    "median",
    "total",
    "stddev",
    "list",
)
_PLAIN = {
    "abs": 1,
    "length": 1,
    "upper": 1,
    "lower": 1,
    "coalesce": 2,
    "nullif": 2,
    "round": 1,
    "substr": 3,
    "trim": 1,
    "replace": 3,
    "hex": 1,
}
"""Functions of both engines that take anything, with their number of arguments."""
_ODD = (
    "date strftime date_trunc year list_value regexp_matches repeat lpad range unnest random now current_setting read_text getenv sign "
    "load_extension zeroblob sqlite_version json_extract md5 hash levenshtein generate_series to_json printf instr typeof concat"
).split()
_OPERATORS = (
    "+",
    "-",
    "*",
    "/",
    "%",
    "||",
    "=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "AND",
    "OR",
    "IS",
    "IS NOT",
    "LIKE",
    "IS DISTINCT FROM",
    "//",
    "<<",
)
_LITERALS = ("0", "1", "-1", "2", "0.1", "''", "'x'", "'2024-02-29'", "NULL")
_ODD_LITERALS = (
    "9223372036854775807", "-9223372036854775808", "1e308", "1e-320", "TRUE", "'é\u202e名'", "DATE '2024-02-29'", "INTERVAL 1 MONTH",
    "TIMESTAMP '2024-12-31 23:59:59'", "x'00ff'", "[1, 2]", "{'a': 1}", "'%'", "'a''b'",
)  # fmt: skip
_TYPES = ("INTEGER", "VARCHAR", "DOUBLE", "DECIMAL(10,2)", "DATE", "TIMESTAMP", "BLOB", "TEXT", "REAL", "HUGEINT")
_JOINS = (
    *(", ", " JOIN ", " JOIN ", " LEFT JOIN ", " LEFT JOIN ", " CROSS JOIN ") * 2,
    " FULL JOIN ",
    " NATURAL JOIN ",
    " SEMI JOIN ",
    " ASOF JOIN ",
)
_SETS = (" UNION ", " UNION ALL ", " INTERSECT ", " EXCEPT ", " EXCEPT ALL ")
_OTHER = (
    "DROP TABLE {t}", "DELETE FROM {t}", "UPDATE {t} SET {c} = 1", "INSERT INTO {t} DEFAULT VALUES", "ATTACH 'x' AS y", "VACUUM",
    "BEGIN", "PRAGMA database_list", "COPY {t} TO 'x'", "EXPLAIN SELECT * FROM {t}", "CALL pragma_version()", "SELECT 1; SELECT 2",
    "CREATE TABLE z AS SELECT * FROM {t}", "SELECT * FROM read_csv('x')", "SELECT * FROM sqlite_schema", "SELECT * FROM duckdb_tables()",
    "DESCRIBE {t}", "WITH d AS (DELETE FROM {t} RETURNING *) SELECT * FROM d", "SELECT * FROM {t} USING SAMPLE 3", "FROM {t}", "TABLE {t}",
    "PIVOT {t} ON {c} USING count(*)", "SELECT ?", "SELECT $1", "", ";", "--", "/*", "SELECT '", "SELECT \x00", "VALUES (1), (2)",
)  # fmt: skip


class Grammar:
    """Writes statements. The same seed writes the same ones."""

    def __init__(self, seed: int, tables: Mapping[str, Sequence[str]]) -> None:
        self._dice = Random(seed)
        self._tables = {name: tuple(columns) for name, columns in tables.items()}
        self._aliases: list[tuple[str, tuple[str, ...]]] = []

    def statement(self) -> str:
        """One statement."""
        dice = self._dice
        kind = dice.random()
        if kind < 0.08:
            table = dice.choice(sorted(self._tables))
            return dice.choice(_OTHER).format(t=table, c=dice.choice(self._tables[table]))
        text = self._query(3)
        if kind < 0.16:
            return self._broken(text)
        return text

    def _broken(self, text: str) -> str:
        """The text with a piece lost, doubled, or put in another place."""
        dice = self._dice
        words = text.split(" ")
        place, other = dice.randrange(len(words)), dice.randrange(len(words))
        change = dice.randrange(4)
        if change == 0:
            del words[place]
        elif change == 1:
            words.insert(other, words[place])
        elif change == 2:
            words[place], words[other] = words[other], words[place]
        else:
            words.insert(place, dice.choice((")", "(", ",", "'", '"', ";", "--", "/*", "SELECT", "\u2028", "🦆")))
        return " ".join(words)

    def _query(self, depth: int) -> str:
        dice = self._dice
        if depth > 0 and dice.random() < 0.15:
            operands = [f"SELECT * FROM ({self._query(depth - 1)})" for _ in range(2)]
            return dice.choice(_SETS).join(operands)
        outer = self._aliases
        self._aliases = []
        ctes = ""
        if depth > 1 and dice.random() < 0.2:
            recursive = dice.random() < 0.15
            body = "SELECT 1 AS n UNION ALL SELECT n + 1 FROM w WHERE n < 9" if recursive else self._query(depth - 2)
            ctes = f"WITH {'RECURSIVE ' if recursive else ''}w AS ({body}) "
        source = self._source(depth)
        self._aliases = [*self._aliases, *outer]
        grouped = dice.random() < 0.3
        keys = [self._column() for _ in range(dice.randrange(1, 3))]
        items = [*keys, self._aggregate(depth)] if grouped else [self._expression(depth) for _ in range(dice.randrange(1, 4))]
        if not grouped and dice.random() < 0.2:
            items = ["*"]
        distinct = "DISTINCT " if dice.random() < 0.15 else ""
        names = ", ".join(f"{item} AS c{place}" if item != "*" and dice.random() < 0.7 else item for place, item in enumerate(items))
        where = f" WHERE {self._expression(depth)}" if dice.random() < 0.5 else ""
        group = f" GROUP BY {', '.join(keys)}" if grouped else ""
        having = f" HAVING {self._aggregate(depth)} > 1" if grouped and dice.random() < 0.3 else ""
        order = f" ORDER BY {dice.choice(('1', self._column(), '2 DESC NULLS LAST'))}" if dice.random() < 0.2 else ""
        limit = f" LIMIT {dice.choice((0, 1, 10, 1_000_000))}" if dice.random() < 0.3 else ""
        self._aliases = outer
        return f"{ctes}SELECT {distinct}{names} FROM {source}{where}{group}{having}{order}{limit}"

    def _source(self, depth: int) -> str:
        dice = self._dice
        text = self._relation(depth)
        for _ in range(dice.choice((0, 0, 0, 1, 1, 2))):
            join = dice.choice(_JOINS)
            text += join + self._relation(depth)
            if "JOIN" in join and "CROSS" not in join and "NATURAL" not in join:
                text += f" ON {self._column()} {dice.choice(('=', '<', '>='))} {self._column()}"
        return text

    def _relation(self, depth: int) -> str:
        dice = self._dice
        alias = f"t{dice.randrange(100)}"
        if depth > 0 and dice.random() < 0.15:
            text = f"({self._query(depth - 1)}) AS {alias}"
            self._aliases.append((alias, ("c0", "c1")))
            return text
        table = dice.choice(sorted(self._tables))
        self._aliases.append((alias, self._tables[table]))
        return f"{table} AS {alias}"

    def _column(self) -> str:
        if not self._aliases:
            return "1"
        alias, columns = self._dice.choice(self._aliases)
        return f"{alias}.{self._dice.choice(columns)}"

    def _aggregate(self, depth: int) -> str:
        dice = self._dice
        name = dice.choice(_AGGREGATES)
        if name == "count" and dice.random() < 0.5:
            return "count(*)"
        opening = name if "(" in name else f"{name}("
        separator = ", ','" if name in ("group_concat", "string_agg") else ""
        over = " OVER (PARTITION BY 1)" if dice.random() < 0.1 else ""
        return f"{opening} {self._expression(depth - 1)}{separator}){over}"

    def _expression(self, depth: int) -> str:
        dice = self._dice
        kind = dice.random()
        if depth <= 0 or kind < 0.35:
            return self._column() if dice.random() < 0.6 else dice.choice(_LITERALS if dice.random() < 0.85 else _ODD_LITERALS)
        if kind < 0.6:
            return f"({self._expression(depth - 1)} {dice.choice(_OPERATORS)} {self._expression(depth - 1)})"
        if kind < 0.72:
            odd = dice.random() < 0.2
            name = dice.choice(_ODD) if odd else dice.choice(sorted(_PLAIN))
            arguments = ", ".join(self._expression(depth - 1) for _ in range(dice.randrange(0, 4) if odd else _PLAIN[name]))
            return f"{name}({arguments})"
        if kind < 0.78:
            return f"CAST({self._expression(depth - 1)} AS {dice.choice(_TYPES)})"
        if kind < 0.84:
            return f"CASE WHEN {self._expression(depth - 1)} THEN {self._expression(depth - 1)} ELSE {self._expression(depth - 1)} END"
        if kind < 0.9:
            return f"{dice.choice(('', 'NOT '))}EXISTS ({self._query(depth - 1)})"
        if kind < 0.94:
            return (
                f"({self._expression(depth - 1)} {dice.choice(('IN', 'NOT IN'))} ({dice.choice(_LITERALS)}, {self._expression(depth - 1)}))"
            )
        if kind < 0.97:
            window = f"PARTITION BY {self._column()} ORDER BY {self._column()}"
            return f"{dice.choice(('row_number', 'rank', 'lag', 'sum', 'count'))}({self._column()}) OVER ({window})"
        return f"(SELECT count(*) FROM ({self._query(depth - 1)}))"
