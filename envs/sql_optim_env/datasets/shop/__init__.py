"""The shop: users, products, orders and events over 2023 and 2024, for DuckDB."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Final

import duckdb

from sql_optim_env.datasets.dataset import Dataset
from sql_optim_env.datasets.instance import Instance
from sql_optim_env.datasets.shop import adversarial, bulk, edge, schema, small

__all__ = ["Shop"]

_LARGE_BLOCK: Final = 262_144  # bytes, DuckDB's default
_SMALL_BLOCK: Final = 16_384  # the least there is: a database of a few hundred rows takes 0.2 MB instead of 3 MB
_HEADER_SIZE: Final = 4096
_IDENTITY: Final = slice(124, 140)
_BULK: Final = {"full": bulk.FULL, "half": bulk.HALF, "mirrored": bulk.MIRRORED}


class Shop(Dataset):
    """See ``schema`` for the tables, ``bulk`` for the large instances, ``adversarial`` and ``edge`` for the small ones."""

    name: ClassVar[str] = "shop"
    dialect: ClassVar[str] = "duckdb"
    ddl: ClassVar[str] = schema.DDL
    tables: ClassVar[tuple[str, ...]] = schema.TABLES

    @cached_property
    def version(self) -> str:
        """A digest of this package's source."""
        digest = hashlib.blake2b(digest_size=12)
        for source in sorted(Path(__file__).parent.glob("*.py")):
            digest.update(source.name.encode() + b"\0" + source.read_bytes())
        return digest.hexdigest()

    @property
    def engine_version(self) -> str:
        """DuckDB's version."""
        return duckdb.__version__

    @cached_property
    def instances(self) -> tuple[Instance, ...]:
        """Public, twin, one adversarial instance per profile, and one of the public size."""
        return (
            Instance(self.name, "public", "public", seed=11, profile="full"),
            Instance(self.name, "twin", "twin", seed=23, profile="half"),
            *(Instance(self.name, profile, "adversarial", seed=100 + k, profile=profile) for k, profile in enumerate(adversarial.PROFILES)),
            # Only its rows count: it tells who recognises the public instance by its size, and who relies on what is rare there.
            Instance(self.name, "mirrored", "adversarial", seed=37, profile="mirrored"),
        )

    def build(self, instance: Instance, path: Path) -> dict[str, int]:
        """Write the database: the same bytes for the same instance, engine version and file name (whose stem DuckDB writes into it)."""
        block = _LARGE_BLOCK if instance.profile in _BULK else _SMALL_BLOCK
        with duckdb.connect(str(path), config={"threads": 1, "default_block_size": block}) as con:
            con.execute(schema.DDL)
            if instance.profile in _BULK:
                bulk.fill(con, _BULK[instance.profile], instance.seed)
            elif instance.role == "edge":
                small.insert(con, edge.rows(instance.profile, instance.seed, instance.payload))
            else:
                small.insert(con, adversarial.rows(instance.profile, instance.seed))
            con.execute("CHECKPOINT")
        _settle_identity(path, instance)
        with duckdb.connect(str(path), read_only=True) as con:
            counts = {table: con.sql(f"SELECT count(*) FROM {table}").fetchall()[0][0] for table in self.tables}
        return counts

    def schema_info(self, row_counts: Mapping[str, int]) -> str:
        """The DDL with row counts as comments."""
        return schema.schema_info(row_counts)

    def edge_instances(self, sqls: Sequence[str]) -> tuple[Instance, ...]:
        """One instance per edge profile, all with the literals of ``sqls``."""
        payload = edge.payload(sqls)
        return tuple(Instance(self.name, f"edge_{profile}", "edge", 200 + k, profile, payload) for k, profile in enumerate(edge.PROFILES))


def _settle_identity(path: Path, instance: Instance) -> None:
    """Replace the random identity that DuckDB writes into a new file's header by one of the instance's own.

    It is all that differs between two builds. The header is 4096 bytes: a checksum of the rest, then among others the identity at byte 124.
    The checksum is that of DuckDB's storage: 64-bit words times a constant, combined by exclusive or.
    """
    with path.open("r+b") as file:
        header = bytearray(file.read(_HEADER_SIZE))
        if struct.unpack_from("<Q", header)[0] != _header_checksum(header):
            raise RuntimeError(f"DuckDB {duckdb.__version__} writes a file header of another form")
        header[_IDENTITY] = hashlib.blake2b(repr(instance).encode(), digest_size=16).digest()
        struct.pack_into("<Q", header, 0, _header_checksum(header))
        file.seek(0)
        file.write(header)


def _header_checksum(header: bytes | bytearray) -> int:
    result = 5381
    for (word,) in struct.iter_unpack("<Q", header[8:_HEADER_SIZE]):
        result ^= word * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    return result
