"""Plays every task of a running server with the oracle and prints what each episode paid; ends with status 1 unless each paid 1.0.

usage: python validation/oracle.py [http://localhost:8000]
"""

from __future__ import annotations

import json
import sys

from sql_optim_env.agents.player import play
from sql_optim_env.agents.roster import make_player
from sql_optim_env.client import SQLOptimEnv
from sql_optim_env.tasks.catalogue import catalogue


def main(url: str) -> int:
    """Play, print one JSON line a task, and say by the exit status whether the oracle is as good as it must be."""
    player = make_player("oracle", catalogue().get)
    perfect = True
    with SQLOptimEnv(base_url=url).sync() as env:
        for task in catalogue().hand_made():
            result = play(env, player, task_id=task.id)
            perfect = perfect and result.reward == 1.0
            print(json.dumps({"task_id": task.id, "reward": result.reward, "score": result.score}))
    return 0 if perfect else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8000"))
