"""Deterministic cost of DuckDB statements from their own profile and plan, and the guard against work it cannot see."""

from sql_optim_env.engines.duckdb.cost.card import Card, build_card
from sql_optim_env.engines.duckdb.cost.guard import guard
from sql_optim_env.engines.duckdb.cost.model import CostModel, OperatorCost

__all__ = ["Card", "CostModel", "OperatorCost", "build_card", "guard"]
