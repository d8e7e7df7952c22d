from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from sql_optim_env.server.settings import Settings, parse_flags, settings_table, usable_cores

ROOT = Path(__file__).parents[2]


def test_a_flag_wins_over_its_variable_which_wins_over_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parse_flags([]).max_sessions == 64
    monkeypatch.setenv("SQL_OPTIM_MAX_SESSIONS", "7")
    assert parse_flags([]).max_sessions == 7
    assert parse_flags(["--max-sessions", "9"]).max_sessions == 9


def test_every_setting_has_a_description_a_flag_and_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = {
        "host": "::1",
        "reward": "absolute",
        "reward_profile": "binary",
        "measure": "time",
        "log_level": "error",
        "enable_web": "true",
        "data_dir": "/d",
        "generated_dir": "/g",
        "scratch_dir": "/s",
        "worker_memory_mb": "2048",
        "max_body_bytes": "2048",
        "max_frame_bytes": "2048",
    }
    for name, field in Settings.model_fields.items():
        value = samples.get(name, "3")
        assert field.description
        by_flag = parse_flags([f"--{name.replace('_', '-')}", value])
        with monkeypatch.context() as patch:
            patch.setenv(f"SQL_OPTIM_{name.upper()}", value)
            by_variable = parse_flags([])
        assert getattr(by_flag, name) == getattr(by_variable, name)
        assert str(getattr(by_flag, name)).lower().removesuffix(".0") == value


def test_a_wrong_flag_or_value_ends_with_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--no-such"], ["--port", "70000"], ["--reward", "lavish"], ["--max-sess", "3"]):
        with pytest.raises(SystemExit) as end:
            parse_flags(arguments)
        assert end.value.code == 2
    assert "lavish" in capsys.readouterr().err


def test_a_wrong_variable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQL_OPTIM_WORKERS", "0")
    with pytest.raises(ValidationError, match="workers"):
        Settings()


def test_the_help_names_every_variable_and_default(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_flags(["--help"])
    text = " ".join(capsys.readouterr().out.split())
    for name in Settings.model_fields:
        assert f"SQL_OPTIM_{name.upper()}" in text
    assert "[SQL_OPTIM_MAX_SESSIONS; default: 64]" in text


def test_the_documented_table_is_the_one_made_from_the_class() -> None:
    text = (ROOT / "docs/deploy.md").read_text()
    assert settings_table() in text
    assert settings_table().count("\n") == len(Settings.model_fields) + 2


def test_web_follows_openenvs_own_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENABLE_WEB_INTERFACE", "true")
    assert Settings().enable_web is True
    monkeypatch.setenv("SQL_OPTIM_ENABLE_WEB", "false")
    assert Settings().enable_web is False


@pytest.mark.parametrize(
    ("text", "most"), [("150000 100000", 1), ("50000 100000", 1), ("100000000 100000", 10**6), ("max 100000", 10**6), ("", 10**6)]
)
def test_cores_are_bounded_by_a_containers_quota(tmp_path: Path, text: str, most: int) -> None:
    quota = tmp_path / "cpu.max"
    quota.write_text(text)
    assert usable_cores(quota) == min(most, usable_cores(tmp_path / "none"))
