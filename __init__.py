"""The package is in envs/sql_optim_env; ``openenv push`` looks for this file at the root it uploads."""

from sql_optim_env import SQLOptimAction, SQLOptimEnv, SQLOptimObservation

__all__ = ["SQLOptimAction", "SQLOptimEnv", "SQLOptimObservation"]
