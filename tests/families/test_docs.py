"""docs/actions.md lists every kind, field and code."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from sql_optim_env.errors import ErrorCode
from sql_optim_env.families.episode import MAX_MISSTEPS
from sql_optim_env.families.rewrite import SUCCESS_SCORE
from sql_optim_env.models import (
    ActionKind,
    ColumnInfo,
    ColumnProfile,
    ExecutionInfo,
    HistoryEntry,
    ObservationError,
    RepairedResult,
    SQLOptimAction,
    SQLOptimObservation,
    Suggestion,
    TableChangeInfo,
    TableSampleInfo,
)
from sql_optim_env.tasks.vocabulary import Severity

PAGE = (Path(__file__).parents[2] / "docs" / "actions.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("code", list(ErrorCode))
def test_every_error_code_has_a_row(code: ErrorCode) -> None:
    assert f"\n| `{code.value}` | " in PAGE


@pytest.mark.parametrize(
    "model",
    [
        ColumnInfo,
        ColumnProfile,
        ExecutionInfo,
        HistoryEntry,
        ObservationError,
        RepairedResult,
        SQLOptimAction,
        SQLOptimObservation,
        Suggestion,
        TableChangeInfo,
        TableSampleInfo,
    ],
)
def test_every_field_is_documented(model: type[BaseModel]) -> None:
    assert [name for name in model.model_fields if f"`{name}`" not in PAGE] == []


def test_every_kind_and_severity_is_documented() -> None:
    assert all(f"\n| `{kind}`" in PAGE for kind in get_args(ActionKind))
    assert all(f"`{level.value}`" in PAGE for level in Severity)


def test_the_ends_of_an_episode_are_the_real_ones() -> None:
    assert MAX_MISSTEPS == 8
    assert "The eighth such misstep" in PAGE
    assert f"a score of {SUCCESS_SCORE}" in PAGE
