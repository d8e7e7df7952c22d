"""Every canary through a real server: none earns more than it may, and each is stopped for the reason that it names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from sql_optim_env.agents.canary import Canary, load_canaries, play_canary
from sql_optim_env.agents.player import Session
from sql_optim_env.cli.check_gap import CANARY_SETTINGS
from sql_optim_env.cli.local_server import local_session
from sql_optim_env.errors import InvalidArgumentError
from sql_optim_env.tasks.catalogue import catalogue

ROOT = Path(__file__).parents[2]
DIRECTORY = Path(__file__).parent / "canaries"
CANARIES = load_canaries(DIRECTORY)
LEAST_OF_A_KIND = 3
LEAST = 120


@pytest.fixture(scope="module")
def client() -> Iterator[Session]:
    with local_session({**CANARY_SETTINGS, "SQL_OPTIM_WORKERS": "1"}) as session:
        yield session


@pytest.mark.parametrize("canary", CANARIES, ids=[f"{canary.kind}: {canary.name}" for canary in CANARIES])
def test_a_canary_earns_no_more_than_it_may(client: Session, canary: Canary) -> None:
    run = play_canary(client, canary, catalogue().get)
    assert run.earned <= canary.most, run.said
    if canary.code is not None:
        assert run.code == canary.code, run.said
    assert canary.says in run.said


def test_there_are_canaries_of_every_kind_and_family() -> None:
    kinds = Counter(canary.kind for canary in CANARIES)
    assert len(CANARIES) >= LEAST
    assert {kind: count for kind, count in kinds.items() if count < LEAST_OF_A_KIND} == {}
    assert {canary.family for canary in CANARIES} == {"rewrite", "tune", "audit"}
    names = Counter((canary.kind, canary.name) for canary in CANARIES)
    assert [name for name, count in names.items() if count > 1] == []


def test_a_canary_that_is_paid_in_part_says_so_and_stays_below_an_honest_half() -> None:
    assert max(canary.most for canary in CANARIES) <= 0.55


def test_the_manifest_declares_them() -> None:
    manifest = yaml.safe_load((ROOT / "openenv.yaml").read_text(encoding="utf-8"))
    assert ROOT / manifest["validation"]["capabilities"]["canaries"] == DIRECTORY


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind = 'x'\n", "holds no canaries"),
        ("kind = 'x'\n[[canary]]\nname = 'n'\nfamily = 'tune'\ntask = 't'\nmost = 0.0\n", r"missing \['actions'\]"),
        ("kind = 'x'\n[[canary]]\nname = 'n'\nfamily = 'tune'\ntask = 't'\nmost = 0.0\nactions = []\nleast = 1\n", r"unknown \['least'\]"),
    ],
)
def test_a_file_that_is_not_in_the_format_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidArgumentError, match=message):
        load_canaries(tmp_path)
