"""The wire: what an agent sends, what it gets back, and what ``/state`` shows.

The action is one flat model, since OpenEnv's web form and ``/schema`` need that; the families parse it once into a typed command.
Fields keep their names and meanings once published.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from openenv.core.env_server.types import Action, Observation, State
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

__all__ = [
    "MAX_SQL_LENGTH",
    "ActionKind",
    "ColumnInfo",
    "ColumnProfile",
    "ExecutionInfo",
    "HistoryEntry",
    "ObservationError",
    "RepairedResult",
    "SQLOptimAction",
    "SQLOptimObservation",
    "SQLOptimState",
    "Suggestion",
    "TableChangeInfo",
    "TableSampleInfo",
]

ActionKind = Literal["submit", "query", "explain", "profile", "fix"]

MAX_SQL_LENGTH = 20_000
"""Longest statement that is admitted, in characters. A longer one is an agent error, up to the server's limit on a frame."""

_Short = Annotated[str, StringConstraints(max_length=200)]
_Text = Annotated[str, StringConstraints(max_length=20_000)]
# As long as a frame: what is longer than MAX_SQL_LENGTH is the agent's mistake and gets a code, not a refusal of the message.
_Sql = Annotated[str, StringConstraints(max_length=40 * 1024 * 1024)]


class Suggestion(BaseModel):
    """One issue the agent claims to have found in the query."""

    model_config = ConfigDict(extra="forbid")

    issue_type: _Short = Field(description="A word of the published vocabulary, e.g. correlated_subquery")
    line: int | None = Field(default=None, ge=1, le=100_000, description="1-based line of sql_query; right within one line")
    description: _Text = Field(default="", description="What is wrong, in words")
    severity: _Short = Field(default="", description="low, medium, high or critical")
    fix: _Text = Field(default="", description="How to mend it")


class SQLOptimAction(Action):
    """One action. ``kind`` says which fields are read; the default, ``submit``, hands in an answer."""

    kind: ActionKind = Field(default="submit", description="submit an answer, or explore: query, explain, profile, fix")
    optimized_query: _Sql = Field(default="", description="submit: the rewritten query, exactly one SELECT")
    suggestions: Annotated[list[Suggestion], Field(max_length=64)] = Field(
        default_factory=list, description="submit: the issues found in the query"
    )
    summary: _Text = Field(default="", description="submit: the review in words, naming the issues that are there")
    estimated_improvement: _Short = Field(default="", description="submit: free text such as '10x'; recorded, not graded")
    approved: bool | None = Field(default=None, description="submit: true to approve the query as it stands, false to reject it")
    sql: _Sql = Field(default="", description="query, explain: the statement; fix: a script of one or more statements")
    ddl: Annotated[list[_Sql], Field(max_length=64)] = Field(default_factory=list, description="tune: supporting DDL, one statement each")
    table: _Short = Field(default="", description="profile: the table")
    column: _Short = Field(default="", description="profile: the column")
    answer: _Text = Field(default="", description="audit: the answer, where the task asks for one")
    root_cause_table: _Short = Field(default="", description="audit: the table the defect comes from")
    offending_key: _Short = Field(default="", description="audit: the key the defect comes from")


class ObservationError(BaseModel):
    """Why the agent's action did not do what it was meant to do."""

    code: str = Field(description="A documented code, see docs/actions.md")
    message: str = Field(description="What is allowed, or the engine's own message without server paths")


class ColumnInfo(BaseModel):
    """A column of a shown result."""

    name: str
    type: str


class TableSampleInfo(BaseModel):
    """The first rows of a table."""

    table: str
    columns: list[str]
    rows: list[list[Any]] = Field(description="At most five, in rowid order; values JSON cannot hold exactly are text")
    row_count: int = Field(description="Rows of the whole table")


class HistoryEntry(BaseModel):
    """One action of the episode so far, and what came of it, both cut short."""

    step: int
    kind: str
    action: str = Field(description="The statement, or what else the action carried, on one line")
    outcome: str = Field(description="What it showed or did, on one line; of an error its code and message")


class ColumnProfile(BaseModel):
    """What ``profile`` found out about a column of the broken database."""

    table: str
    column: str
    declared_type: str
    row_count: int
    null_count: int
    null_rate: float = Field(description="null_count / row_count, six decimals; 0 for an empty table")
    distinct_count: int = Field(description="Distinct values, NULL apart")
    minimum: Any = Field(default=None, description="The smallest value in SQLite's order (numbers before text), NULL apart")
    maximum: Any = Field(default=None, description="The largest")
    types: dict[str, int] = Field(default_factory=dict, description="Rows of each storage class: NULL, INTEGER, REAL, TEXT, BLOB")


