from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from sql_optim_env.cli import app
from sql_optim_env.cli.trust import SECTIONS, replace_section

PAGE = Path(__file__).parents[2] / "docs" / "trust.md"
CORPUS = Path(__file__).parents[1] / "contract"


def test_the_page_has_a_place_for_every_section_and_figures_in_it() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in SECTIONS:
        figures = text.split(f"<!-- figures: {name} -->")[1].split("<!-- end -->")[0]
        assert any(letter.isdigit() for letter in figures), name


def test_a_section_is_replaced_and_the_words_around_it_stay() -> None:
    text = "a\n<!-- figures: x -->\nold\n<!-- end -->\nb\n<!-- figures: y -->\n<!-- end -->\n"
    assert replace_section(text, "x", r"new \1") == text.replace("old", "\nnew \\1\n")
    assert replace_section(replace_section(text, "y", "1"), "y", "2") == replace_section(text, "y", "2")
    with pytest.raises(typer.BadParameter, match="no section 'z'"):
        replace_section(text, "z", "")


def test_the_command_writes_what_it_counts(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- figures: canaries -->\n<!-- end -->\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["trust", "canaries", "--page", str(page), "--corpus", str(CORPUS)])
    assert result.exit_code == 0, result.output
    assert "canaries of" in page.read_text(encoding="utf-8")


def test_an_unknown_section_is_refused_with_those_there_are(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["trust", "hope"], env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert "gaps" in result.output
