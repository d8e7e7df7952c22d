"""The server's settings: one class, from which the environment variables, the command line flags and the documented table are all made."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import Field, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, SettingsConfigDict

from sql_optim_env.datasets.store import default_data_dir

__all__ = ["ENV_PREFIX", "Settings", "parse_flags", "settings_table", "usable_cores"]

ENV_PREFIX = "SQL_OPTIM_"

_Positive = Annotated[float, Field(gt=0)]


def usable_cores(quota_file: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """Cores this process may use: those it is bound to, and no more than a container's quota, which the machine's count does not show."""
    cores = len(os.sched_getaffinity(0))
    try:
        quota, period = quota_file.read_text(encoding="ascii").split()
        return max(1, min(cores, int(quota) // int(period)))
    except (OSError, ValueError):
        # No such file, or a quota of "max".
        return cores


class Settings(BaseSettings):
    """Everything a server can be told. A field ``x_y`` is the variable ``SQL_OPTIM_X_Y`` and the flag ``--x-y``; the flag wins."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, frozen=True, extra="ignore")

    host: str = Field(default="127.0.0.1", description="Address to listen on; the image listens on 0.0.0.0")
    port: int = Field(default=8000, ge=0, le=65535, description="Port to listen on")
    workers: int = Field(
        default_factory=usable_cores,
        ge=1,
        le=256,
        description="Worker processes that run statements",
        json_schema_extra={"shown_default": "the cores"},
    )
    max_sessions: int = Field(default=64, ge=1, description="Sessions at a time; one more is answered CAPACITY_REACHED")
    session_timeout_s: _Positive = Field(default=3600.0, description="Seconds without a message after which a session is closed")
    deadline_s: _Positive = Field(default=10.0, description="Seconds a statement may take before it is stopped")
    ready_wait_s: _Positive = Field(default=60.0, description="Seconds a reset waits for a server that is still preparing its datasets")
    worker_memory_mb: int = Field(default=1280, ge=768, description="Private memory a worker process may hold, MiB")
    data_dir: Path = Field(
        default_factory=default_data_dir,
        description="Where datasets are built and cached",
        json_schema_extra={"shown_default": "the user's cache directory"},
    )
    generated_dir: Path | None = Field(
        default=None,
        description="Where datasets of generated tasks are built and cached, up to 3 GB when all of them are played",
        json_schema_extra={"shown_default": "the data directory"},
    )
    scratch_dir: Path | None = Field(
        default=None,
        description="Where workers keep temporary files; emptied at the end",
        json_schema_extra={"shown_default": "the system's temporary directory"},
    )
    reward: Literal["telescoping", "absolute"] = Field(
        default="telescoping", description="What step pays: the gain over the best score so far, or the raw score"
    )
    reward_profile: Literal["composite", "execution", "binary"] = Field(
        default="composite", description="How an answer is scored when reset does not say"
    )
    measure: Literal["cost", "time"] = Field(
        default="cost", description="What speed is computed from: the deterministic cost, or paired CPU-time medians"
    )
    max_body_bytes: int = Field(default=4 * 1024 * 1024, ge=1024, description="Largest HTTP body; a larger one is answered 413")
    max_frame_bytes: int = Field(
        default=40 * 1024 * 1024, ge=1024, description="Largest WebSocket frame; a larger one closes the session with 1009"
    )
    log_level: Literal["critical", "error", "warning", "info", "debug"] = Field(default="info", description="How much is logged")
    enable_web: bool = Field(
        default_factory=lambda: os.environ.get("ENABLE_WEB_INTERFACE", "").lower() in ("1", "true", "yes"),
        description="Serve the web page at /web",
        json_schema_extra={"shown_default": "OpenEnv's ENABLE_WEB_INTERFACE, else false"},
    )

    @field_validator("data_dir", "generated_dir", "scratch_dir")
    @classmethod
    def _absolute(cls, path: Path | None) -> Path | None:
        # Workers have a working directory of their own.
        return path.expanduser().absolute() if path is not None else None


def parse_flags(arguments: Sequence[str] | None = None) -> Settings:
    """Settings from flags, over ``SQL_OPTIM_*`` variables, over defaults. A wrong flag or value ends the process with status 2."""
    parser = argparse.ArgumentParser(
        prog="server", description="Serve sql_optim_env over OpenEnv's wire.", argument_default=argparse.SUPPRESS, allow_abbrev=False
    )
    for name, field in Settings.model_fields.items():
        parser.add_argument(
            "--" + name.replace("_", "-"),
            metavar=_kind(field),
            help=f"{field.description} [{ENV_PREFIX}{name.upper()}; default: {_default(field)}]".replace("%", "%%"),
        )
    given = vars(parser.parse_args(arguments))
    try:
        return Settings(**given)
    except ValueError as error:
        parser.error(str(error))


def settings_table() -> str:
    """The settings as one markdown table: variable, flag, kind, default, meaning. The documentation holds exactly this text."""
    lines = ["| variable | flag | value | default | meaning |", "|---|---|---|---|---|"]
    for name, field in Settings.model_fields.items():
        kind = _kind(field).replace("|", "\\|")
        lines.append(f"| `{ENV_PREFIX}{name.upper()}` | `--{name.replace('_', '-')}` | {kind} | {_default(field)} | {field.description} |")
    return "\n".join(lines) + "\n"


def _default(field: FieldInfo) -> str:
    extra: Any = field.json_schema_extra
    if isinstance(extra, dict) and "shown_default" in extra:
        return str(extra["shown_default"])
    value = field.default
    return f"{value:g}" if isinstance(value, float) else str(value)


def _kind(field: FieldInfo) -> str:
    annotation = field.annotation
    if get_origin(annotation) is Literal:
        return "|".join(get_args(annotation))
    if annotation in (int, float, bool, str):
        return {"int": "integer", "float": "number", "bool": "true|false", "str": "text"}[annotation.__name__]
    return "directory"
