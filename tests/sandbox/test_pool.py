from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from sandbox import hostile_jobs as jobs
from sql_optim_env.errors import AgentError, ErrorCode, InfraError
from sql_optim_env.sandbox.limits import WorkerLimits
from sql_optim_env.sandbox.pool import Sandbox, SandboxMetrics

MakeSandbox = Callable[..., Sandbox]


def wait_until(condition: Callable[[], bool], timeout_s: float = 10.0) -> None:
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def announced_pid(path: Path) -> int:
    wait_until(lambda: path.exists() and bool(path.read_text()))
    return int(path.read_text())


def workers_of_this_process() -> list[psutil.Process]:
    """Every descendant but the two helpers of multiprocessing, which live as long as the process itself."""
    found = []
    for process in psutil.Process().children(recursive=True):
        command = " ".join(process.cmdline())
        helper = "resource_tracker" in command or ("forkserver" in command and process.ppid() == os.getpid())
        if not helper:
            found.append(process)
    return found


def test_a_call_returns_what_the_job_returned(sandbox: Sandbox) -> None:
    assert sandbox.call(jobs.echo, {"rows": [(1, "a"), (2, None)]}) == {"rows": [(1, "a"), (2, None)]}


def test_a_job_runs_in_another_process_which_serves_the_next_call_too(sandbox: Sandbox) -> None:
    first, second = sandbox.call(jobs.pid_after, 0.0), sandbox.call(jobs.pid_after, 0.0)
    assert first == second != os.getpid()
    assert sandbox.worker_pids() == (first,)


def test_an_agent_error_arrives_with_its_code_and_message(sandbox: Sandbox) -> None:
    with pytest.raises(AgentError) as caught:
        sandbox.call(jobs.refuse, "no column named nmae; did you mean name?")
    assert (caught.value.code, caught.value.message) == (ErrorCode.BINDING_ERROR, "no column named nmae; did you mean name?")


def test_an_infra_error_of_a_job_arrives_with_its_message(sandbox: Sandbox) -> None:
    with pytest.raises(InfraError, match="infra_error: the dataset is broken"):
        sandbox.call(jobs.report_infra_error, "the dataset is broken")


def test_an_unexpected_exception_is_ours_and_its_details_go_to_the_log_only(sandbox: Sandbox, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR), pytest.raises(InfraError) as caught:
        sandbox.call(jobs.fail_unexpectedly)
    assert "secret detail" not in str(caught.value)
    assert "secret detail" in caplog.text
    assert sandbox.call(jobs.echo, 1) == 1


def test_a_result_or_an_argument_that_cannot_be_pickled_is_ours(sandbox: Sandbox) -> None:
    with pytest.raises(InfraError):
        sandbox.call(jobs.return_what_cannot_be_sent)
    with pytest.raises(InfraError, match="cannot be sent"):
        sandbox.call(jobs.echo, lambda: None)
    assert sandbox.call(jobs.echo, 1) == 1


