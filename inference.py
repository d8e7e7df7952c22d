"""Plays tasks of sql_optim_env with a language model behind an OpenAI-compatible API, or with a built-in player.

    API_BASE_URL=http://localhost:8080/v1 MODEL_NAME=my-model HF_TOKEN=… python inference.py --task task_1_basic_antipatterns
    python inference.py --player oracle --family tune --url http://localhost:8000

Standard output holds the lines [START], [STEP] and [END] and nothing else; whatever else there is to say goes to standard error.
docs/inference.md has the details.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TextIO, get_args
from urllib.parse import urlsplit

from sql_optim_env.agents.chat import ChatClient, ModelRefused, ModelUnavailable, RetryPolicy
from sql_optim_env.agents.llm import ModelPlayer
from sql_optim_env.agents.player import Player
from sql_optim_env.agents.rollout import rollout
from sql_optim_env.agents.roster import PLAYER_NAMES, make_player
from sql_optim_env.agents.transcript import Transcript
from sql_optim_env.cli.environment import environment, listed_tasks, packaged_tasks
from sql_optim_env.cli.signals import Signals, Stopped
from sql_optim_env.client import SQLOptimEnv
from sql_optim_env.errors import InvalidArgumentError, SQLOptimError
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.splits import SPLITS
from sql_optim_env.tasks.task import Family

DEFAULT_API_BASE_URL = "https://router.huggingface.co/v1"
"""Where an HF_TOKEN is good for."""

_UNAVAILABLE_IN_A_ROW = 2
"""Episodes that may end one after the other because the model does not answer; then the rest is not begun."""


class OutputClosed(BaseException):
    """Whoever read standard output has gone."""


def say(text: object) -> None:
    """Tell the person who watches."""
    print(text, file=sys.stderr, flush=True)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line, with the environment's variables as defaults."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", action="append", default=[], metavar="ID", help="a task to play; may be given several times")
    parser.add_argument("--family", choices=get_args(Family), help="without --task: the tasks of this family (default: of every family)")
    parser.add_argument("--split", choices=SPLITS, help="without --task: the tasks of this split (default: of both)")
    parser.add_argument("--generated", action="store_true", help="without --task: the generated tasks too, not only those made by hand")
    parser.add_argument("--seed", type=int, help="the seed of every reset (default: none)")
    parser.add_argument("--url", help="a running server (default: LOCAL_IMAGE_NAME's container, or else a server of our own)")
    parser.add_argument("--player", choices=PLAYER_NAMES, help="a built-in player in the place of a model")
    parser.add_argument("--max-steps", type=_count, metavar="N", help="actions of an episode at most (default: as the task allows)")
    model = parser.add_argument_group("model", "API_BASE_URL, MODEL_NAME and HF_TOKEN say which; the token is read from there only")
    model.add_argument("--stream", action=argparse.BooleanOptionalAction, default=False, help="have replies streamed (default: no)")
    model.add_argument("--temperature", type=_temperature, default=0.0, metavar="T", help="0 by default; none: as the endpoint likes")
    model.add_argument("--max-tokens", type=_count, metavar="N", help="longest reply (default: the endpoint's own limit)")
    model.add_argument("--timeout", type=_amount, default=120.0, metavar="SECONDS", help="for one request (default: 120)")
    model.add_argument("--retries", type=int, default=5, metavar="N", help="of a request that failed for a passing reason (default: 5)")
    model.add_argument(
        "--retry-wait", type=_amount, default=1.0, metavar="SECONDS", help="before the first retry, then doubled (default: 1)"
    )
    model.add_argument("--context-chars", type=_count, default=60_000, metavar="N", help="of past turns in a request (default: 60000)")
    options = parser.parse_args(arguments)
    options.model = os.environ.get("MODEL_NAME", "").strip()
    options.image = os.environ.get("LOCAL_IMAGE_NAME", "").strip()
    options.api = os.environ.get("API_BASE_URL", "").strip() or DEFAULT_API_BASE_URL
    # Taken out, so that no process we start inherits it.
    options.token = os.environ.pop("HF_TOKEN", "")
    if not options.player and not options.model:
        parser.error("set MODEL_NAME (and API_BASE_URL, HF_TOKEN) to play with a model, or choose a --player")
    return options


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _amount(text: str) -> float:
    number = float(text)
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError("must not be negative")
    return number


def _temperature(text: str) -> float | None:
    return None if text.lower() == "none" else float(text)


def player_of(options: argparse.Namespace, stack: ExitStack) -> Player:
    """The player that the options ask for."""
    if options.player:
        return make_player(options.player, catalogue().get)
    client = ChatClient(
        options.api,
        options.model,
        options.token,
        stream=options.stream,
        temperature=options.temperature,
        max_tokens=options.max_tokens,
        timeout_s=options.timeout,
        retry=RetryPolicy(options.retries, options.retry_wait),
        say=say,
    )
    stack.callback(client.close)
    say(f"asking {options.model} at {urlsplit(options.api).hostname}")
    return ModelPlayer(client, options.model, context_chars=options.context_chars, say=say)


def play_task(url: str, player: Player, task: str, options: argparse.Namespace, signals: Signals, write: Callable[[str], None]) -> None:
    """Play one task and tell of it. Whatever happens between [START] and [END], the latter is written."""
    transcript = Transcript(write, task=task, model=player.name)
    try:
        try:
            signals.whole(transcript.start)
            with SQLOptimEnv(base_url=url).sync() as session:
                rollout(
                    session,
                    player,
                    transcript,
                    task_id=task,
                    seed=options.seed,
                    max_steps=options.max_steps,
                    repeats=isinstance(player, ModelPlayer),
                )
        finally:
            signals.whole(transcript.end)
    finally:
        # Reached with an open transcript only when a signal came just before the line above.
        transcript.end()


def play_all(
    url: str, player: Player, tasks: Sequence[str], options: argparse.Namespace, signals: Signals, write: Callable[[str], None]
) -> bool:
    """Play the tasks one after the other; whether every one could be played."""
    failed = unavailable = 0
    for place, task in enumerate(tasks):
        try:
            play_task(url, player, task, options, signals, write)
            unavailable = 0
        except ModelRefused as error:
            say(f"{task}: {error}\n{len(tasks) - place - 1} more tasks were not begun, since the model would refuse them too")
            return False
        except ModelUnavailable as error:
            failed += 1
            unavailable += 1
            say(f"{task}: {error}")
            if unavailable == _UNAVAILABLE_IN_A_ROW and place + 1 < len(tasks):
                say(f"{len(tasks) - place - 1} more tasks were not begun, since the model does not answer")
                return False
        except (SQLOptimError, OSError) as error:
            failed += 1
            say(f"{task}: the episode could not be played: {str(error) or type(error).__name__}")
        except Exception:
            failed += 1
            say(f"{task}: the episode could not be played:\n{traceback.format_exc()}")
    say(f"{len(tasks) - failed} of {len(tasks)} episodes were played")
    return failed == 0


def run(options: argparse.Namespace, signals: Signals, write: Callable[[str], None]) -> int:
    """Everything between the command line and the exit status."""
    with ExitStack() as stack:
        try:
            player = player_of(options, stack)
        except InvalidArgumentError as error:
            say(error)
            return 2
        try:
            url = stack.enter_context(environment(url=options.url, image=options.image, say=say))
            tasks = options.task or listed_tasks(url, family=options.family, split=options.split, generated=options.generated)
        except Exception as error:
            say(f"there is no environment to play in: {str(error) or type(error).__name__}")
            for task in options.task or packaged_tasks(family=options.family, split=options.split):
                transcript = Transcript(write, task=task, model=player.name)
                transcript.start()
                transcript.end()
            return 1
        if not tasks:
            say("no task matches")
            return 2
        played = play_all(url, player, tasks, options, signals, write)
        if isinstance(player, ModelPlayer):
            counted = player.tokens
            say(f"model: {counted.requests} replies, {counted.prompt} prompt tokens, {counted.completion} completion tokens")
        return 0 if played else 1


def claim_stdout() -> TextIO:
    """Standard output for the transcript alone: what else is printed, here or by a process we start, goes to standard error."""
    own = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", errors="backslashreplace")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return own


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0 every episode was played, 1 one could not be, 2 wrong usage, 128 + n ended by signal n."""
    options = parse(arguments)
    out = claim_stdout()
    signals = Signals()

    def put(line: str) -> None:
        try:
            out.write(line + "\n")
            out.flush()
        except BrokenPipeError:
            raise OutputClosed from None

    def write(line: str) -> None:
        signals.whole(lambda: put(line))

    try:
        return run(options, signals, write)
    except Stopped:
        say("stopped by a signal")
        return 128 + (signals.number or 0)
    except OutputClosed:
        # Who read our output has gone; what is still buffered would fail again when the stream is closed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        say("standard output was closed")
        return 1


if __name__ == "__main__":
    sys.exit(main())
