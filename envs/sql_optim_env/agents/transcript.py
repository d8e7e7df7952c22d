"""The three kinds of line that tell of an episode, for a program to read: ``[START]``, ``[STEP]`` and ``[END]``.

    [START] task=… env=sql_optim_env model=…
    [STEP] step=1 action=query:SELECT … reward=0.01 done=false error=null
    [END] success=true steps=2 score=0.999 rewards=0.01,0.99

Each is one line whatever the episode's texts hold. Free text comes out with its white space and control characters folded to single
spaces, cut to a length, and with a space before the ``=`` where it would look like one of a line's own fields.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from sql_optim_env.client import ENV_NAME
from sql_optim_env.families.rewrite import SUCCESS_SCORE
from sql_optim_env.models import SQLOptimAction, SQLOptimObservation

__all__ = ["MAX_ACTION_CHARS", "Transcript", "action_text", "fold"]

MAX_ACTION_CHARS = 200
"""Longest action, and longest error, on a line."""

_OWN_FIELD = re.compile(r"(?<!\S)(task|env|model|step|action|reward|done|error|success|steps|score|rewards)=")


def fold(text: str, limit: int = MAX_ACTION_CHARS) -> str:
    """The text on one line, at most ``limit`` characters, with ``...`` for what is left out."""
    # Twenty times the limit is enough to look at: a statement may have megabytes.
    visible = "".join(" " if unicodedata.category(char)[0] in "CZ" else char for char in text[: 20 * limit])
    line = _OWN_FIELD.sub(r"\1 =", " ".join(visible.split()))
    return line if len(line) <= limit and len(text) <= 20 * limit else line[: limit - 3].rstrip() + "..."


def action_text(action: SQLOptimAction) -> str:
    """An action as ``kind:what it carries``; a submission without SQL shows its answer, or else what else it says."""
    if action.kind == "profile":
        carried = f"{action.table}.{action.column}"
    elif action.kind != "submit":
        carried = action.sql
    else:
        carried = "; ".join(part.strip() for part in (*action.ddl, action.optimized_query) if part.strip()) or _answer(action)
    return fold(f"{action.kind}:{carried}")


def _answer(action: SQLOptimAction) -> str:
    named = {"answer": action.answer, "root_cause_table": action.root_cause_table, "offending_key": action.offending_key}
    return ", ".join(f"{name} {value}" for name, value in named.items() if value) or action.summary


class Transcript:
    """Tells of one episode. Score and rewards are gathered as its steps are told.

    Args:
        write: takes one line without its line break.
        task: the task's id.
        model: who plays.
    """

    def __init__(self, write: Callable[[str], None], *, task: str, model: str) -> None:
        self._write = write
        self._task = task
        self._model = model
        self._rewards: list[float] = []
        self._score = 0.0
        self._complete = False
        self._open = False

    @property
    def score(self) -> float:
        """The best score so far."""
        return self._score

    def start(self) -> None:
        """Tell that the episode begins."""
        self._open = True
        self._write(f"[START] task={fold(self._task)} env={ENV_NAME} model={fold(self._model)}")

    def step(self, action: SQLOptimAction, observation: SQLOptimObservation, reward: float | None, done: bool) -> None:
        """Tell of an action and what came of it."""
        self._rewards.append(float(reward or 0.0))
        self._score = max(self._score, observation.best_score)
        error = observation.error
        what = "null" if error is None else fold(f"{error.code}: {error.message}")
        self._write(
            f"[STEP] step={len(self._rewards)} action={action_text(action)} reward={_decimals(self._rewards[-1], 2)}"
            f" done={_boolean(done)} error={what}"
        )

    def complete(self) -> None:
        """Say that the episode was played as far as it should be; without this it counts as broken off, and as no success."""
        self._complete = True

    def end(self) -> None:
        """Tell that the episode is over: a success when it was complete and its score is at least 0.95. Once, if it was started."""
        if not self._open:
            return
        self._open = False
        success = self._complete and self._score >= SUCCESS_SCORE
        rewards = ",".join(_decimals(reward, 2) for reward in self._rewards)
        self._write(f"[END] success={_boolean(success)} steps={len(self._rewards)} score={_decimals(self._score, 3)} rewards={rewards}")


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def _decimals(value: float, digits: int) -> str:
    # Adding zero turns a negative zero into zero.
    return f"{round(value, digits) + 0.0:.{digits}f}"
