"""The families that are built in."""

from __future__ import annotations

from sql_optim_env.families.audit import AuditEpisode
from sql_optim_env.families.base import FamilyRegistry
from sql_optim_env.families.rewrite import RewriteEpisode
from sql_optim_env.families.tune import TuneEpisode

__all__ = ["builtin_families"]


def builtin_families() -> FamilyRegistry:
    """The registry of every family that this server can play."""
    return FamilyRegistry({"audit": AuditEpisode, "rewrite": RewriteEpisode, "tune": TuneEpisode})
