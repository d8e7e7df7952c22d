"""``sql-optim record`` and ``sql-optim replay``: an episode as a file, and whether it comes back the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from sql_optim_env.agents.player import Session, play
from sql_optim_env.agents.recording import Recorder, Recording, replay
from sql_optim_env.agents.roster import PLAYER_NAMES, make_player
from sql_optim_env.cli.local_server import local_session
from sql_optim_env.client import SQLOptimEnv
from sql_optim_env.errors import InvalidArgumentError, UnknownTaskError
from sql_optim_env.tasks.catalogue import catalogue

__all__ = ["record", "replay_file"]

_Url = Annotated[str, typer.Option(help="A running server; without one, a local server is started.")]


def record(
    task_id: Annotated[str, typer.Argument(help="The task to play.")],
    file: Annotated[Path, typer.Argument(help="Where the recording goes.")],
    player: Annotated[str, typer.Option(help=f"One of {', '.join(PLAYER_NAMES)}.")] = "oracle",
    seed: Annotated[int | None, typer.Option(help="The seed of the reset.")] = None,
    url: _Url = "",
) -> None:
    """Play one episode and write down what was sent and what came back."""
    try:
        catalogue().get(task_id)
        chosen = make_player(player, catalogue().get)
    except (InvalidArgumentError, UnknownTaskError) as error:
        raise typer.BadParameter(str(error)) from None
    with _session(url) as session:
        recorder = Recorder(session)
        play(recorder, chosen, task_id=task_id, seed=seed)
    file.write_text(recorder.recording().to_json() + "\n", encoding="utf-8")


def replay_file(file: Annotated[Path, typer.Argument(help="A recorded episode.")], url: _Url = "") -> None:
    """Play a recorded episode again. Exits 1, and says where, when anything but a clock's figure comes back different."""
    try:
        recording = Recording.from_json(file.read_text(encoding="utf-8"))
    except (OSError, InvalidArgumentError) as error:
        raise typer.BadParameter(str(error)) from None
    with _session(url) as session:
        mismatches = replay(session, recording)
    console = Console(highlight=False, soft_wrap=True)
    for mismatch in mismatches:
        console.print(f"step {mismatch.step}: {mismatch.field} was {mismatch.recorded!r} and is {mismatch.replayed!r}", markup=False)
    if mismatches:
        raise typer.Exit(1)
    console.print(f"{len(recording.actions)} steps came back the same")


@contextmanager
def _session(url: str) -> Iterator[Session]:
    if url:
        with SQLOptimEnv(base_url=url).sync() as client:
            yield client
        return
    with local_session() as session:
        yield session
