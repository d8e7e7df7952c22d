"""Plays the hand-made tasks of a running server with the oracle and prints what each paid; ends with status 1 unless each paid all that its
family can pay: 1.0, or 0.999 where a grade is never quite whole.

usage: python validation/oracle.py [--all] [http://localhost:8000]

With ``--all`` the generated tasks are played too; the server builds each of them on its first reset, which takes minutes in all.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable

from sql_optim_env.agents.player import play
from sql_optim_env.agents.roster import make_player
from sql_optim_env.client import SQLOptimEnv
from sql_optim_env.grading.audit import MOST_SCORE
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.task import Task


def main(url: str, tasks: Iterable[Task]) -> int:
    """Play, print one JSON line a task, and say by the exit status whether the oracle is as good as it must be."""
    player = make_player("oracle", catalogue().get)
    perfect = True
    with SQLOptimEnv(base_url=url).sync() as env:
        for task in tasks:
            result = play(env, player, task_id=task.id)
            perfect = perfect and result.reward == (MOST_SCORE if task.family == "audit" else 1.0)
            print(json.dumps({"task_id": task.id, "reward": result.reward, "score": result.score}))
    return 0 if perfect else 1


if __name__ == "__main__":
    arguments = sys.argv[1:]
    everything = "--all" in arguments
    urls = [argument for argument in arguments if argument != "--all"]
    chosen = catalogue().select() if everything else catalogue().hand_made()
    sys.exit(main(urls[0] if urls else "http://localhost:8000", chosen))
