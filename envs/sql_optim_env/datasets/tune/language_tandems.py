"""A language exchange: learners, the notes of every meeting, and pairs that the office would like to bring together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.tune.base import TuneDataset
from sql_optim_env.datasets.tune.draws import dealt, gapped_ids, text
from sql_optim_env.datasets.tune.edges import Row, Value

__all__ = ["DATASET"]

_NAMES: Final = (
    "Amira Boris Chiara Dragan Elif Farid Gesine Hana Idris Jelena Kofi Leila Marek Nadia Oskar Pilar Rashid Sanna Tomas Yuki".split()
)
_LANGUAGES: Final = "Arabic Danish Finnish Greek Italian Japanese Polish Portuguese Turkish Welsh".split()
_STATES: Final = ("ended", "met once", "running", "withdrawn")
_WORDS: Final = (
    "spoke about the market and the price of plums; still mixes up the past tenses; read a page of the newspaper aloud; "
    "wants more practice on the telephone; laughed at the false friends list; homework is a letter to the landlord; came "
    "late because of the tram; good ear for vowels, numbers above a hundred are shaky; next time the kitchen, then "
    "directions"
).split()


class _LanguageTandems(TuneDataset):
    name: ClassVar[str] = "tune_language_tandems"
    ddl: ClassVar[str] = """\
CREATE TABLE learner (
    id        INTEGER PRIMARY KEY,
    name      TEXT NOT NULL,
    interests TEXT NOT NULL
);

CREATE TABLE meeting (
    id         INTEGER PRIMARY KEY,
    learner_id INTEGER,
    minutes    INTEGER,
    note       TEXT NOT NULL
);

CREATE TABLE pairing (
    id        INTEGER PRIMARY KEY,
    first_id  INTEGER,
    second_id INTEGER,
    tutor_id  INTEGER,
    language  TEXT NOT NULL,
    state     TEXT
);
"""
    tables: ClassVar[tuple[str, ...]] = ("learner", "meeting", "pairing")
    sizes: ClassVar[Mapping[str, int]] = {"learner": 2_800, "meeting": 11_200, "pairing": 9_000, "waiting": 6, "tutors": 3}
    references: ClassVar[Mapping[str, str]] = {
        "meeting.learner_id": "learner",
        "pairing.first_id": "learner",
        "pairing.second_id": "learner",
        "pairing.tutor_id": "learner",
    }
    hot: ClassVar[Mapping[str, Sequence[Value]]] = {"pairing.state": ("waiting", "waiting", "Waiting", "running")}
    edge_seed: ClassVar[int] = 351

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """Every learner has as many meetings as any other. As many pairs wait as ``sizes`` says, no two with a learner in common."""
        ids = gapped_ids(dice, sizes["learner"])
        learners: list[Row] = [(number, f"{dice.choice(_NAMES)} {number}", text(dice, _WORDS, dice.randrange(330, 420))) for number in ids]
        meetings: list[Row] = [
            (number, learner, dice.randrange(20, 130), text(dice, _WORDS, dice.randrange(600, 760)))
            for number, learner in zip(gapped_ids(dice, sizes["meeting"]), dealt(dice, ids, sizes["meeting"]), strict=True)
        ]
        waiting = min(sizes["waiting"], sizes["pairing"], len(ids) // 3)
        chosen = dice.sample(ids, 2 * waiting + min(sizes["tutors"], waiting))
        tutors = chosen[2 * waiting :]
        pairs: list[tuple[Value, ...]] = [
            (chosen[2 * place], chosen[2 * place + 1], tutors[place % len(tutors)], dice.choice(_LANGUAGES), "waiting")
            for place in range(waiting)
        ]
        while len(pairs) < sizes["pairing"]:
            tutor = dice.choice(ids) if dice.randrange(3) else None
            pairs.append((dice.choice(ids), dice.choice(ids), tutor, dice.choice(_LANGUAGES), dice.choice(_STATES)))
        dice.shuffle(pairs)
        return {
            "learner": learners,
            "meeting": meetings,
            "pairing": [(number, *pair) for number, pair in zip(gapped_ids(dice, len(pairs)), pairs, strict=True)],
        }


DATASET: Final = _LanguageTandems()
