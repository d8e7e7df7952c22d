from __future__ import annotations

import re

import apsw
import pytest

from sql_optim_env.engines.sqlite import assert_engine, engine_version
from sql_optim_env.errors import InfraError


def test_the_installed_engine_is_the_expected_one() -> None:
    assert_engine()
    assert re.fullmatch(r"sqlite-3\.54\.1\+[0-9a-f]{12}\.[0-9a-f]{8}", engine_version())


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("apsw_version", lambda: "3.50.0.0", "apsw is 3.50.0.0, expected 3.54.1.0"),
        ("sqlite_lib_version", lambda: "3.50.0", "SQLite is 3.50.0, expected 3.54.1"),
        ("compile_options", tuple(set(apsw.compile_options) - {"ENABLE_STAT4"}), "missing: ENABLE_STAT4"),
        ("compile_options", (*apsw.compile_options, "OMIT_AUTOMATIC_INDEX"), "unexpected: OMIT_AUTOMATIC_INDEX"),
    ],
)
def test_another_engine_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: object, says: str) -> None:
    monkeypatch.setattr(apsw, name, value)
    with pytest.raises(InfraError, match=re.escape(says)):
        assert_engine()


def test_options_without_influence_may_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    others = tuple(option for option in apsw.compile_options if not option.startswith("COMPILER="))
    monkeypatch.setattr(apsw, "compile_options", (*others, "COMPILER=clang-20", "MUTEX_W32"))
    assert_engine()