def test_a_file_that_a_job_left_can_be_collected_before_the_worker_runs_anything_else(sandbox: Sandbox) -> None:
    kept = sandbox.make_directory("kept-")
    threads = [threading.Thread(target=collect_one, args=(sandbox, kept, number)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {path.name: path.read_text() for path in kept.iterdir()} == {str(number): str(number) for number in range(8)}


def collect_one(sandbox: Sandbox, kept: Path, number: int) -> None:
    """All jobs leave a file of the same name: one that ran too early would overwrite another's."""
    sandbox.call(jobs.leave_file, "left", str(number), collect=lambda name, scratch: os.replace(scratch / str(name), kept / str(number)))


def test_trouble_while_collecting_is_raised_and_the_worker_serves_on(sandbox: Sandbox) -> None:
    def refuse(name: object, scratch: Path) -> None:
        raise InfraError("cannot be kept")

    with pytest.raises(InfraError, match="cannot be kept"):
        sandbox.call(jobs.leave_file, "left", "x", collect=refuse)
    assert sandbox.call(jobs.echo, 1) == 1
    assert sandbox.metrics().infra_errors == 1


def test_a_call_can_have_a_deadline_of_its_own(sandbox: Sandbox) -> None:
    assert sandbox.call(jobs.pid_after, 1.3, deadline_s=20.0) > 0
    with pytest.raises(AgentError, match=r"did not finish within 0\.3 s"):
        sandbox.call(jobs.spin, deadline_s=0.3)


def test_a_worker_killed_from_outside_in_the_middle_of_a_call_is_an_infra_error(make_sandbox: MakeSandbox, tmp_path: Path) -> None:
    sandbox = make_sandbox(deadline_s=20.0)
    for number, sent in enumerate((signal.SIGKILL, signal.SIGTERM)):
        path = tmp_path / "data" / f"pid-{number}"
        with ThreadPoolExecutor() as threads:
            call = threads.submit(sandbox.call, jobs.announce_and_sleep, path, 15.0)
            os.kill(announced_pid(path), sent)
            with pytest.raises(InfraError, match=f"killed from outside with {sent.name}"):
                call.result(timeout=5)
        assert sandbox.call(jobs.echo, "next") == "next"


def test_a_worker_killed_while_it_is_idle_is_replaced_without_anyone_noticing(make_sandbox: MakeSandbox) -> None:
    sandbox = make_sandbox(workers=2)
    for pause in (0.0, 0.3):
        before = sandbox.worker_pids()
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        time.sleep(pause)
        with ThreadPoolExecutor(2) as threads:
            calls = [threads.submit(sandbox.call, jobs.pid_after, 0.2) for _ in range(2)]
            assert not {call.result() for call in calls} & set(before)
    assert sandbox.ready()


def test_the_fork_server_may_die_and_calls_go_on(make_sandbox: MakeSandbox) -> None:
    sandbox = make_sandbox(workers=2)
    worker = psutil.Process(sandbox.call(jobs.pid_after, 0.0))
    fork_server = worker.parent()
    assert fork_server is not None
    assert "forkserver" in " ".join(fork_server.cmdline())
    fork_server.kill()
    psutil.wait_procs([worker], timeout=5)
    assert not worker.is_running()
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(lambda n: sandbox.call(jobs.echo, n), range(6))) == list(range(6))


def test_a_worker_that_cannot_be_started_is_an_infra_error_and_leaves_nothing(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    sandbox = Sandbox(workers=1, data_dir=tmp_path, scratch_root=scratch)
    sandbox.start()
    try:
        home = next(scratch.glob("*/slot-0"))
        os.kill(sandbox.worker_pids()[0], signal.SIGKILL)
        home.rename(home.with_name("elsewhere"))
        home.write_text("a file where the worker needs its directory")
        with pytest.raises(InfraError):
            sandbox.call(jobs.echo, 1)
        home.unlink()
        home.with_name("elsewhere").rename(home)
        assert not sandbox.ready() or sandbox.call(jobs.echo, 0) == 0
        wait_until(sandbox.ready)
        assert sandbox.call(jobs.echo, 1) == 1
    finally:
        sandbox.close()
    assert list(scratch.iterdir()) == []


def test_a_long_job_on_one_worker_does_not_delay_the_other(make_sandbox: MakeSandbox) -> None:
    sandbox = make_sandbox(workers=2, deadline_s=3.0)
    with ThreadPoolExecutor() as threads:
        long_job = threads.submit(sandbox.call, jobs.compute_in_native_code)
        wait_until(lambda: sandbox.metrics().calls == 0 and not long_job.done())
        began = time.monotonic()
        for number in range(50):
            assert sandbox.call(jobs.echo, number) == number
        assert time.monotonic() - began < 2.0
        assert not long_job.done()
        with pytest.raises(AgentError, match="did not finish within 3 s"):
            long_job.result()


def test_waiting_calls_are_served_in_the_order_in_which_they_came(sandbox: Sandbox) -> None:
    order: list[int] = []

    def wait_and_call(number: int) -> None:
        order.append(int(str(sandbox.call(jobs.echo, number))))

    with ThreadPoolExecutor(20) as threads:
        first = threads.submit(sandbox.call, jobs.pid_after, 0.6)
        wait_until(first.running)
        for number in range(10):
            threads.submit(wait_and_call, number)
            wait_until(lambda number=number: sandbox.metrics().waiting > number)
    assert order == list(range(10))


def test_time_in_the_queue_does_not_count_against_the_deadline(sandbox: Sandbox) -> None:
    with ThreadPoolExecutor(4) as threads:
        calls = [threads.submit(sandbox.call, jobs.pid_after, 0.6) for _ in range(4)]
        assert len({call.result() for call in calls}) == 1


def test_a_waiting_call_is_served_right_after_the_one_before_it_overruns(sandbox: Sandbox) -> None:
    with ThreadPoolExecutor() as threads:
        overrunning = threads.submit(sandbox.call, jobs.spin)
        wait_until(overrunning.running)
        began = time.monotonic()
        assert sandbox.call(jobs.echo, "served") == "served"
        assert time.monotonic() - began < 3.0
        with pytest.raises(AgentError):
            overrunning.result()


def test_sixty_four_threads_share_two_workers(make_sandbox: MakeSandbox) -> None:
    sandbox = make_sandbox(workers=2, deadline_s=10.0)
    with ThreadPoolExecutor(64) as threads:
        results = list(threads.map(lambda n: sandbox.call(jobs.echo, n), range(640)))
    assert results == list(range(640))
    metrics = sandbox.metrics()
    assert (metrics.calls, metrics.waiting, metrics.infra_errors) == (640, 0, 0)


def test_a_spill_that_no_file_may_hold_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="less than the 512 MiB it may spill"):
        Sandbox(workers=1, data_dir=tmp_path, limits=WorkerLimits(file_mb=100), spill_mb=512)


def test_the_event_loop_keeps_running_while_threads_call(sandbox: Sandbox) -> None:
    async def main() -> int:
        ticks = 0
        call = asyncio.create_task(asyncio.to_thread(sandbox.call, jobs.pid_after, 0.5))
        while not call.done():
            await asyncio.sleep(0.01)
            ticks += 1
        return ticks

    assert asyncio.run(main()) > 10


def test_metrics_count_how_calls_ended(sandbox: Sandbox) -> None:
    assert sandbox.metrics() == SandboxMetrics(1, 0, 0, 0, 0, 0, 0, 0.0)
    sandbox.call(jobs.pid_after, 0.2)
    for job in (jobs.spin, jobs.abort, jobs.abort_for_want_of_memory, jobs.fail_unexpectedly):
        with pytest.raises((AgentError, InfraError)):
            sandbox.call(job, deadline_s=0.5)
    with pytest.raises(AgentError):
        sandbox.call(jobs.refuse, "counted as a call and nothing else")
    metrics = sandbox.metrics()
    assert (metrics.calls, metrics.timeouts, metrics.crashes, metrics.out_of_memory, metrics.infra_errors) == (6, 1, 1, 1, 1)
    assert 0.7 < metrics.busy_seconds < 10.0


def test_ready_is_true_between_start_and_close_only(tmp_path: Path) -> None:
    sandbox = Sandbox(workers=2, data_dir=tmp_path, scratch_root=tmp_path)
    assert not sandbox.ready()
    sandbox.start()
    assert sandbox.ready()
    assert len(set(sandbox.worker_pids())) == 2
    sandbox.close()
    assert not sandbox.ready()


def test_a_sandbox_is_started_once(tmp_path: Path) -> None:
    sandbox = Sandbox(workers=1, data_dir=tmp_path, scratch_root=tmp_path)
    sandbox.close()
    with pytest.raises(InfraError, match="started once"):
        sandbox.start()
    with pytest.raises(ValueError, match="at least one worker"):
        Sandbox(workers=0, data_dir=tmp_path)


def test_closing_fails_the_calls_that_run_and_wait_and_may_be_repeated(make_sandbox: MakeSandbox, tmp_path: Path) -> None:
    sandbox = make_sandbox(deadline_s=60.0)
    with ThreadPoolExecutor() as threads:
        running = threads.submit(sandbox.call, jobs.announce_and_sleep, tmp_path / "data" / "pid", 50.0)
        worker = psutil.Process(announced_pid(tmp_path / "data" / "pid"))
        waiting = threads.submit(sandbox.call, jobs.echo, 1)
        wait_until(lambda: sandbox.metrics().waiting == 1)
        began = time.monotonic()
        sandbox.close()
        assert time.monotonic() - began < 5.0
        for call in (running, waiting):
            with pytest.raises(InfraError, match="closed"):
                call.result(timeout=5)
    assert not worker.is_running()
    sandbox.close()
    with pytest.raises(InfraError, match="closed"):
        sandbox.call(jobs.echo, 1)


def test_an_exception_inside_the_with_block_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), Sandbox(workers=2, data_dir=tmp_path, scratch_root=tmp_path) as sandbox:
        workers = [psutil.Process(pid) for pid in sandbox.worker_pids()]
        1 / 0  # noqa: B018
    assert len(workers) == 2
    assert not any(worker.is_running() for worker in workers)
    assert list(tmp_path.iterdir()) == []


