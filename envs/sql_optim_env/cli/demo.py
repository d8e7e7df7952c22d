"""``sql-optim demo``: a real server, a real client, one episode a task and player."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sql_optim_env.agents.player import EpisodeResult, play
from sql_optim_env.agents.recording import Recorder, Recording
from sql_optim_env.agents.roster import make_player
from sql_optim_env.agents.tune import Experiment, experiments
from sql_optim_env.cli.local_server import LocalServer
from sql_optim_env.client import SQLOptimEnv
from sql_optim_env.tasks.catalogue import catalogue

__all__ = ["PLAYERS", "demo"]

PLAYERS = ("oracle", "null", "echo")

_TABLE_WIDTH = 110
_TUNED_TASK = "tune_country_vet"
"""A task on which plausible indexes make a correct rewrite worse."""
_AUDITED_TASK = "dedup_bug"
"""A task that asks for a repair and for the names of its cause."""


def demo(as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False) -> None:
    """Build the datasets, start a server on a free port, play every task with the oracle, the null and the echo player, stop the server."""
    said = Console(stderr=True, highlight=False)
    with LocalServer({"SQL_OPTIM_LOG_LEVEL": "warning"}, progress=said.print) as server:
        said.print(f"server ready on {server.url}")
        results = _play_all(server.url)
        tuned = () if as_json else _experiment(server.url)
        audited = None if as_json else _audit(server.url)
    if as_json:
        typer.echo(json.dumps([_row(result) for result in results], indent=2))
    else:
        # A pipe or a narrow terminal must not cut the figures.
        console = Console(width=max(Console().width, _TABLE_WIDTH))
        console.print(_table(results))
        if tuned:
            console.print(_experiments_table(tuned))
        if audited is not None:
            console.print(_audit_table(audited))


def _play_all(url: str) -> list[EpisodeResult]:
    tasks = catalogue()
    players = [make_player(name, tasks.get) for name in PLAYERS]
    with SQLOptimEnv(base_url=url).sync() as client:
        return [play(client, player, task_id=task.id, seed=0) for task in tasks.hand_made() for player in players]


def _experiment(url: str) -> tuple[Experiment, ...]:
    """Every known submission of one tune task, tried on a scratch copy and then handed in."""
    with SQLOptimEnv(base_url=url).sync() as client:
        return experiments(client, catalogue().get(_TUNED_TASK))


def _audit(url: str) -> Recording:
    """One audit episode, step by step, as one plays it who knows the defect."""
    with SQLOptimEnv(base_url=url).sync() as client:
        recorder = Recorder(client)
        play(recorder, make_player("oracle", catalogue().get), task_id=_AUDITED_TASK, seed=0)
        return recorder.recording()


def _row(result: EpisodeResult) -> dict[str, Any]:
    return {
        "family": result.family,
        "task_id": result.task_id,
        "player": result.player,
        "score": result.score,
        "reward": result.reward,
        "cost_before": result.cost_before,
        "cost_after": result.cost_after,
        "ms_before": result.ms_before,
        "ms_after": result.ms_after,
    }


def _table(results: list[EpisodeResult]) -> Table:
    table = Table(title="One episode a task and player", caption="cost: deterministic work units; ms: CPU time, from a clock")
    for heading in ("task", "player"):
        table.add_column(heading, no_wrap=True)
    for heading in ("score", "cost before", "cost after", "ms before", "ms after"):
        table.add_column(heading, justify="right")
    for place, result in enumerate(results):
        table.add_row(
            result.task_id,
            result.player,
            f"{result.score:.3f}",
            _count(result.cost_before),
            _count(result.cost_after),
            _milliseconds(result.ms_before),
            _milliseconds(result.ms_after),
            end_section=place % len(PLAYERS) == len(PLAYERS) - 1,
        )
    return table


def _experiments_table(tuned: tuple[Experiment, ...]) -> Table:
    table = Table(title=f"{_TUNED_TASK}: what each half of the answer is worth", caption="pages: logical reads, hits and misses alike")
    table.add_column("submission", no_wrap=True)
    for heading in ("pages on the scratch copy", "pages when graded", "score"):
        table.add_column(heading, justify="right")
    for experiment in tuned:
        table.add_row(experiment.name, _count(experiment.scratch_pages), _count(experiment.pages), f"{experiment.score:.3f}")
    return table


def _audit_table(recording: Recording) -> Table:
    last = recording.answers[-1]["observation"]
    table = Table(title=f"{_AUDITED_TASK}: an episode of the audit family", caption=f"score {last['score']:.3f}")
    for heading in ("step", "kind"):
        table.add_column(heading, no_wrap=True)
    for heading in ("action", "what came of it"):
        table.add_column(heading, overflow="fold")
    for entry in last["history"]:
        table.add_row(str(entry["step"]), entry["kind"], escape(entry["action"]), escape(entry["outcome"]))
    return table


def _count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _milliseconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
