"""Work that the model prices badly must be stopped somewhere: by its price, by admission, or by the CPU guard."""

from __future__ import annotations

import time
from typing import Any

import duckdb
import pytest

from sql_optim_env.engines.duckdb.admission import admit, policy_for
from sql_optim_env.engines.duckdb.cost import Card, CostModel, guard
from sql_optim_env.engines.duckdb.cost.calibration.hidden_work import ATTEMPTS
from sql_optim_env.errors import AgentError
