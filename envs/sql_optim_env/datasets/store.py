"""Instances on disk: built once, kept under a hash of all that made them, checked before use, rebuilt when damaged.

Layout::

    <root>/<dataset>/<content hash>/<name>.<dialect>               the database: .duckdb or .sqlite
    <root>/<dataset>/<content hash>/<name>.<dialect>.json          its manifest: size, checksum, row counts
    <root>/<dataset>/<content hash>/derived/<key hash>.<suffix>    files made from it, each with a manifest of its own

A file is made in a temporary directory beside its place, flushed, and renamed; its manifest follows in the same way. A file without a
manifest that fits it does not count, so whoever looks sees a whole file or none. Makers of the same file exclude each other by ``flock`` on
a lock file, across processes and threads; a lock dies with its process. When a file is there and whole nothing is written and no lock is
taken, so a data directory that was filled beforehand may be read-only.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from sql_optim_env.datasets.dataset import Dataset
from sql_optim_env.datasets.generate.tune import plan_of
from sql_optim_env.datasets.instance import Instance
from sql_optim_env.datasets.registry import get_dataset
from sql_optim_env.errors import InfraError

__all__ = ["DATA_DIR_VARIABLE", "DatasetStore", "default_data_dir"]

DATA_DIR_VARIABLE: Final = "SQL_OPTIM_DATA_DIR"

_LAYOUT: Final = "1"  # raise it when the layout above changes meaning
_HASH_BYTES: Final = 12


def default_data_dir() -> Path:
    """``$SQL_OPTIM_DATA_DIR`` when set, else ``sql_optim_env`` under the user's cache directory."""
    if chosen := os.environ.get(DATA_DIR_VARIABLE):
        return Path(chosen)
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "sql_optim_env"


@dataclass(frozen=True, slots=True)
class _Manifest:
    size: int
    checksum: str
    row_counts: dict[str, int]


