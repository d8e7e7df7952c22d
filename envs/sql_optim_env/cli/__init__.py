"""The ``sql-optim`` command: one module a subcommand, imported only when it is run."""

from __future__ import annotations

import typer

from sql_optim_env.cli import bench, build, check, demo, replay, serve, tasks, trust

__all__ = ["app"]

app = typer.Typer(name="sql-optim", help="Run, show, check and measure the SQL optimisation environment.", no_args_is_help=True)
app.command("serve")(serve.serve)
app.command("build")(build.build)
app.command("demo")(demo.demo)
app.command("tasks")(tasks.tasks)
app.command("check")(check.check)
app.command("bench")(bench.bench)
app.command("record")(replay.record)
app.command("replay")(replay.replay_file)
app.command("trust")(trust.trust)
