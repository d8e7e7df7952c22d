"""The client is in envs/sql_optim_env; ``openenv push`` looks for this file at the root it uploads."""

from sql_optim_env.client import SqlOptimAction, SQLOptimEnv, SqlOptimEnv, SqlOptimObservation

__all__ = ["SQLOptimEnv", "SqlOptimAction", "SqlOptimEnv", "SqlOptimObservation"]
