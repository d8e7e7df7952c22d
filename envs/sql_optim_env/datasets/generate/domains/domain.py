"""What a domain is: the small world that a generated task of the ``tune`` family is set in."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Child", "Domain", "Link"]


@dataclass(frozen=True, slots=True)
class Child:
    """A further table whose rows belong to an owner or to a record, with one text column."""

    table: str
    plural: str
    column: str


@dataclass(frozen=True, slots=True)
class Link:
    """A table whose rows lead from one owner to another: ``source`` and ``target`` hold ids, ``amount`` how much."""

    table: str
    plural: str
    source: str
    target: str
    amount: str


@dataclass(frozen=True, slots=True)
class Domain:
    """Names and words. Every name is a plain lower-case identifier, with underscores for spaces; plurals serve as column names too.

    Owners are the things that are kept for years, records what happens at them day by day.
    """

    setting: str
    """Who keeps the database, as it stands in a sentence."""
    owner: str
    owners: str
    label: str
    """The owner's short text."""
    group: str
    """The owner's integer by which owners are grouped."""
    leaflet: str
    """The owner's long text."""
    names: tuple[str, ...]
    """Words of which labels are made."""
    record: str
    records: str
    kind: str
    kinds: tuple[str, str, str, str]
    """Values of ``kind``, each a word that can stand in a column's name."""
    when: str
    """The record's integer day number."""
    first: str
    second: str
    """The record's integers; ``first`` may be unknown."""
    note: str
    """The record's long text."""
    words: tuple[str, ...]
    """Words of which long texts are made."""
    children: tuple[Child, Child]
    link: Link

    @property
    def owner_id(self) -> str:
        """The column of a record or child that holds an owner's id."""
        return f"{self.owner}_id"

    @property
    def record_id(self) -> str:
        """The column of a child that holds a record's id."""
        return f"{self.record}_id"
