"""A radio amateur's log, the cards that came by post, and what the electronic service says about each contact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

from sql_optim_env.datasets.tune.base import TuneDataset
from sql_optim_env.datasets.tune.draws import dealt, gapped_ids, text
from sql_optim_env.datasets.tune.edges import Row, Value

__all__ = ["DATASET"]

_PREFIXES: Final = "CT DL EA F G HB I JA LA OE ON OZ PA SM SP UA VE VK W ZL".split()
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_BANDS: Final = (20, 40, 20, 80, 20, 15, 20, 10)
_WORDS: Final = (
    "strong at first and gone within a minute; running five watts into a wire over the garden; has a new keyer and likes "
    "it; fading, name only on the third try; was a ship's operator for thirty years; beam pointed away, off the side; grey "
    "line opening to the south; asked for a card by way of the bureau; rain static; his dog could be heard"
).split()


class _RadioContacts(TuneDataset):
    name: ClassVar[str] = "tune_radio_contacts"
    ddl: ClassVar[str] = """\
CREATE TABLE contact (
    id       INTEGER PRIMARY KEY,
    band     INTEGER,
    callsign TEXT NOT NULL,
    remarks  TEXT NOT NULL
);

CREATE TABLE card (
    id         INTEGER PRIMARY KEY,
    contact_id INTEGER,
    picture    TEXT NOT NULL
);

CREATE TABLE confirmation (
    id         INTEGER PRIMARY KEY,
    contact_id INTEGER,
    state      TEXT,
    message    TEXT NOT NULL
);

CREATE INDEX card_contact ON card(contact_id);
CREATE INDEX confirmation_contact ON confirmation(contact_id);
"""
    tables: ClassVar[tuple[str, ...]] = ("contact", "card", "confirmation")
    sizes: ClassVar[Mapping[str, int]] = {"contact": 5_600, "open": 45, "card": 3_300, "confirmation": 3_500}
    references: ClassVar[Mapping[str, str]] = {"card.contact_id": "contact", "confirmation.contact_id": "contact"}
    hot: ClassVar[Mapping[str, Sequence[Value]]] = {
        "contact.band": (20, 20, 20, 40),
        "confirmation.state": ("refused", "refused", "Refused", "matched"),
    }

    def rows(self, dice: Random, sizes: Mapping[str, int]) -> Mapping[str, Sequence[Row]]:
        """Half of the contacts are on 20 metres. As many of those as ``sizes`` says have neither a card nor a confirmation that counts."""
        ids = gapped_ids(dice, sizes["contact"])
        bands = dealt(dice, _BANDS, len(ids))
        contacts: list[Row] = [
            (
                number,
                band,
                f"{dice.choice(_PREFIXES)}{dice.randrange(10)}{''.join(dice.choice(_LETTERS) for _ in range(3))}",
                text(dice, _WORDS, dice.randrange(740, 940)),
            )
            for number, band in zip(ids, bands, strict=True)
        ]
        of_band = [number for number, band in zip(ids, bands, strict=True) if band == 20]
        left = set(dice.sample(of_band, min(sizes["open"], len(of_band) // 2)))
        answered = [number for number in ids if number not in left]
        dice.shuffle(answered)
        cut = len(answered) * 11 // 20
        by_post = (answered[:cut] + dice.choices(answered, k=sizes["card"]))[: sizes["card"]] if answered else []
        electronic = [(number, dice.choice(("matched", "matched", "waiting"))) for number in answered[cut:]]
        electronic += [(number, "refused") for number in sorted(left)[::2]]
        electronic += [
            (dice.choice(answered or ids), dice.choice(("matched", "refused"))) for _ in range(sizes["confirmation"] if ids else 0)
        ]
        electronic = electronic[: sizes["confirmation"]]
        dice.shuffle(by_post)
        dice.shuffle(electronic)
        return {
            "contact": contacts,
            "card": [
                (number, contact, text(dice, _WORDS, dice.randrange(300, 420)))
                for number, contact in zip(gapped_ids(dice, len(by_post)), by_post, strict=True)
            ],
            "confirmation": [
                (number, contact, state, text(dice, _WORDS, dice.randrange(260, 360)))
                for number, (contact, state) in zip(gapped_ids(dice, len(electronic)), electronic, strict=True)
            ],
        }


DATASET: Final = _RadioContacts()