class DatasetStore:
    """Builds and finds instances under ``root``, those of generated datasets under ``generated`` (default: also ``root``).

    Safe to use from several threads and processes at once.
    ``progress`` is told in one line when a build begins and when it has ended. A file's checksum is read once per store object and then
    trusted until the file's size, inode or time of change differ.
    """

    def __init__(self, root: Path, progress: Callable[[str], None] | None = None, generated: Path | None = None) -> None:
        self.root = root
        self._generated = root if generated is None else generated
        self._progress = progress or (lambda message: None)
        self._checked: dict[Path, tuple[tuple[int, int, int], _Manifest]] = {}

    def path(self, instance: Instance) -> Path:
        """Where the database of ``instance`` is, or will be once ``ensure`` has run."""
        return self._directory(instance) / f"{instance.name}.{get_dataset(instance.dataset).dialect}"

    def ensure(self, instance: Instance) -> Path:
        """Return the path of a whole database, building it if it is missing or damaged. Raises InfraError when that fails."""
        path, _ = self._ensure(instance)
        return path

    def ensure_all(self, instances: Iterable[Instance]) -> tuple[Path, ...]:
        """``ensure`` for each, in order."""
        return tuple(self.ensure(instance) for instance in instances)

    def row_counts(self, instance: Instance) -> dict[str, int]:
        """Rows per table, from the manifest; builds the instance if need be."""
        _, manifest = self._ensure(instance)
        return dict(manifest.row_counts)

    def derived(self, instance: Instance, key: str, suffix: str, make: Callable[[Path], None]) -> Path:
        """A cached file made from ``instance``: ``make(path)`` writes it once for each ``key``.

        ``key`` must name all that the content depends on beside the instance (versions of weights, the text of a query, ...). The same
        locking, atomic publication and damage check as for databases. What ``make`` raises is passed on, an OSError as InfraError, and
        nothing is kept.
        """
        digest = hashlib.blake2b(key.encode(), digest_size=_HASH_BYTES).hexdigest()
        path = self._directory(instance) / "derived" / f"{digest}.{suffix.lstrip('.')}"

        def write(draft: Path) -> dict[str, int]:
            make(draft)
            return {}

        self._publish(path, write)
        return path

    def prune(self, kept: Iterable[Instance]) -> int:
        """Remove all databases but those of ``kept``, with what was derived from them; return the bytes that this freed.

        What is removed is what other versions of datasets left behind. Only for a data directory that no other process uses.
        """
        known = {self._directory(instance) for instance in kept}
        freed = 0
        for root in {self.root, self._generated}:
            for directory in sorted(root.glob(f"*/{'[0-9a-f]' * (2 * _HASH_BYTES)}")):
                if directory not in known:
                    freed += sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
                    shutil.rmtree(directory)
        return freed

    def _ensure(self, instance: Instance) -> tuple[Path, _Manifest]:
        path = self.path(instance)
        if manifest := self._valid(path):
            return path, manifest
        dataset = get_dataset(instance.dataset)
        label = f"{instance.dataset}/{instance.name}"

        def write(draft: Path) -> dict[str, int]:
            self._progress(f"building {label}")
            began = time.monotonic()
            try:
                counts = dataset.build(instance, draft)
            except Exception as error:  # the engine's errors are of no class the store knows, and may name paths
                raise InfraError(f"cannot build {label}: {type(error).__name__}") from error
            size = draft.stat().st_size / 1e6
            self._progress(f"built {label}: {sum(counts.values()):,} rows, {size:.1f} MB in {time.monotonic() - began:.1f} s")
            return counts

        return path, self._publish(path, write)

    def _directory(self, instance: Instance) -> Path:
        root = self.root if plan_of(instance.dataset) is None else self._generated
        return root / instance.dataset / _content_hash(get_dataset(instance.dataset), instance)

    def _publish(self, path: Path, write: Callable[[Path], dict[str, int]]) -> _Manifest:
        """Make ``path`` unless it is there and whole. ``write`` fills a draft and returns the row counts for the manifest."""
        if manifest := self._valid(path):
            return manifest
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with _locked(path):
                if manifest := self._valid(path):
                    return manifest  # another process made it while we waited
                return self._make(path, write)
        except OSError as error:
            raise InfraError(f"cannot write {path.name} in the data directory: {error.strerror or error}") from error

    def _make(self, path: Path, write: Callable[[Path], dict[str, int]]) -> _Manifest:
        for stale in path.parent.glob(f".{path.name}.draft-*"):
            shutil.rmtree(stale, ignore_errors=True)  # of a maker that was killed: we hold its lock
        draft_dir = Path(tempfile.mkdtemp(prefix=f".{path.name}.draft-", dir=path.parent))
        try:
            draft = draft_dir / path.name
            counts = write(draft)
            manifest = _Manifest(draft.stat().st_size, _checksum(draft), counts)
            note = draft_dir / "manifest"
            note.write_text(json.dumps(asdict(manifest), sort_keys=True))
            _flush(draft)
            _flush(note)
            _manifest_path(path).unlink(missing_ok=True)  # from here to the last rename the file counts as missing
            os.replace(draft, path)
            os.replace(note, _manifest_path(path))
            _flush(path.parent)
        finally:
            shutil.rmtree(draft_dir, ignore_errors=True)
        self._checked[path] = (_stamp(path), manifest)
        return manifest

    def _valid(self, path: Path) -> _Manifest | None:
        """The manifest of ``path`` if the file is there and is what its manifest says, else None."""
        try:
            stamp = _stamp(path)
            if (known := self._checked.get(path)) and known[0] == stamp:
                return known[1]
            manifest = _Manifest(**json.loads(_manifest_path(path).read_bytes()))
            if stamp[0] != manifest.size or _checksum(path) != manifest.checksum:
                return None
        except (FileNotFoundError, NotADirectoryError, ValueError, TypeError):
            return None
        self._checked[path] = (stamp, manifest)
        return manifest


def _content_hash(dataset: Dataset, instance: Instance) -> str:
    parts = {**asdict(instance), "layout": _LAYOUT, "generator": dataset.version, "ddl": dataset.ddl, "engine": dataset.engine_version}
    return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=_HASH_BYTES).hexdigest()


def _manifest_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def _stamp(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_size, status.st_ino, status.st_mtime_ns


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the exclusive lock of ``path``. Every holder opens the lock file anew, so threads exclude each other too."""
    descriptor = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
