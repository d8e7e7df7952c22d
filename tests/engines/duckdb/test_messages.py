from __future__ import annotations

import duckdb
import pytest

from sql_optim_env.engines.duckdb.messages import MAX_MESSAGE, agent_error, engine_message
from sql_optim_env.errors import AgentError, ErrorCode, InfraError


def test_a_message_keeps_the_line_and_loses_advice_and_paths() -> None:
    error = duckdb.BinderException(
        "Binder Error: no x in /data/shop/public.duckdb\n\nLINE 1: select x\n               ^\n\nPossible solutions:\n* pay"
    )
    text = engine_message(error, ["/data/shop", "/data/shop/public.duckdb"])
    assert text == "Binder Error: no x in <database>\n\nLINE 1: select x\n               ^"


def test_advice_on_settings_is_no_use_to_an_agent() -> None:
    error = ValueError(
        'Invalid Input Error: More than one row\n\nUse "SET scalar_subquery_error_on_multiple_rows=false" to revert to random rows.'
    )
    assert engine_message(error) == "Invalid Input Error: More than one row"


def test_a_huge_message_is_cut() -> None:
    assert len(engine_message(ValueError("x" * 10**6))) == MAX_MESSAGE


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (duckdb.BinderException("Binder Error: a"), ErrorCode.BINDING_ERROR),
        (duckdb.CatalogException("Catalog Error: a"), ErrorCode.BINDING_ERROR),
        (duckdb.ParserException("Parser Error: a"), ErrorCode.SYNTAX_ERROR),
        (duckdb.ConversionException("Conversion Error: a"), ErrorCode.EXECUTION_ERROR),
        (duckdb.OutOfRangeException("Out of Range Error: a"), ErrorCode.EXECUTION_ERROR),
        (duckdb.OutOfMemoryException("Out of Memory Error: a"), ErrorCode.OUT_OF_MEMORY),
        (OSError("Out of Memory Error: Allocation failure"), ErrorCode.OUT_OF_MEMORY),
        (OSError("Conversion Error: a"), ErrorCode.EXECUTION_ERROR),
        (RuntimeError("std::bad_alloc"), ErrorCode.OUT_OF_MEMORY),
        (duckdb.IOException('IO Error: Could not write file "x/duckdb_temp_storage-0.tmp": File too large'), ErrorCode.OUT_OF_MEMORY),
        (MemoryError(), ErrorCode.OUT_OF_MEMORY),
        (RecursionError("maximum recursion depth exceeded"), ErrorCode.EXECUTION_ERROR),
        (duckdb.InterruptException("INTERRUPT Error: Interrupted!"), ErrorCode.TIMEOUT),
        (duckdb.InternalException("INTERNAL Error: a"), ErrorCode.ENGINE_CRASH),
        (duckdb.FatalException("FATAL Error: a"), ErrorCode.ENGINE_CRASH),
    ],
)
def test_an_engine_error_has_one_code(error: BaseException, code: ErrorCode) -> None:
    mapped = agent_error(error)
    assert isinstance(mapped, AgentError)
    assert mapped.code is code
    assert mapped.message


@pytest.mark.parametrize(
    "error",
    [
        duckdb.IOException("IO Error: disk"),
        OSError("IO Error: disk"),
        duckdb.IOException('IO Error: Could not write file "x/duckdb_temp_storage-0.tmp": No space left on device'),
    ],
)
def test_an_input_output_error_is_no_agent_error(error: BaseException) -> None:
    assert isinstance(agent_error(error), InfraError)
