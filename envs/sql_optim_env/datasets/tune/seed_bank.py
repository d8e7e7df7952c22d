"""A seed bank's register: one wide row for each accession that was ever frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.tune.base import TuneDataset
from sql_optim_env.datasets.tune.draws import dealt, gapped_ids, text
from sql_optim_env.datasets.tune.edges import Row

__all__ = ["DATASET"]

_GENERA: Final = (
    "Aegilops Allium Avena Brassica Cicer Daucus Festuca Hordeum Lactuca Lathyrus Lens Medicago Secale Sinapis Trifolium Vicia".split()
)
_EPITHETS: Final = "agrestis arvensis campestris maritima montana palustris pratensis sylvestris tenuis vulgaris".split()
_WORDS: Final = (
    "gathered on a south facing slope among limestone scree; pods dry and half open, some weevil damage; bulked from forty plants, "
    "cleaned by hand, dried at fifteen degrees and sealed in foil; the farmer calls it early and sows it after the first rain of autumn"
).split()


class _SeedBank(TuneDataset):
    name: ClassVar[str] = "tune_seed_bank"
    ddl: ClassVar[str] = """\
CREATE TABLE accession (
    id         INTEGER PRIMARY KEY,
    collected  TEXT NOT NULL,
    taxon      TEXT,
    seeds      INTEGER,
    germinated INTEGER,
    field_note TEXT NOT NULL
);
"""
    tables: ClassVar[tuple[str, ...]] = ("accession",)
    sizes: ClassVar[Mapping[str, int]] = {"accession": 11_000, "taxa": 48}
    hot: ClassVar[Mapping[str, Sequence[int]]] = {"accession.germinated": (0, 1, 100)}

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """Every taxon equally often; a tenth of the germination tests has not been made."""
        names = [f"{genus} {epithet}" for epithet in _EPITHETS for genus in _GENERA]
        dice.shuffle(names)
        taxa = dealt(dice, names[: max(sizes["taxa"], 1)], sizes["accession"])
        accessions: list[Row] = []
        for number, taxon in zip(gapped_ids(dice, sizes["accession"]), taxa, strict=True):
            seeds = dice.randrange(40, 4_000)
            collected = f"{dice.randrange(1962, 2024)}-{dice.randrange(1, 13):02}-{dice.randrange(1, 29):02}"
            germinated = dice.randrange(0, 101) if dice.randrange(10) else None
            accessions.append((number, collected, taxon, seeds, germinated, text(dice, _WORDS, dice.randrange(220, 320))))
        return {"accession": accessions}


DATASET: Final = _SeedBank()
