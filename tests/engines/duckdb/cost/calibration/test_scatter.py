from __future__ import annotations

from xml.etree import ElementTree

import pytest

from sql_optim_env.engines.duckdb.cost.calibration.scatter import HEIGHT, MARGIN, WIDTH, Point, scatter_svg

SPACE = "{http://www.w3.org/2000/svg}"


def drawn(svg: str, tag: str, kind: str) -> list[ElementTree.Element]:
    return [item for item in ElementTree.fromstring(svg).iter(SPACE + tag) if item.get("class") == kind]


def test_axes_are_logarithmic_and_alike() -> None:
    points = [Point(0.1, 0.1, "corpus", "a"), Point(1.0, 10.0, "corpus", "b"), Point(1000.0, 1000.0, "corpus", "c")]
    first, second, third = drawn(scatter_svg(points, [], "title"), "circle", "corpus")[:3]
    assert (float(first.get("cx", "")), float(first.get("cy", ""))) == (MARGIN, HEIGHT - MARGIN)
    assert (float(third.get("cx", "")), float(third.get("cy", ""))) == (WIDTH - MARGIN, MARGIN)
    assert float(second.get("cx", "")) == pytest.approx(MARGIN + (WIDTH - 2 * MARGIN) / 4)
    assert float(second.get("cy", "")) == pytest.approx(HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) / 2)


def test_the_two_statements_of_a_pair_are_joined_and_marked() -> None:
    slow, fast = Point(50.0, 40.0, "slow", "SELECT a < b"), Point(5.0, 8.0, "fast", "SELECT 1")
    svg = scatter_svg([], [(slow, fast)], "pairs & more")
    (line,) = drawn(svg, "line", "pair")
    assert float(line.get("x1", "")) > float(line.get("x2", ""))
    assert [len(drawn(svg, "path", kind)) for kind in ("slow", "fast")] == [2, 2]  # one each, and one each in the legend
    assert "SELECT a &lt; b" in svg
    assert "pairs &amp; more" in svg


def test_an_empty_plot_is_still_a_plot() -> None:
    assert ElementTree.fromstring(scatter_svg([], [], "nothing")).tag == SPACE + "svg"
