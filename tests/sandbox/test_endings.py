from __future__ import annotations

import signal

import pytest

from sql_optim_env.errors import AgentError, ErrorCode, InfraError
from sql_optim_env.sandbox.endings import exit_sentence, overrun, worker_died
from sql_optim_env.sandbox.limits import WorkerLimits

LIMITS = WorkerLimits()


@pytest.mark.parametrize(
    ("exit_code", "sentence"),
    [
        (None, "the worker is still running"),
        (0, "the worker ended by itself with exit code 0"),
        (3, "the worker ended by itself with exit code 3"),
        (255, "the worker went down with its fork server"),
        (-signal.SIGSEGV, "the worker crashed with SIGSEGV"),
        (-signal.SIGABRT, "the worker crashed with SIGABRT"),
        (-signal.SIGXCPU, "the worker used up its CPU time (SIGXCPU)"),
        (-signal.SIGKILL, "the worker was killed from outside with SIGKILL"),
        (-63, "the worker was killed from outside with signal 63"),
    ],
)
def test_an_exit_code_becomes_a_sentence(exit_code: int | None, sentence: str) -> None:
    assert exit_sentence(exit_code) == sentence


@pytest.mark.parametrize("crash", [signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE])
def test_a_crash_of_the_engine_is_the_statements_doing(crash: signal.Signals) -> None:
    error = worker_died(-crash, "", LIMITS)
    assert isinstance(error, AgentError)
    assert error.code is ErrorCode.ENGINE_CRASH
    assert crash.name in error.message


@pytest.mark.parametrize(
    "words",
    [
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "MemoryError",
        "fatal: Out of memory",
        "mmap: Cannot allocate memory",
    ],
)
def test_a_crash_for_want_of_memory_says_so(words: str) -> None:
    error = worker_died(-signal.SIGABRT, words, LIMITS)
    assert isinstance(error, AgentError)
    assert error.code is ErrorCode.OUT_OF_MEMORY
    assert "1280 MiB" in error.message


@pytest.mark.parametrize("exit_code", [-signal.SIGKILL, -signal.SIGTERM, -signal.SIGHUP, 255, None])
def test_an_end_from_outside_is_ours_whatever_the_process_had_printed(exit_code: int | None) -> None:
    assert isinstance(worker_died(exit_code, "std::bad_alloc", LIMITS), InfraError)


def test_used_up_cpu_time_is_a_timeout() -> None:
    error = worker_died(-signal.SIGXCPU, "", LIMITS)
    assert isinstance(error, AgentError)
    assert error.code is ErrorCode.TIMEOUT


def test_an_overrun_names_the_deadline_and_what_to_do() -> None:
    error = overrun(10.0)
    assert error.code is ErrorCode.TIMEOUT
    assert error.message.startswith("the statement did not finish within 10 s and was stopped; make it do less work")
