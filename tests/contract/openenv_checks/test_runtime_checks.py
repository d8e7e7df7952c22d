"""OpenEnv's checks of level 2 ("runtime"), one test each by the check's name, for each family on a real server.

The library names them in its policy and has no grader for them; what each asks for is said at its test.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from openenv.validation.manifest import NormalizedManifestV2

from contract.openenv_checks.host import get, transcript
from contract.scripts import FAMILIES, harm, script
from sql_optim_env.agents.answers import answers
from sql_optim_env.agents.recording import Recorder, Recording, timeless
from sql_optim_env.cli.local_server import LocalServer
from sql_optim_env.grading import audit
from sql_optim_env.grading.report import WEIGHTS
from sql_optim_env.grading.tune import TERM
from sql_optim_env.models import SQLOptimAction, SQLOptimObservation
from sql_optim_env.server.rubric import TERMS, GradeRubric, TermRubric
from sql_optim_env.tasks.catalogue import catalogue

Connect = Callable[[], Any]

by_family = pytest.mark.parametrize("family", FAMILIES)


@by_family
def test_seed_control(connect: Connect, family: str) -> None:
    """The same seed is the same task and the same observation in any session; other seeds are other tasks, or other problems of one."""

    def opened(**arguments: Any) -> dict[str, Any]:
        return timeless(connect().reset(**arguments).observation)

    drawn = {seed: opened(family=family, seed=seed) for seed in range(4)}
    assert {seed: opened(family=family, seed=seed) for seed in drawn} == drawn
    assert {opening["family"] for opening in drawn.values()} == {family}
    assert len({opening["task_id"] for opening in drawn.values()}) > 1
    played = script(family)
    problems = [opened(task_id=played.task.id, **({} if seed is None else {"seed": seed})) for seed in (None, 1, 2, None, 1, 2)]
    assert problems[:3] == problems[3:]
    # A rewrite or tune task is one query over one database; an audit problem has names, counts and words of its own under each seed.
    for field in ("task_description", "schema_info", "sample_rows"):
        assert len({json.dumps(problem[field]) for problem in problems}) == (3 if family == "audit" else 1)


@by_family
def test_episode_determinism(connect: Connect, family: str) -> None:
    """The same reset and the same actions bring the same observations, rewards and states."""
    first = transcript(connect(), script(family))
    assert first[-1]["done"] is first[-1]["state"]["episode_done"] is True
    assert sum(answer["observation"]["error"] is not None for answer in first) >= 2
    assert transcript(connect(), script(family)) == first


@by_family
def test_episode_isolation(connect: Connect, family: str) -> None:
    """What another session does to the same data, before, between or at the same time, changes nothing in this one."""
    played = script(family)
    alone = transcript(connect(), played)

    victim, vandal = Recorder(connect()), connect()
    destruction = harm(family)
    victim.reset(**played.reset, episode_id="one")
    for number, action in enumerate(played.actions):
        if number % len(destruction.actions) == 0:
            vandal.reset(**destruction.reset)
        vandal.step(destruction.actions[number % len(destruction.actions)])
        victim.step(action)
    assert [{**answer, "state": of["state"]} for answer, of in zip(victim.recording().answers, alone, strict=True)] == alone

    # The vandal's own session afterwards, and several sessions at once.
    assert transcript(vandal, played) == alone
    with ThreadPoolExecutor(4) as pool:
        scripts = [played, destruction] * 3
        together = list(pool.map(transcript, [connect() for _ in scripts], scripts))
    assert together[::2] == [alone] * 3
    assert together[1::2] == [together[1]] * 3


@by_family
def test_task_declaration_accuracy(server: LocalServer, client: Any, manifest: NormalizedManifestV2, family: str) -> None:
    """The manifest counts the tasks as the Task API, /tasks and /metadata do, and each of the family's can be named by its place."""
    declared = manifest.capabilities.declared_task_count
    splits = {split["name"]: client.list_tasks(split["name"]) for split in client.list_splits()}
    assert {name: client.num_tasks(name) for name in splits} == declared
    assert {name: len(tasks) for name, tasks in splits.items()} == declared
    listed = json.loads(get(server, "/tasks"))
    assert listed["total"] == listed["graded"] == len(listed["tasks"]) == sum(declared.values())
    assert len({task["id"] for task in listed["tasks"]}) == listed["total"]
    own = {name: [task for task in tasks if task["family"] == family] for name, tasks in splits.items()}
    assert json.loads(get(server, "/metadata"))["registry"][family]["tasks"] == {name: len(tasks) for name, tasks in own.items()}
    assert sorted(task["id"] for tasks in own.values() for task in tasks) == sorted(
        task["id"] for task in listed["tasks"] if task["family"] == family
    )
    for name, tasks in own.items():
        for task in (tasks[0], tasks[-1]):
            assert client.get_task(name, task["index"]) == task
            assert client.reset(split=name, index=task["index"]).observation.task_id == task["id"]