class RepairedResult(BaseModel):
    """The same look on a copy of the database with the standing fix applied."""

    columns: list[ColumnInfo] = Field(default_factory=list)
    rows: list[list[Any]] = Field(default_factory=list)
    row_count: int | None = None
    truncated: bool = False
    error: str = Field(default="", description="Why it failed there, e.g. because the fix has renamed a column")


class TableChangeInfo(BaseModel):
    """What a fix did to a table of its copy, in whole rows."""

    table: str
    rows_before: int | None = Field(description="None for a table that the fix made")
    rows_after: int | None = Field(description="None for a table that is gone")
    rows_added: int = Field(description="Rows that were not there like this before; a changed row is one removed and one added")
    rows_removed: int


class ExecutionInfo(BaseModel):
    """Costs and times of a graded or explored statement on the public instance.

    ``cost`` figures are deterministic work units; every ``*_ms`` figure comes from a clock and varies from run to run.
    """

    measure: Literal["cost", "time"] = Field(default="cost", description="What execution_speedup was computed from")
    cost_version: str = Field(default="", description="Engine and weights version of the cost figures")
    original_cost: int | None = None
    submitted_cost: int | None = None
    speedup: float | None = Field(default=None, description="original_cost / submitted_cost, the minimum over the scored instances")
    original_ms: float | None = Field(default=None, description="clock: CPU milliseconds of the original, from its preparation")
    submitted_ms: float | None = Field(default=None, description="clock: CPU milliseconds of the submission")
    wall_ms: float | None = Field(default=None, description="clock: wall milliseconds of the submission")
    row_count: int | None = None
    equal: bool | None = Field(default=None, description="Whether the result was right on every instance; None when it was not compared")


class SQLOptimObservation(Observation):
    """What the agent sees after ``reset`` and every ``step``. ``instructions`` alone is enough to produce a valid action."""

    task_id: str = ""
    task_name: str = ""
    task_description: str = ""
    family: str = ""
    sql_query: str = Field(default="", description="The query of the task, with the line breaks that suggestion lines count")
    schema_info: str = Field(default="", description="DDL with row counts")
    dialect: str = ""
    difficulty: str = ""
    instructions: str = ""
    allowed_kinds: list[str] = Field(default_factory=list)
    step_count: int = 0
    max_steps: int = Field(default=0, description="Submissions an episode may hold")
    submissions_left: int = 0
    explorations_left: int = 0
    issues_found_so_far: list[dict[str, Any]] = Field(default_factory=list, description="Issues matched so far: {issue_type, line}")
    columns: list[ColumnInfo] = Field(default_factory=list, description="query: columns of the shown rows")
    rows: list[list[Any]] = Field(default_factory=list, description="query: the shown rows; values JSON cannot hold exactly are text")
    row_count: int | None = Field(default=None, description="query: rows of the whole result")
    truncated: bool = Field(default=False, description="query: whether rows were left out")
    logical_reads: int | None = Field(default=None, description="tune: pages the statement asked for")
    plan: str = Field(default="", description="The plan as text")
    score: float | None = Field(default=None, description="How good this answer is, 0 to 1; None when nothing was graded")
    best_score: float = 0.0
    reward_breakdown: dict[str, float] = Field(default_factory=dict, description="Each term's weighted share of the score")
    feedback: str = ""
    last_execution: ExecutionInfo | None = None
    error: ObservationError | None = None
    sample_rows: list[TableSampleInfo] = Field(default_factory=list, description="audit: the first rows of every table")
    history: list[HistoryEntry] = Field(default_factory=list, description="audit: the episode's actions so far")
    fixes_left: int = Field(default=0, description="audit: fixes that may still be tried")
    profile: ColumnProfile | None = Field(default=None, description="profile: what was found out")
    repaired: RepairedResult | None = Field(default=None, description="query, profile after a fix: the same on a copy with the fix applied")
    changes: list[TableChangeInfo] = Field(default_factory=list, description="fix: what it did to each table that it changed")


class SQLOptimState(State):
    """The live state of a session. Holds no answer and nothing of the grader's data."""

    task_id: str = ""
    family: str = ""
    max_steps: int = 0
    episode_done: bool = False
    cumulative_reward: float = 0.0
    best_score: float = 0.0
    current_task: dict[str, Any] | None = Field(default=None, description="Public facts of the task: id, name, family, …")
