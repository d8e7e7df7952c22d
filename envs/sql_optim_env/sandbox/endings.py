"""What the end of a worker means: an exit code turned into a sentence, and into the agent's trouble or ours."""

from __future__ import annotations

import signal

from sql_optim_env.errors import AgentError, ErrorCode, InfraError
from sql_optim_env.sandbox.limits import WorkerLimits

__all__ = ["CRASH_SIGNALS", "exit_sentence", "out_of_memory", "overrun", "worker_died"]

CRASH_SIGNALS = frozenset({signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP, signal.SIGSYS})
"""Signals by which native code ends its own process. Any other signal comes from a limit or from outside."""

_FORK_SERVER_GONE = 255
"""What ``multiprocessing`` reports for a child whose fork server ended before it."""

_MEMORY_SIGNS = ("bad_alloc", "MemoryError", "out of memory", "Out of memory", "Out of Memory", "Cannot allocate memory")


def exit_sentence(exit_code: int | None) -> str:
    """Say in one clause how a worker ended. ``exit_code`` is negative for a signal, as in ``multiprocessing``; None while it runs."""
    if exit_code is None:
        return "the worker is still running"
    if exit_code == _FORK_SERVER_GONE:
        return "the worker went down with its fork server"
    if exit_code >= 0:
        return f"the worker ended by itself with exit code {exit_code}"
    try:
        name = signal.Signals(-exit_code).name
    except ValueError:
        name = f"signal {-exit_code}"
    if -exit_code in CRASH_SIGNALS:
        return f"the worker crashed with {name}"
    if -exit_code == signal.SIGXCPU:
        return f"the worker used up its CPU time ({name})"
    return f"the worker was killed from outside with {name}"


def worker_died(exit_code: int | None, last_words: str, limits: WorkerLimits) -> AgentError | InfraError:
    """Return what to raise for a worker that ended while it ran a statement.

    A crash of the engine is the statement's doing, a signal from outside is not. ``last_words`` is what the process printed as it died.
    """
    sentence = exit_sentence(exit_code)
    if exit_code == -signal.SIGXCPU:
        return AgentError(ErrorCode.TIMEOUT, "the statement used up its CPU time and was stopped; make it do less work")
    crashed = exit_code is not None and exit_code != _FORK_SERVER_GONE and (exit_code >= 0 or -exit_code in CRASH_SIGNALS)
    if not crashed:
        return InfraError(f"{sentence} while it ran a statement")
    if any(sign in last_words for sign in _MEMORY_SIGNS):
        return out_of_memory(limits)
    return AgentError(ErrorCode.ENGINE_CRASH, f"the statement brought its worker down ({sentence}); write it in another way")


def out_of_memory(limits: WorkerLimits) -> AgentError:
    """Return the error of a statement that met the memory limit of its worker."""
    return AgentError(ErrorCode.OUT_OF_MEMORY, f"the statement needed more memory than its worker may use ({limits.data_mb} MiB)")


def overrun(deadline_s: float) -> AgentError:
    """Return the error of a statement that was stopped at its deadline."""
    return AgentError(
        ErrorCode.TIMEOUT,
        f"the statement did not finish within {deadline_s:g} s and was stopped; make it do less work (fewer rows joined or generated)",
    )
