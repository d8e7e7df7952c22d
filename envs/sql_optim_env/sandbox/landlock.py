"""Landlock: the kernel's own refusal of files, programs, connections and signals to a worker.

A second wall behind the engine's settings and admission, should a statement ever find a way to run code of its own: the process can then
write only where it has to, start no program, open no TCP connection, signal nobody, and not look into other processes. (Landlock refuses
ptrace-like access to processes outside, which covers ``/proc/<pid>/environ`` of the server, unless a capability allows it; the limits drop
those.) Reading files stays possible. Constants and structures are those of ``linux/landlock.h``.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable
from pathlib import Path

__all__ = ["confine", "landlock_abi"]

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1

_EXECUTE = 1 << 0
_WRITE_FILE = 1 << 1
_CHANGE_DIRECTORIES = 0x1FF << 4  # remove a directory or file, make anything
_REFER = 1 << 13
_TRUNCATE = 1 << 14  # ABI 3
_BIND_AND_CONNECT_TCP = 0b11  # ABI 4
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11  # ABI 6

_OLDEST_ABI = 2
"""Before ABI 2 a confined process cannot move a file to another directory, which publishing a dataset file needs."""


def landlock_abi() -> int:
    """Return the kernel's Landlock ABI version, 0 where there is none."""
    return max(0, _syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_CREATE_RULESET_VERSION)))


def confine(writable: Iterable[Path]) -> bool:
    """Confine this process for good to writing below the ``writable`` directories; False where the kernel cannot.

    Needs no privileges, but ``no_new_privs`` set. Files that are open already stay usable. Raises OSError when the kernel offers Landlock
    and refuses all the same.
    """
    abi = landlock_abi()
    if abi < _OLDEST_ABI:
        return False
    writing = _WRITE_FILE | _CHANGE_DIRECTORIES | _REFER | (_TRUNCATE if abi >= 3 else 0)
    attributes = struct.pack("=Q", writing | _EXECUTE)
    if abi >= 4:
        attributes += struct.pack("=Q", _BIND_AND_CONNECT_TCP)
    if abi >= 6:
        attributes += struct.pack("=Q", _ABSTRACT_SOCKETS_AND_SIGNALS)
    ruleset = _checked(_CREATE_RULESET, ctypes.create_string_buffer(attributes, len(attributes)), ctypes.c_size_t(len(attributes)), 0)
    try:
        for directory in writable:
            _allow(ruleset, directory, writing)
        _checked(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return True


def _allow(ruleset: int, directory: Path, access: int) -> None:
    parent = os.open(directory, os.O_PATH | os.O_CLOEXEC)
    try:
        _checked(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, struct.pack("=Qi", access, parent), 0)
    finally:
        os.close(parent)


def _checked(number: int, *arguments: object) -> int:
    result = _syscall(number, *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"landlock system call {number}: {os.strerror(code)}")
    return result


def _syscall(number: int, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    converted = (ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments)
    return int(libc.syscall(ctypes.c_long(number), *converted))
