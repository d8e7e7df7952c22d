"""A film archive: reels by number, and the slips of every showing, on which the number is written with six digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.tune.base import TuneDataset
from sql_optim_env.datasets.tune.draws import dealt, gapped_ids, text
from sql_optim_env.datasets.tune.edges import Row, Value

__all__ = ["DATASET"]

_VAULT: Final = 31
_SMALL: Final = 200  # reels; edge instances have fewer
_WORDS: Final = (
    "splice at nine minutes holds; perforation torn over twenty frames; shrinkage below one percent; smells of vinegar, to "
    "be copied before winter; titles in the second language; sound track worn, hum throughout; green scratch from the gate;"
    " tail leader missing; colour faded to magenta; hand tinted sunset; a face in the crowd is the director's"
).split()


class _FilmReels(TuneDataset):
    name: ClassVar[str] = "tune_film_reels"
    ddl: ClassVar[str] = """\
CREATE TABLE reel (
    id        INTEGER PRIMARY KEY,
    vault     INTEGER,
    condition TEXT NOT NULL
);

CREATE TABLE showing (
    id      INTEGER PRIMARY KEY,
    reel_no TEXT CHECK (reel_no = printf('%06d', CAST(reel_no AS INTEGER))),
    shown   INTEGER,
    slip    TEXT NOT NULL
);
"""
    tables: ClassVar[tuple[str, ...]] = ("reel", "showing")
    sizes: ClassVar[Mapping[str, int]] = {"reel": 3_000, "in_vault": 17, "showing": 5_000}
    hot: ClassVar[Mapping[str, Sequence[Value]]] = {
        "reel.vault": (_VAULT, _VAULT, _VAULT + 1),
        "showing.reel_no": tuple(f"{number:06}" for number in (0, *range(300, 1_300, 50), 1_000_000, 1_000_001)),
    }

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """Reel numbers have three to six digits, and on edge instances up to seven; every reel is shown equally often.

        As many reels as ``sizes`` says lie in the vault.
        """
        count = sizes["reel"]
        low = set(range(300, 1_300, 50)[: count // 2])
        top = 1_000_000 if count > _SMALL else 1_003_000
        ids = sorted(low | {top - at for at in gapped_ids(dice, count - len(low), gap=300)})
        wanted = set(dice.sample(ids, min(sizes["in_vault"], len(ids))))
        reels: list[Row] = [
            (
                number,
                _VAULT if number in wanted else dice.choice([vault for vault in range(1, 90) if vault != _VAULT]),
                text(dice, _WORDS, dice.randrange(860, 1_000)),
            )
            for number in ids
        ]
        shown = dealt(dice, ids, sizes["showing"])
        showings: list[Row] = [
            (number, f"{reel:06}", dice.randrange(18_000, 25_000), text(dice, _WORDS, dice.randrange(420, 560)))
            for number, reel in zip(gapped_ids(dice, len(shown)), shown, strict=True)
        ]
        return {"reel": reels, "showing": showings}


DATASET: Final = _FilmReels()
