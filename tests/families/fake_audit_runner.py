"""A runner that knows what a few texts read and repair, and needs no engine."""

from __future__ import annotations

from families.fake_tune_runner import FakeTuneRunner, trouble
from grading.audit_samples import (
    ACCEPTABLE,
    COLUMN,
    DANGEROUS,
    ELSEWHERE,
    GONE,
    NO_FIX,
    NOTHING,
    PEEK,
    ROWS,
    SCHEMA,
    STRUCTURE,
    VERSION,
    evidence,
    facts,
)
from sql_optim_env.engines.base import Column
from sql_optim_env.errors import AgentError, ErrorCode
from sql_optim_env.grading.audit_evidence import (
    AuditBrief,
    AuditEvidence,
    ColumnFacts,
    FixResult,
    Look,
    Reads,
    Shown,
    TableChange,
    TableSample,
)
from sql_optim_env.grading.evidence import JsonValue
from sql_optim_env.tasks.task import Task

_READS = {"STRUCTURE": STRUCTURE, "COLUMN": COLUMN, "CHECK": COLUMN, "PEEK": PEEK}
_REPAIRS = {"REFERENCE": {}, "NEARLY": ACCEPTABLE, "HALF": DANGEROUS, "DROP": GONE}


class FakeAuditRunner(FakeTuneRunner):
    """Knows STRUCTURE, COLUMN, CHECK, PEEK (other texts read what is not defective), NEW (runs on the repaired copy alone); the fixes
    REFERENCE, VISIBLE (perfect on the public data alone), NEARLY, HALF, DROP, HANGS (ends its worker when it is graded), while others do
    nothing; REFUSED, SLOW (timeout) and BROKEN (our fault) anywhere.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str | int | None, ...]] = []
        self.values: tuple[tuple[JsonValue, ...], ...] = ((1, "a"), (2, None))
        self.columns = (Column("id", "INTEGER"), Column("order_ref", "TEXT"))

    def audit_open(self, task: Task, seed: int | None) -> AuditBrief:
        self.asked.append(("open", seed))
        samples = [TableSample(table, columns, ((1, "x" * 300, None),), ROWS) for table, columns in SCHEMA.items()]
        return AuditBrief("-- 320 rows\nCREATE TABLE payment (id INTEGER);\n", tuple(samples))

    def audit_query(self, task: Task, seed: int | None, sql: str, fix: str) -> Look:
        self._ask("query", seed, sql, fix)
        return self._look(sql, fix)

    def audit_profile(self, task: Task, seed: int | None, table: str, column: str, fix: str) -> tuple[ColumnFacts, Look]:
        self._ask("profile", seed, table, column, fix)
        if column == "made" and fix == "REFERENCE":
            made = ColumnFacts(table, column, "", 0, 0, 0, None, None, ())
            return made, Look(Shown((), (), 0, False), ELSEWHERE, "SELECT made", self._shown(1), broken_error="no such column: made")
        if column not in SCHEMA.get(table, ()):
            raise AgentError(ErrorCode.BINDING_ERROR, f"no such column: {column}")
        found = ColumnFacts(table, column, "TEXT", ROWS, 40, 160, "a", "b" * 2_000, (("NULL", 40), ("TEXT", 280)))
        look = self._look("COLUMN", fix)
        return found, Look(look.shown, Reads(frozenset({(table, column)}), frozenset(), 9_000), f"SELECT {column}", look.repaired)

    def audit_fix(self, task: Task, seed: int | None, script: str) -> FixResult:
        self._ask("fix", seed, script)
        changes = (
            TableChange("payment", 320, 160, 0, 160),
            TableChange("extra", None, 3, 3, 0),
            TableChange("customer", 200, None, 0, 200),
        )
        shown = self._shown(160) if "SELECT" in script else None
        return FixResult(changes, facts(mended=77), 2, shown)

    def audit_grade(self, task: Task, seed: int | None, fix: str, checks: tuple[str, ...]) -> AuditEvidence:
        self._ask("grade", seed, fix, *checks)
        if not fix:
            return NO_FIX
        if fix == "HANGS":
            raise AgentError(ErrorCode.TIMEOUT, "stopped after 10 s.")
        base = _REPAIRS.get(fix, {} if fix == "VISIBLE" else NOTHING)
        found = evidence(base=base, elsewhere=NOTHING if fix == "VISIBLE" else base)
        return AuditEvidence(found.facts, tuple(sql in ("CHECK", "NEW") for sql in checks), ROWS, VERSION)

    def _ask(self, kind: str, seed: int | None, *texts: str) -> None:
        self.asked.append((kind, seed, *texts))
        for text in texts[:1]:
            trouble(text)
            if text == "REFUSED":
                raise AgentError(ErrorCode.REFUSED_SYNTAX, "not admitted.")
            if text == "NEW" and not texts[1:] == ("REFERENCE",) and kind == "query":
                raise AgentError(ErrorCode.BINDING_ERROR, "no such table: ledger")

    def _look(self, sql: str, fix: str) -> Look:
        seen = _READS.get(sql, ELSEWHERE)
        if sql == "NEW":
            return Look(Shown((), (), 0, False), COLUMN, sql, self._shown(160), broken_error="no such table: ledger")
        if fix == "DROP":
            return Look(self._shown(320), seen, sql, repaired_error="no such table: payment")
        return Look(self._shown(320), seen, sql, self._shown(160) if fix else None)

    def _shown(self, count: int) -> Shown:
        return Shown(self.columns, self.values, count, truncated=count > len(self.values))
