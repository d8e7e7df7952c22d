from __future__ import annotations

import os
import sys
import threading
import time
from multiprocessing import forkserver

import pytest

from sandbox.hostile_jobs import leave_after
from sql_optim_env.sandbox.process import WorkerContext


def test_many_threads_may_ask_for_the_end_of_the_same_process(monkeypatch: pytest.MonkeyPatch) -> None:
    read = forkserver.read_signed

    def read_slowly(descriptor: int) -> int:
        # The exit code can be read once; whoever comes while it is being read must not try too.
        time.sleep(0.1)
        return int(read(descriptor))

    process = WorkerContext().Process(target=leave_after, args=(0.3, 7))
    process.start()
    monkeypatch.setattr(forkserver, "read_signed", read_slowly)
    threads = [threading.Thread(target=process.join, args=(10,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert process.exitcode == 7


def test_joining_waits_for_the_end() -> None:
    process = WorkerContext().Process(target=os._exit, args=(5,))
    process.start()
    process.join(10)
    assert process.exitcode == 5


def test_the_context_remembers_the_last_process_and_starts_it_by_the_fork_server() -> None:
    context = WorkerContext()
    assert context.latest is None
    assert context.get_start_method() == "forkserver"
    process = context.Process(target=os._exit, args=(0,))
    assert context.latest is process
    process.start()
    process.join(10)


def test_the_main_module_is_where_it_was_after_a_start() -> None:
    main = sys.modules["__main__"]
    process = WorkerContext().Process(target=os._exit, args=(0,))
    process.start()
    assert sys.modules["__main__"] is main
    process.join(10)
