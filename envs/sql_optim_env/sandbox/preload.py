"""Imported by the fork server, and only there, so that a worker is a copy of a process that has loaded everything already.

A process must have one thread when it forks, or a copy may inherit a lock that nobody will release. PyArrow's jemalloc and NumPy's
OpenBLAS start threads while they are imported; these variables, which have to be set first, stop both. Workers inherit the settings.
"""

from __future__ import annotations

import os

os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
os.environ["JE_ARROW_MALLOC_CONF"] = "background_thread:false"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

from sql_optim_env.sandbox import audit_jobs, jobs, tune_jobs

__all__: list[str] = []

jobs.warm_up()
tune_jobs.warm_up()
audit_jobs.warm_up()
