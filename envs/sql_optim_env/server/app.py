"""The server: OpenEnv's application around our environment, with readiness, metrics, limits and an orderly end.

``server`` (or ``python -m sql_optim_env.server.app``) runs it in the foreground; ``create`` makes the application for any ASGI server.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.types import ConcurrencyConfig

from sql_optim_env import __version__
from sql_optim_env.errors import CallerError, EpisodeStateError, InfraError, SessionExpiredError, UnknownTaskError
from sql_optim_env.models import SQLOptimAction, SQLOptimObservation, SQLOptimState
from sql_optim_env.server.body_limit import BodyLimit
from sql_optim_env.server.environment import SQLOptimEnvironment
from sql_optim_env.server.metadata import ENV_NAME, AboutEnvironment, TaskList, environment_metadata, task_list
from sql_optim_env.server.metrics import CONTENT_TYPE
from sql_optim_env.server.runtime import Runtime
from sql_optim_env.server.settings import Settings, parse_flags

__all__ = ["create", "main"]

_STATUS_OF_ERROR: tuple[tuple[type[Exception], int], ...] = (
    (UnknownTaskError, 404),
    (SessionExpiredError, 410),
    (EpisodeStateError, 409),
    (CallerError, 422),
    (InfraError, 503),
)

_SHUTDOWN_S = 3
"""Seconds open connections get to end after the workers are gone."""


def create(settings: Settings | None = None, runtime: Runtime | None = None) -> FastAPI:
    """The application. Nothing is started before its lifespan begins; the runtime is at ``app.state.runtime``."""
    settings = settings if settings is not None else Settings()
    shared = runtime if runtime is not None else Runtime(settings)

    def environment() -> SQLOptimEnvironment:
        return SQLOptimEnvironment(shared)

    # The core takes this one setting from the process environment only; the web page's library would phone home if it were not told.
    os.environ["ENABLE_WEB_INTERFACE"] = str(settings.enable_web).lower()
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    app: FastAPI = create_app(
        environment,
        SQLOptimAction,
        SQLOptimObservation,
        env_name=ENV_NAME,
        concurrency_config=ConcurrencyConfig(max_concurrent_envs=settings.max_sessions, session_timeout=settings.session_timeout_s),
        state_cls=SQLOptimState,
    )
    app.state.runtime = shared
    _own_lifespan(app, shared)
    _add_routes(app, shared)
    for kind in (CallerError, InfraError):
        app.add_exception_handler(kind, _error_answer)
    app.add_middleware(BodyLimit, limit=settings.max_body_bytes)
    return app


def _own_lifespan(app: FastAPI, runtime: Runtime) -> None:
    # The core hangs its own start and stop hooks on the application, so its lifespan is wrapped, not replaced.
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(application: Any) -> AsyncIterator[None]:
        runtime.start()
        try:
            async with inner(application):
                yield
        finally:
            await asyncio.to_thread(runtime.close)

    app.router.lifespan_context = lifespan


def _add_routes(app: FastAPI, runtime: Runtime) -> None:
    # The core's own route answers the fields of its model and drops those of a subclass.
    app.router.routes[:] = [route for route in app.router.routes if getattr(route, "path", None) != "/metadata"]

    @app.get("/metadata", tags=["Environment Info"], summary="What this environment is, and which families of tasks it has")
    def about() -> AboutEnvironment:
        return environment_metadata(runtime.tasks, runtime.families)

    @app.get("/tasks", tags=["Task API"], summary="All tasks of all families, with the names of their graders")
    def tasks() -> TaskList:
        return task_list(runtime.tasks)

    @app.get("/ready", tags=["Health"], summary="Whether a reset would be answered now")
    def ready() -> JSONResponse:
        state = runtime.readiness
        body = {"status": state.status, "progress": state.progress}
        if state.error:
            body["error"] = state.error
        if state.ready:
            body |= {"version": __version__, **runtime.versions()}
        return JSONResponse(body, 200 if state.ready else 503)

    @app.get("/metrics", tags=["Health"], summary="Counters in Prometheus' text format")
    def metrics() -> Response:
        return Response(runtime.metrics.render(), media_type=CONTENT_TYPE)

    if not runtime.settings.enable_web:

        @app.get("/", include_in_schema=False)
        def root() -> dict[str, str]:
            return {
                "name": ENV_NAME,
                "version": __version__,
                "websocket": "/ws",
                "schema": "/schema",
                "tasks": "/tasks",
                "splits": f"/{ENV_NAME}/splits",
                "metadata": "/metadata",
                "health": "/health",
                "ready": "/ready",
                "metrics": "/metrics",
                "documentation": "/docs",
            }


async def _error_answer(request: Request, error: Exception) -> JSONResponse:
    status = next(status for kind, status in _STATUS_OF_ERROR if isinstance(error, kind))
    return JSONResponse({"detail": str(error), "error": type(error).__name__}, status)


class _Server(uvicorn.Server):
    """Ends the workers before it waits for connections: a step that is under way would hold its connection for a whole deadline."""

    def __init__(self, config: uvicorn.Config, runtime: Runtime) -> None:
        super().__init__(config)
        self._runtime = runtime

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop the workers, then close the connections."""
        await asyncio.to_thread(self._runtime.close)
        await super().shutdown(sockets)


class _NoSessionChatter(logging.Filter):
    """Drops the three lines that a session which opens and closes in good order would leave in the log."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is worth a line."""
        return not record.getMessage().endswith(("connection open", "connection closed", "[accepted]"))


def _configure_logging(level: str) -> None:
    logging.basicConfig(level=level.upper(), stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True)
    if level != "debug":
        logging.getLogger("uvicorn.error").addFilter(_NoSessionChatter())
        for chatty in ("uvicorn.access", "mcp", "httpx", "asyncio"):
            logging.getLogger(chatty).setLevel(logging.WARNING)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the server in the foreground until SIGTERM or SIGINT; the flags are the settings."""
    settings = parse_flags(arguments)
    _configure_logging(settings.log_level)
    runtime = Runtime(settings)
    config = uvicorn.Config(
        create(settings, runtime),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=settings.log_level == "debug",
        ws_max_size=settings.max_frame_bytes,
        timeout_graceful_shutdown=_SHUTDOWN_S,
    )
    # uvicorn raises the signal again once it has shut down in good order; that is a success, not a death by signal.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    _Server(config, runtime).run()


def __getattr__(name: str) -> object:
    # ``uvicorn sql_optim_env.server.app:app`` and OpenEnv's manifest name an application; it is made when asked for, not on import.
    if name == "app":
        return create()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if __name__ == "__main__":
    main()
