"""Generated tasks of the ``audit`` family: a kind of defect and a seed, from which everything else is drawn."""

from __future__ import annotations

from sql_optim_env.tasks.generate.audit.generator import COUNTS, generated_entries, generated_task

__all__ = ["COUNTS", "generated_entries", "generated_task"]
