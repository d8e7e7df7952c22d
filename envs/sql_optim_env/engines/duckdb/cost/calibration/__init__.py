"""Refit the cost weights: micro-benchmarks, an operator suite, a corpus and pairs over the shop dataset, the fit and its judgement.

Needs numpy and scipy, which the runtime does not: whoever calls it imports it when it is called.
"""

from __future__ import annotations

import os

# Before numpy is loaded: on matrices of this size its threads only wait for each other, eight times longer on a busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from sql_optim_env.engines.duckdb.cost.calibration.report import CalibrationReport
from sql_optim_env.engines.duckdb.cost.calibration.run import Plan, calibrate

__all__ = ["CalibrationReport", "Plan", "calibrate"]
