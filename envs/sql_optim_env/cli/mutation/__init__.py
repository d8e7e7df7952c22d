"""Mutation of references: do the hidden instances tell a wrong answer from a right one? See ``sql-optim check --mutants``."""

from __future__ import annotations

from sql_optim_env.cli.mutation.generate import mutants
from sql_optim_env.cli.mutation.mutant import Kind, Mutant

__all__ = ["Kind", "Mutant", "mutants"]
