"""A chess league: its players and the score of every game, in the order in which the games were handed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.tune.base import TuneDataset
from sql_optim_env.datasets.tune.draws import gapped_ids, text
from sql_optim_env.datasets.tune.edges import Row, Value

__all__ = ["DATASET"]

_CLUBS: Final = ("Bishop", "Castle", "Knight", "Pawn", "Rook")
_NAMES: Final = (
    "Adela Bruno Cosima Dorian Edda Fabian Greta Hugo Ilse Jonas Klara Leopold Minna Nestor Odile Paul Quirin Rosa Silas Thea".split()
)
_MOVES: Final = "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 h3 Nb8 d4 Nbd7 c5 Qc2 Bd7 Rfc8 axb5 axb5 Rxa8 dxe5 Nxe5".split()


class _ChessClub(TuneDataset):
    name: ClassVar[str] = "tune_chess_club"
    ddl: ClassVar[str] = """\
CREATE TABLE player (
    id   INTEGER PRIMARY KEY,
    club TEXT,
    name TEXT NOT NULL
);

CREATE TABLE game (
    id    INTEGER PRIMARY KEY,
    white INTEGER,
    black INTEGER,
    event TEXT NOT NULL,
    moves TEXT NOT NULL
);
"""
    tables: ClassVar[tuple[str, ...]] = ("player", "game")
    sizes: ClassVar[Mapping[str, int]] = {"player": 30, "of_club": 14, "game": 12_500}
    references: ClassVar[Mapping[str, str]] = {"game.white": "player", "game.black": "player"}
    hot: ClassVar[Mapping[str, Sequence[Value]]] = {"player.club": ("Rook", "Rook", "rook", "Pawn")}
    edge_seed: ClassVar[int] = 111

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """One game in twelve is a player's own analysis, with the same player on both sides."""
        ids = gapped_ids(dice, sizes["player"])
        members = set(dice.sample(ids, min(sizes["of_club"], len(ids))))
        others = [club for club in _CLUBS if club != "Rook"]
        players: list[Row] = [
            (number, "Rook" if number in members else dice.choice(others), f"{dice.choice(_NAMES)} {number}") for number in ids
        ]
        games: list[Row] = []
        for number in gapped_ids(dice, sizes["game"] if ids else 0):
            white = dice.choice(ids)
            black = white if dice.randrange(12) == 0 else dice.choice(ids)
            event = f"round {dice.randrange(1, 12)} of {dice.randrange(1989, 2025)}"
            games.append((number, white, black, event, text(dice, _MOVES, dice.randrange(200, 320))))
        return {"player": players, "game": games}


DATASET: Final = _ChessClub()
