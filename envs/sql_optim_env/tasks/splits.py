"""The splits of the catalogue, and the draw of a task by seed.

``train`` is for learning, ``test`` for reporting; a task is in exactly one of them and never changes sides once published.
"""

from __future__ import annotations

import hashlib
from typing import Final

from sql_optim_env.tasks.task import Split

__all__ = ["SPLITS", "position_of_seed"]

SPLITS: Final[tuple[Split, ...]] = ("train", "test")


def position_of_seed(seed: int, count: int) -> int:
    """A position in [0, count), uniform over seeds and the same in every process and Python version.

    SHA-256 of the seed's decimal text rather than ``random.Random``, whose sampling methods may change between Python versions.
    """
    if count < 1:
        raise ValueError("cannot draw from nothing")
    digest = hashlib.sha256(str(seed).encode()).digest()
    return int.from_bytes(digest[:8], "big") % count
