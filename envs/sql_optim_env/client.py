"""The typed client: ``SQLOptimEnv`` over a WebSocket session, asynchronous by nature, synchronous through ``.sync()``.

    async with SQLOptimEnv(base_url="http://localhost:8000") as env:
        result = await env.reset(task_id="task_1_basic_antipatterns")
        result = await env.step(SQLOptimAction(optimized_query="SELECT ..."))

What the server answers with OpenEnv's error envelope is raised here:

    ServerError                  the call was refused; ``code`` is OpenEnv's code, the session lives
    ├── SessionExpired           the session was idle too long; the next ``reset`` opens a new one by itself
    └── InfraFault               the server failed, not the agent: drop the rollout, do not score it (also an ``InfraError``)
"""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from typing import Any

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient
from websockets.exceptions import ConnectionClosed

from sql_optim_env.errors import INFRA_PREFIX, SESSION_EXPIRED_PREFIX, InfraError, SessionExpiredError, SQLOptimError
from sql_optim_env.models import SQLOptimAction, SQLOptimObservation, SQLOptimState

__all__ = [
    "ENV_NAME",
    "InfraFault",
    "SQLOptimEnv",
    "ServerError",
    "SessionExpired",
    "SqlOptimAction",
    "SqlOptimEnv",
    "SqlOptimObservation",
]

ENV_NAME = "sql_optim_env"
"""The environment's name on the wire, part of the Task API's paths."""

_MESSAGE_TIMEOUT_S = 120.0
"""Longer than the longest step: a graded submit runs on a handful of instances, each within the server's deadline."""


class ServerError(SQLOptimError, RuntimeError):
    """The server refused a call. ``code`` is one of OpenEnv's codes, ``message`` the server's own words."""

    def __init__(self, message: str, code: str) -> None:
        RuntimeError.__init__(self, message)
        self.message = message
        self.code = code


class SessionExpired(ServerError, SessionExpiredError):
    """The session was closed because nothing was said for too long. The episode is lost; ``reset`` starts another."""


class InfraFault(ServerError, InfraError):
    """The server failed, not the agent. Never a score: a trainer drops the rollout."""

    def __init__(self, message: str, code: str) -> None:
        ServerError.__init__(self, message, code)


class SQLOptimEnv(EnvClient[SQLOptimAction, SQLOptimObservation, SQLOptimState]):
    """One session with a server. ``reset(seed=, episode_id=, task_id=, family=, split=, index=, difficulty=, reward_profile=)``.

    The observation of every result carries ``reward`` and ``done`` like the result itself; after ``reset`` the reward is None.
    """

    def __init__(self, base_url: str | None = None, *, message_timeout_s: float = _MESSAGE_TIMEOUT_S, **options: Any) -> None:
        super().__init__(base_url=base_url, message_timeout_s=message_timeout_s, **options)

    def _step_payload(self, action: SQLOptimAction) -> dict[str, Any]:
        return action.model_dump(mode="json", exclude_defaults=True)

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[SQLOptimObservation]:
        reward, done = payload.get("reward"), bool(payload.get("done", False))
        fields = {**payload.get("observation", {}), "reward": reward, "done": done}
        observation = SQLOptimObservation.model_validate(fields)
        return StepResult(observation=observation, reward=reward, done=done, metadata=observation.metadata)

    def _parse_state(self, payload: dict[str, Any]) -> SQLOptimState:
        return SQLOptimState.model_validate(payload)

    async def _send_and_receive(self, message: dict[str, Any]) -> dict[str, Any]:
        try:
            await self._send(message)
        except ConnectionClosed:
            # A refused session gets an error frame before the close; the frame may still be waiting to be read.
            pass
        answer = await self._receive()
        if answer.get("type") == "error":
            error = answer.get("data", {})
            raise await self._error(str(error.get("message", "")), str(error.get("code", "UNKNOWN")), error)
        return answer

    async def _error(self, message: str, code: str, data: dict[str, Any]) -> ServerError:
        if message.startswith(INFRA_PREFIX):
            return InfraFault(message, code)
        if message.startswith(SESSION_EXPIRED_PREFIX):
            # The server keeps the dead session's socket open; without it the next reset opens a session that counts.
            await self._disconnect_async()
            return SessionExpired(message, code)
        if code == "VALIDATION_ERROR":
            details = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in data.get("errors", ()))
            return ServerError(f"{message}: {details}" if details else message, code)
        return ServerError(message, code)

    async def list_splits(self) -> list[dict[str, Any]]:
        """The splits tasks are divided into, each {name, type}."""
        return list(await self._task_api("splits"))

    async def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """The public facts of every task of a split, in index order: id, split, index, family, difficulty, name."""
        return list((await self._task_api("tasks", split=split))["tasks"])

    async def num_tasks(self, split: str) -> int:
        """How many tasks a split has."""
        return int((await self._task_api("num_tasks", split=split))["num_tasks"])

    async def get_task(self, split: str, index: int) -> dict[str, Any]:
        """The public facts of one task."""
        return dict((await self._task_api("task", split=split, index=index))["task"])

    async def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> list[dict[str, Any]]:
        """The public facts of the tasks ``split[start:stop]``."""
        return list((await self._task_api("task_range", split=split, start=start, stop=stop))["tasks"])

    async def _task_api(self, path: str, **body: Any) -> Any:
        if self.base_url is None:
            await self._ensure_connected()
        url = f"{str(self.base_url).replace('ws', 'http', 1) if str(self.base_url).startswith('ws') else self.base_url}/{ENV_NAME}/{path}"
        request = urllib.request.Request(url, headers={"Content-Type": "application/json", **(self._headers or {})})
        if body:
            request.data = json.dumps(body).encode()
        return await asyncio.to_thread(_fetch, request, self._message_timeout)


def _fetch(request: urllib.request.Request, timeout_s: float) -> Any:
    try:
        with urllib.request.urlopen(request, timeout=timeout_s) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            text = error.read().decode(errors="replace")
        try:
            message = str(json.loads(text)["detail"])
        except (ValueError, KeyError, TypeError):
            message = text
        raise ServerError(message, f"HTTP_{error.code}") from None


SqlOptimEnv = SQLOptimEnv
SqlOptimAction = SQLOptimAction
SqlOptimObservation = SQLOptimObservation
"""Spellings that OpenEnv's ``AutoEnv`` derives from the environment's name."""
