"""OpenEnv's face: ``reset``, ``step``, ``state`` and the Task API, one instance a session.

This is the seam where the three kinds of trouble part: an episode turns the agent's errors into observations; what still arrives here as an
exception is the caller's (its text goes out as it is) or ours (its text begins with ``infra_error:``). Both leave the session alive.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import EnvironmentMetadata

from sql_optim_env.errors import CallerError, EpisodeStateError, InfraError, InvalidArgumentError, SessionExpiredError
from sql_optim_env.families.base import Episode
from sql_optim_env.models import SQLOptimAction, SQLOptimObservation, SQLOptimState
from sql_optim_env.server.metadata import environment_metadata
from sql_optim_env.server.rubric import GradeRubric
from sql_optim_env.server.runtime import Runtime
from sql_optim_env.server.selection import check_arguments, choose_task, count_of, task_at, tasks_of
from sql_optim_env.server.size import fit
from sql_optim_env.tasks.catalogue import public_spec
from sql_optim_env.tasks.splits import SPLITS

__all__ = ["SQLOptimEnvironment"]

_LOG = logging.getLogger(__name__)


class SQLOptimEnvironment(Environment[SQLOptimAction, SQLOptimObservation, SQLOptimState]):
    """One session. Making one is cheap: everything heavy belongs to the shared ``runtime``."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(rubric=GradeRubric())
        self._runtime = runtime
        self._episode: Episode | None = None
        self._state = SQLOptimState()
        self._closed = False
        self._counted = False

    def reset(self, seed: int | None = None, episode_id: str | None = None, **options: Any) -> SQLOptimObservation:
        """Start an episode of the task that the arguments name (``selection.ARGUMENTS``).

        Waits for a server that is still preparing. An argument that is refused leaves the running episode as it is.
        """
        with self._seam():
            self._refuse_closed()
            return self._start({"seed": seed, "episode_id": episode_id, **options})

    def step(self, action: SQLOptimAction, timeout_s: float | None = None, **options: Any) -> SQLOptimObservation:
        """Play one action.

        ``timeout_s`` is OpenEnv's; a statement's deadline is the server's setting and the same for everyone. Over stateless HTTP, where
        no session remembers a reset, ``options`` may be those of ``reset`` (at least a ``task_id``) and start the episode on the spot.
        """
        with self._seam():
            self._refuse_closed()
            options.pop("request_id", None)
            if options and self._episode is not None:
                raise InvalidArgumentError(f"step takes no {', '.join(sorted(options))} while an episode is running")
            if options:
                self._start(options)
            return self._play(action)

    @property
    def state(self) -> SQLOptimState:
        """The live state; no answer is in it."""
        return self._state

    def close(self) -> None:
        """End the session; idempotent. The server calls it when a session ends or was idle for too long."""
        if self._counted:
            self._runtime.metrics.sessions.dec()
            self._counted = False
        self._closed = True
        self._leave()

    def get_metadata(self) -> EnvironmentMetadata:
        """Name, description, version, the README and the families, for ``/metadata`` and the web page."""
        return environment_metadata(self._runtime.tasks, self._runtime.families)

    def list_splits(self) -> list[str]:
        """The names of the splits."""
        return list(SPLITS)

    def list_tasks(self, split: str) -> list[dict[str, object]]:
        """The public facts of a split's tasks, in index order. Raises IndexError for an unknown split."""
        return [public_spec(task) for task in tasks_of(self._runtime.tasks, split)]

    def num_tasks(self, split: str) -> int:
        """How many tasks a split has. Raises IndexError for an unknown split."""
        return count_of(self._runtime.tasks, split)

    def get_task(self, split: str, index: int) -> dict[str, object]:
        """The public facts of one task. Raises IndexError for an unknown split or an index outside it; negative indices are outside."""
        return public_spec(task_at(self._runtime.tasks, split, index))

    def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> list[dict[str, object]]:
        """The public facts of ``split[start:stop]``. Raises IndexError for an unknown split or a negative bound."""
        if min(start or 0, stop or 0) < 0:
            raise IndexError("bounds count from 0")
        return self.list_tasks(split)[start:stop]

    def _start(self, arguments: dict[str, Any]) -> SQLOptimObservation:
        runtime = self._runtime
        wanted = check_arguments(arguments)
        task = choose_task(runtime.tasks, wanted)
        runtime.wait_ready()
        episode = runtime.families.build(
            task,
            runtime.runner,
            schema_info=runtime.schema_info(task),
            profile=wanted.reward_profile or runtime.settings.reward_profile,
            reward_mode=runtime.settings.reward,
            seed=wanted.seed,
        )
        observation = episode.opening()
        self._leave()
        self._episode = episode
        self._reset_rubric()
        self._state = SQLOptimState(
            episode_id=wanted.episode_id or str(uuid.uuid4()),
            task_id=task.id,
            family=task.family,
            max_steps=task.max_steps,
            current_task=public_spec(task),
        )
        if not self._counted:
            runtime.metrics.sessions.inc()
            self._counted = True
        runtime.metrics.resets.labels(task.family).inc()
        return self._out(observation)

    def _leave(self) -> None:
        """Give back what the present episode holds, if there is one."""
        episode, self._episode = self._episode, None
        if episode is not None:
            episode.close()

    def _play(self, action: SQLOptimAction) -> SQLOptimObservation:
        episode = self._episode
        if episode is None:
            raise EpisodeStateError("there is no episode: call reset first (over HTTP, which keeps no session, give the step a task_id)")
        if episode.done:
            raise EpisodeStateError("the episode is over: call reset")
        began = time.perf_counter()
        outcome = episode.handle(action)
        metrics = self._runtime.metrics
        metrics.step_seconds.labels(action.kind).observe(time.perf_counter() - began)
        metrics.steps.labels(episode.task.family, action.kind).inc()
        observation = outcome.observation
        if observation.error is not None:
            metrics.errors.labels("agent", observation.error.code).inc()
        observation.reward = self._apply_rubric(action, observation)
        self._state.step_count = episode.step_count
        self._state.best_score = episode.best_score
        self._state.cumulative_reward = episode.cumulative_reward
        self._state.episode_done = outcome.done
        return self._out(observation)

    def _out(self, observation: SQLOptimObservation) -> SQLOptimObservation:
        transformed: SQLOptimObservation = self._apply_transform(observation)
        return fit(transformed)

    def _refuse_closed(self) -> None:
        if self._closed:
            limit = self._runtime.settings.session_timeout_s
            raise SessionExpiredError(f"the session was idle for more than {limit:g} s and its episode is gone; connect again and reset")

    @contextmanager
    def _seam(self) -> Iterator[None]:
        """Let the caller's errors and ours out as they are; anything unforeseen is ours, and only its kind is told."""
        errors = self._runtime.metrics.errors
        try:
            yield
        except CallerError as error:
            errors.labels("caller", type(error).__name__).inc()
            raise
        except InfraError as error:
            errors.labels("infra", type(error).__name__).inc()
            _LOG.warning("%s", error)
            raise
        except Exception as error:
            errors.labels("infra", type(error).__name__).inc()
            _LOG.exception("unforeseen error in a session")
            raise InfraError(f"unforeseen {type(error).__name__} in the server") from error
