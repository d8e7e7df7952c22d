from __future__ import annotations

import errno
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox import hostile_jobs as jobs
from sql_optim_env.errors import AgentError, ErrorCode
from sql_optim_env.sandbox.limits import KEPT_VARIABLES, WorkerLimits
from sql_optim_env.sandbox.pool import Sandbox

MIB = 1 << 20

MakeSandbox = Callable[..., Sandbox]


def test_every_limit_is_in_force_in_the_worker(make_sandbox: MakeSandbox) -> None:
    sandbox = make_sandbox(limits=WorkerLimits(data_mb=700, file_mb=3, open_files=99), spill_mb=3)
    limits = sandbox.call(jobs.resource_limits)
    assert limits["RLIMIT_DATA"] == (700 * MIB, 700 * MIB)
    assert limits["RLIMIT_FSIZE"] == (3 * MIB, 3 * MIB)
    assert limits["RLIMIT_NOFILE"] == (99, 99)
    assert limits["RLIMIT_CORE"] == (0, 0)
    assert sandbox.call(jobs.status_line, "NoNewPrivs") == "1"


def test_the_cpu_allowance_moves_with_every_job_since_the_limit_counts_the_whole_process(make_sandbox: MakeSandbox) -> None:
    sandbox = make_sandbox(deadline_s=30.0)
    first_limit = sandbox.call(jobs.resource_limits)["RLIMIT_CPU"][0]
    used = sandbox.call(jobs.burn_cpu, 1.2)
    second_limit = sandbox.call(jobs.resource_limits)["RLIMIT_CPU"][0]
    assert used >= 1.2
    assert second_limit - first_limit in (1, 2)
    # Deadline + 2 s, rounded up to whole seconds.
    assert 32 <= second_limit - int(used) <= 34


def test_cpu_time_beyond_the_allowance_is_a_timeout(sandbox: Sandbox) -> None:
    with pytest.raises(AgentError, match="CPU time") as caught:
        sandbox.call(jobs.raise_signal, signal.SIGXCPU)
    assert caught.value.code is ErrorCode.TIMEOUT


def test_a_large_comparison_fits_into_the_default_memory(make_sandbox: MakeSandbox) -> None:
    assert make_sandbox(deadline_s=30.0).call(jobs.compare_two_large_results) == 0


def test_memory_beyond_the_limit_is_refused_and_the_worker_serves_on(make_sandbox: MakeSandbox) -> None:
    sandbox = make_sandbox(deadline_s=20.0, limits=WorkerLimits(data_mb=300))
    with pytest.raises(AgentError, match=r"more memory than its worker may use \(300 MiB\)") as caught:
        sandbox.call(jobs.hoard_memory)
    assert caught.value.code is ErrorCode.OUT_OF_MEMORY
    assert sandbox.call(jobs.echo, 1) == 1


def test_a_worker_that_holds_on_to_memory_is_replaced(make_sandbox: MakeSandbox) -> None:
    sandbox = make_sandbox(deadline_s=20.0, limits=WorkerLimits(data_mb=400))
    first = sandbox.call(jobs.keep_memory, 20 * MIB)
    assert sandbox.call(jobs.pid_after, 0.0) == first
    assert sandbox.call(jobs.keep_memory, 260 * MIB) == first
    assert sandbox.call(jobs.pid_after, 0.0) != first


def test_a_file_beyond_the_limit_cannot_be_written(make_sandbox: MakeSandbox) -> None:
    sandbox = make_sandbox(limits=WorkerLimits(file_mb=2), spill_mb=2)
    assert sandbox.call(jobs.write_file, Path("small"), MIB) == "written"
    assert sandbox.call(jobs.write_file, Path("large"), 3 * MIB) == f"OSError {errno.EFBIG}"


def test_descriptors_beyond_the_limit_cannot_be_opened(make_sandbox: MakeSandbox) -> None:
    sandbox = make_sandbox(limits=WorkerLimits(open_files=64))
    assert sandbox.call(jobs.open_files, 30) == "opened"
    assert sandbox.call(jobs.open_files, 64) == f"OSError {errno.EMFILE}"


def test_the_environment_holds_nothing_but_what_is_needed(sandbox: Sandbox) -> None:
    environment = sandbox.call(jobs.environment)
    assert set(environment) <= KEPT_VARIABLES | {"HOME", "TMPDIR"}
    assert environment["HOME"] == environment["TMPDIR"] == str(sandbox.call(jobs.working_directory))


def test_the_block_of_memory_that_held_the_environment_is_erased(sandbox: Sandbox) -> None:
    block = sandbox.call(jobs.initial_environment)
    assert len(block) > 0
    assert not block.strip(b"\0")


def test_a_worker_has_a_directory_of_its_own_that_is_emptied_when_it_is_replaced(make_sandbox: MakeSandbox) -> None:
    sandbox = make_sandbox(workers=2, deadline_s=0.5)
    left = sandbox.call(jobs.leave_a_file, "spill.tmp")
    assert left.exists()
    assert left.parent.stat().st_mode & 0o777 == 0o700
    with pytest.raises(AgentError):
        sandbox.call(jobs.leave_a_file_and_compute, "spill-2.tmp")
    time.sleep(0.2)
    assert sandbox.call(jobs.working_directory) == left.parent
    assert list(left.parent.iterdir()) == []


def test_a_worker_has_one_thread_and_none_of_the_servers_modules(sandbox: Sandbox) -> None:
    assert sandbox.call(jobs.threads_at_start) == 1
    modules = sandbox.call(jobs.loaded_modules)
    assert "sql_optim_env.sandbox.worker" in modules
    assert not {"pytest", "_pytest", "fastapi", "openenv", "__mp_main__.conftest"} & set(modules)