PROFILES = ("composite", "execution", "binary")


def graded(client: Any, family: str) -> list[tuple[SQLOptimAction, SQLOptimObservation]]:
    """Submissions of every kind under every profile, with what they were answered."""
    names = {
        "rewrite": ("task_1_basic_antipatterns", "task_6_segment_revenue"),
        "tune": ("tune_seed_bank", "tune_river_reaches"),
        "audit": ("dedup_bug", "null_audit"),
    }
    found = []
    for task in map(catalogue().get, names[family]):
        for reward_profile in PROFILES:
            for actions in (*answers(task).values(), (SQLOptimAction(),)):
                client.reset(task_id=task.id, reward_profile=reward_profile)
                turns = [(action, client.step(action).observation) for action in actions]
                found.append(turns[-1])
    return found


TERMS_OF = {"rewrite": {*WEIGHTS, "solved"}, "tune": {TERM, "solved"}, "audit": {*audit.TERMS, "solved"}}


@by_family
def test_rubric_introspectable(client: Any, family: str) -> None:
    """The rubric tree has a child for every term that a breakdown of the family holds, and a breakdown holds no other."""
    seen = {term for _, observation in graded(client, family) for term in observation.reward_breakdown}
    assert seen == TERMS_OF[family]
    rubric = GradeRubric()
    assert [name for name, _ in rubric.named_rubrics()] == list(TERMS)
    assert seen <= set(TERMS)
    assert [child.term for _, child in rubric.named_rubrics() if isinstance(child, TermRubric)] == list(TERMS)


@by_family
def test_reward_attribution(client: Any, family: str) -> None:
    """The terms add up to the score, the rubric's children hold them, and the rewards of an episode add up to its best score."""
    scores = set()
    for action, observation in graded(client, family):
        assert observation.score is not None
        assert sum(observation.reward_breakdown.values()) == pytest.approx(observation.score, abs=1e-6)
        rubric = GradeRubric()
        assert rubric(action, observation) == observation.reward
        shares = {name: child.last_score for name, child in rubric.named_rubrics()}
        assert shares == {term: observation.reward_breakdown.get(term, 0.0) for term in TERMS}
        scores.add(observation.score)
    assert len(scores) > 2
    answered = transcript(client, script(family))
    assert sum(answer["reward"] or 0.0 for answer in answered) == pytest.approx(answered[-1]["observation"]["best_score"], abs=1e-6)
    assert answered[-1]["state"]["cumulative_reward"] == answered[-1]["observation"]["best_score"] > 0.0


@by_family
def test_trajectory_record(client: Any, family: str) -> None:
    """A recording holds the seed and the task, every action as it was sent, and for each what was seen, paid and whether it ended."""
    played = script(family)
    recorder = Recorder(client)
    turns = [recorder.reset(**played.reset), *(recorder.step(action) for action in played.actions)]
    recording = Recording.from_json(recorder.recording().to_json())
    assert recording == recorder.recording()
    assert recording.reset == played.reset
    assert tuple(SQLOptimAction(**action) for action in recording.actions) == played.actions
    assert [(answer["reward"], answer["done"]) for answer in recording.answers] == [(turn.reward, turn.done) for turn in turns]
    for number, (answer, turn) in enumerate(zip(recording.answers, turns, strict=True)):
        kept = answer["observation"]
        assert (kept["task_id"], kept["family"], kept["step_count"]) == (played.task.id, family, number)
        assert set(kept) == set(SQLOptimObservation.model_fields)
        assert [kept[name] for name in ("score", "reward_breakdown", "feedback")] == [
            turn.observation.score,
            turn.observation.reward_breakdown,
            turn.observation.feedback,
        ]
    assert recording.answers[-1]["done"] is True
    assert '_ms"' not in recording.to_json()
