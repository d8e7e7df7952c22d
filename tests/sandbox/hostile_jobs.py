"""Jobs that misbehave, run by the tests in real workers; workers import them by name, so they live in a module of their own."""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
import threading
import time
from pathlib import Path

import duckdb

from sql_optim_env.errors import AgentError, ErrorCode, InfraError


def echo(value: object) -> object:
    return value


def leave_file(name: str, content: str) -> str:
    Path(name).write_text(content)  # a worker's working directory is its scratch directory
    return name


def pid_after(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def compute_in_native_code() -> None:
    # Minutes in one native call, in which no Python code runs, not even the handler of a signal: like a long kernel of an engine.
    hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 1_000_000_000)


def spin() -> None:
    while True:
        pass


def announce_and_sleep(path: Path, seconds: float) -> str:
    path.write_text(str(os.getpid()))
    time.sleep(seconds)
    return "slept"


def crash_with_a_null_pointer() -> None:
    ctypes.string_at(0)


def abort() -> None:
    os.abort()


def abort_for_want_of_memory() -> None:
    os.write(2, b"terminate called after throwing an instance of 'std::bad_alloc'\n")
    os.abort()


def leave_with(code: int) -> None:
    os._exit(code)


def leave_after(seconds: float, code: int) -> None:
    time.sleep(seconds)
    os._exit(code)


def call_sys_exit() -> None:
    sys.exit(3)


def hoard_memory() -> None:
    hoard = []
    while True:
        hoard.append(b"x" * (8 << 20))


def refuse(message: str) -> None:
    raise AgentError(ErrorCode.BINDING_ERROR, message)


def report_infra_error(message: str) -> None:
    raise InfraError(message)


def fail_unexpectedly() -> None:
    raise KeyError("a secret detail")


def return_what_cannot_be_sent() -> object:
    return lambda: None


def run_sql_unprotected(sql: str) -> str:
    """Run a statement as it stands, without admission: only the sandbox stands between it and the machine."""
    with duckdb.connect(":memory:", config={"threads": 1, "memory_limit": "256MB"}) as con:
        try:
            con.execute(sql).fetchall()
        except duckdb.Error as error:
            return type(error).__name__
    return "done"


def environment() -> dict[str, str]:
    return dict(os.environ)


def initial_environment() -> bytes:
    """The environment block the process was started with, as the kernel shows it."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    start, end = int(fields[47]), int(fields[48])
    return ctypes.string_at(start, end - start)


def loaded_modules() -> list[str]:
    return sorted(sys.modules)


def threads_at_start() -> int:
    return threading.active_count() if not Path("/proc/self/task").exists() else len(list(Path("/proc/self/task").iterdir()))


def status_line(name: str) -> str:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(line.split(":", 1)[1].strip() for line in lines if line.startswith(f"{name}:"))


def resource_limits() -> dict[str, tuple[int, int]]:
    import resource

    names = ("RLIMIT_DATA", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_CORE", "RLIMIT_CPU")
    return {name: resource.getrlimit(getattr(resource, name)) for name in names}


def write_file(path: Path, size: int) -> str:
    try:
        with path.open("wb") as file:
            file.write(b"x" * size)
    except OSError as error:
        return f"{type(error).__name__} {error.errno}"
    return "written"


def open_files(count: int) -> str:
    files = []
    try:
        for _ in range(count):
            files.append(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return f"OSError {error.errno}"
    finally:
        for file in files:
            os.close(file)
    return "opened"


def working_directory() -> Path:
    return Path.cwd()


def leave_a_file(name: str) -> Path:
    path = Path.cwd() / name
    path.write_text("left behind")
    return path


def leave_a_file_and_compute(name: str) -> None:
    leave_a_file(name)
    compute_in_native_code()


def compare_two_large_results() -> int:
    """1 M rows x 6 columns, twice, compared as a signed multiset beside them."""
    query = """SELECT i AS a, i * 2 AS b, (i % 1000)::DECIMAL(18, 2) AS c, 'user' || (i % 5000) AS d,
                      DATE '2020-01-01' + (i % 3000)::INT AS e, i / 3.0 AS f FROM range(1000000) t(i)"""
    config = {"threads": 1, "memory_limit": "256MB"}
    with duckdb.connect(":memory:", config=config) as con:
        left, right = (con.sql(query).to_arrow_reader(100_000).read_all() for _ in range(2))
    with duckdb.connect(":memory:", config=config) as con:
        con.register("l", left)
        con.register("r", right)
        counted = con.execute(
            """SELECT count(*) FROM (SELECT a, b, c, d, e, f FROM (SELECT *, 1 AS s FROM l UNION ALL SELECT *, -1 FROM r)
               GROUP BY a, b, c, d, e, f HAVING sum(s) <> 0)"""
        ).fetchone()
    assert counted is not None
    return int(counted[0])


def burn_cpu(seconds: float) -> float:
    """Use CPU time and return how much the process has used since it started."""
    start = time.process_time()
    while time.process_time() - start < seconds:
        pass
    return time.process_time()


def raise_signal(number: int) -> None:
    os.kill(os.getpid(), number)
    time.sleep(5)


_kept: list[bytes] = []


def keep_memory(size: int) -> int:
    _kept.append(b"x" * size)
    return os.getpid()


def attempt(what: str, target: str) -> str:
    """Try something a worker has no business doing, and return how it went."""
    import socket
    import subprocess

    try:
        if what == "write":
            Path(target).write_text("x")
        elif what == "append":
            with Path(target).open("a") as file:
                file.write("x")
        elif what == "remove":
            Path(target).unlink()
        elif what == "truncate":
            os.truncate(target, 0)
        elif what == "make directory":
            Path(target).mkdir()
        elif what == "link":
            Path(target).symlink_to("/etc")
        elif what == "move out":
            Path("own file").write_text("x")
            Path("own file").rename(target)
        elif what == "read":
            return f"read {len(Path(target).read_bytes())}"
        elif what == "run":
            subprocess.run([target], check=True)
        elif what == "connect":
            with socket.create_connection(("127.0.0.1", int(target)), timeout=1):
                pass
        elif what == "listen":
            with socket.create_server(("127.0.0.1", 0)):
                pass
        elif what == "signal":
            os.kill(int(target), 0)
        else:
            raise ValueError(what)
    except OSError as error:
        return f"refused {error.errno}"
    return "done"