def test_many_kills_leak_no_process_no_descriptor_no_thread_and_no_file(make_sandbox: MakeSandbox, tmp_path: Path) -> None:
    sandbox = make_sandbox(workers=2)

    def torment() -> None:
        for job, args in (
            (jobs.abort, ()),
            (jobs.leave_a_file_and_compute, ("rest",)),
            (jobs.leave_with, (0,)),
            (jobs.fail_unexpectedly, ()),
            (jobs.crash_with_a_null_pointer, ()),
        ):
            with pytest.raises((AgentError, InfraError)):
                sandbox.call(job, *args, deadline_s=0.2)
        with ThreadPoolExecutor(2) as threads:
            assert list(threads.map(lambda n: sandbox.call(jobs.pid_after, 0.1) > 0, range(2))) == [True, True]

    def settled() -> tuple[int, int, int, int]:
        # A dismissed worker's pool takes a moment to go.
        wait_until(lambda: not [thread for thread in threading.enumerate() if thread.name == "sandbox-dismissal"])
        time.sleep(0.3)
        files = [path for path in (tmp_path / "scratch").rglob("*") if path.is_file()]
        gc.collect()
        zombies = [process for process in workers_of_this_process() if process.status() == psutil.STATUS_ZOMBIE]
        assert zombies == []
        return len(workers_of_this_process()), psutil.Process().num_fds(), threading.active_count(), len(files)

    torment()
    before = settled()
    for _ in range(3):
        torment()
    assert settled() == before
    assert before[0] == 2


