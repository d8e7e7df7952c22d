from __future__ import annotations

import subprocess
import sys

# What the development group alone brings: an installation without it is how the image runs.
CODE = """
import sys
for name in ("scipy", "hypothesis", "pytest", "schemathesis", "importlinter", "mypy"):
    sys.modules[name] = None
from sql_optim_env.cli import app
print(*sorted(command.name for command in app.registered_commands))
"""


def test_the_command_starts_where_only_the_runtime_is_installed() -> None:
    run = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["bench", "build", "check", "demo", "record", "replay", "serve", "tasks", "trust"]
