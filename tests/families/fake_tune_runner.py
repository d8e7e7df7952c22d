"""A runner that knows the pages of a few texts and needs no engine; its scratch copies remember what they were asked."""

from __future__ import annotations

from families.fake_runner import FakeRunner
from grading.tune_samples import WRONG_ROWS, refused, tune_evidence, tune_measurement, tuned
from sql_optim_env.engines.base import Column
from sql_optim_env.errors import AgentError, ErrorCode, InfraError
from sql_optim_env.grading.evidence import ExplainResult
from sql_optim_env.grading.tune_evidence import ScratchResult, TuneEvidence
from sql_optim_env.tasks.task import Task

_PAGES = {"REFERENCE": 100, "HALF": 316}


class FakeScratch:
    """Changes with every statement that begins with CREATE."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.closed = 0
        self.rows: tuple[tuple[int | str, ...], ...] = ((1,), (2,))

    def query(self, sql: str) -> ScratchResult:
        self._note("query", sql)
        changed = sql.startswith("CREATE")
        return ScratchResult((Column("n", "INTEGER"),), self.rows, 120, True, _PAGES.get(sql, 777), 4_321, changed, 2.5)

    def explain(self, sql: str) -> ExplainResult:
        self._note("explain", sql)
        return ExplainResult("SCAN parcel", None)

    def close(self) -> None:
        self.closed += 1

    def _note(self, kind: str, sql: str) -> None:
        self.calls.append((kind, sql))
        trouble(sql)


class FakeTuneRunner(FakeRunner):
    """Knows REFERENCE, HALF (of its gain), WRONG, REFUSED, SLOW (timeout), BROKEN (our fault); other texts cost what the original does."""

    def __init__(self) -> None:
        super().__init__()
        self.graded: list[tuple[str, tuple[str, ...]]] = []
        self.scratches: list[FakeScratch] = []

    def grade_tune(self, task: Task, sql: str, ddl: tuple[str, ...]) -> TuneEvidence:
        self.graded.append((sql, ddl))
        trouble(sql)
        if sql == "REFUSED":
            return refused()
        if sql == "WRONG":
            return tune_evidence(tune_measurement(difference=WRONG_ROWS))
        return tuned(_PAGES.get(sql, 1_000))

    def open_scratch(self, task: Task) -> FakeScratch:
        self.scratches.append(FakeScratch())
        return self.scratches[-1]


def trouble(sql: str) -> None:
    if sql == "BROKEN":
        raise InfraError("a worker could not be started")
    if sql == "SLOW":
        raise AgentError(ErrorCode.TIMEOUT, "stopped after 10 s.")