def test_what_a_killed_server_left_behind_is_removed_by_the_next_and_living_neighbours_are_spared(tmp_path: Path) -> None:
    script = textwrap.dedent(
        f"""
        import sys, time
        from pathlib import Path

        from sql_optim_env.sandbox.pool import Sandbox
        sandbox = Sandbox(workers=2, data_dir=Path({str(tmp_path)!r}), scratch_root=Path({str(tmp_path)!r}))
        sandbox.start()
        print(*sandbox.worker_pids(), flush=True)
        time.sleep(60)
        """
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        workers = [psutil.Process(int(pid)) for pid in server.stdout.readline().split()]
        assert len(workers) == 2
        with Sandbox(workers=1, data_dir=tmp_path, scratch_root=tmp_path):
            assert len(list(tmp_path.iterdir())) == 2
        assert len(list(tmp_path.iterdir())) == 1
        server.kill()
    _, alive = psutil.wait_procs(workers, timeout=5)
    assert alive == []
    with Sandbox(workers=1, data_dir=tmp_path, scratch_root=tmp_path):
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_forgets_to_close_still_ends_and_takes_its_workers_along(tmp_path: Path) -> None:
    script = textwrap.dedent(
        f"""
        from pathlib import Path

        from sql_optim_env.sandbox.pool import Sandbox
        sandbox = Sandbox(workers=2, data_dir=Path({str(tmp_path)!r}), scratch_root=Path({str(tmp_path)!r}))
        sandbox.start()
        print(*sandbox.worker_pids(), flush=True)
        """
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True)
    assert done.stderr == ""
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 2
    wait_until(lambda: not any(psutil.pid_exists(pid) for pid in pids), 5.0)


def test_a_worker_does_not_import_the_script_that_the_server_was_started_with(tmp_path: Path) -> None:
    script = tmp_path / "server_script.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import wave  # stands for all that a server imports

            from pathlib import Path
            from sandbox import hostile_jobs
            from sql_optim_env.sandbox.pool import Sandbox

            if __name__ == "__main__":
                with Sandbox(workers=1, data_dir=Path({str(tmp_path)!r}), scratch_root=Path({str(tmp_path)!r})) as sandbox:
                    print(*sandbox.call(hostile_jobs.loaded_modules))
            """
        )
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=True, env=environment)
    modules = done.stdout.split()
    assert "sandbox.hostile_jobs" in modules
    assert "wave" not in modules
