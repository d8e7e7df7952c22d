"""The host of a server under test: what lies around it, and its processes."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import psutil

from contract.scripts import Script
from sql_optim_env.agents.recording import Recorder
from sql_optim_env.cli.local_server import LocalServer

ROOT = Path(__file__).parents[3]
WORD = "quokka-7291"
"""Planted where a server's host keeps things that no agent may see: its environment and a file."""
DEADLINE_S = 5.0
"""Of the servers of these checks: half the usual one, for the statements that would run for ever."""


def tree(server: LocalServer) -> list[psutil.Process]:
    """The server and everything that it has started."""
    process = psutil.Process(server.pid)
    return [process, *process.children(recursive=True)]


def workers(server: LocalServer) -> list[psutil.Process]:
    """Those that are children of the server's child, the fork server."""
    return [worker for child in psutil.Process(server.pid).children() for worker in child.children()]


def get(server: LocalServer, path: str, body: object = None) -> str:
    """The body of a GET, or of a POST when there is something to send."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server.url + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return str(answer.read().decode())


def transcript(client: Any, played: Script) -> list[dict[str, Any]]:
    """Every answer without clock figures, and the state after each."""
    recorder, states = Recorder(client), []
    recorder.reset(**played.reset, episode_id="one")
    states.append(client.state().model_dump())
    for action in played.actions:
        recorder.step(action)
        states.append(client.state().model_dump())
    return [{**answer, "state": state} for answer, state in zip(recorder.recording().answers, states, strict=True)]
