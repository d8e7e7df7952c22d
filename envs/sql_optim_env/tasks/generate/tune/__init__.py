"""Generated tasks of the ``tune`` family: a shape of a query, told in a domain, over a dataset that is made from the same id."""

from __future__ import annotations

from sql_optim_env.tasks.generate.tune.generator import generated_entries, generated_task

__all__ = ["generated_entries", "generated_task"]
