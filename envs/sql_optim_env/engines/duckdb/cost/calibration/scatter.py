"""A scatter plot as SVG: cost against CPU time on logarithmic axes, written by hand since no plotting library is a dependency."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

__all__ = ["Point", "scatter_svg"]

WIDTH: Final = 760
HEIGHT: Final = 640
MARGIN: Final = 64
"""Pixels around the plotting area, for ticks and titles."""


@dataclass(frozen=True, slots=True)
class Point:
    """One statement. ``cpu_ms`` and ``cost_ms`` are positive; ``group`` chooses its mark, ``label`` shows when it is pointed at."""

    cpu_ms: float
    cost_ms: float
    group: str
    label: str


_MARKS: Final = {
    "corpus": '<circle cx="{x}" cy="{y}" r="2.2" class="corpus">{title}</circle>',
    "tpch": '<path d="M{x} {y}m-4 0l4 -4l4 4l-4 4z" class="tpch">{title}</path>',
    "slow": '<path d="M{x} {y}m-4 3.5l8 0l-4 -7z" class="slow">{title}</path>',
    "fast": '<path d="M{x} {y}m-4 -3.5l8 0l-4 7z" class="fast">{title}</path>',
}
_LEGEND: Final = {"corpus": "corpus", "tpch": "TPC-H", "slow": "original of a pair", "fast": "its reference"}
_STYLE: Final = (
    "text{font:12px sans-serif;fill:#333}.grid{stroke:#ddd}.equal{stroke:#888;stroke-dasharray:6 4}.twice{stroke:#bbb;stroke-dasharray:2 4}"
    ".corpus{fill:#4878a8;fill-opacity:.45}.tpch{fill:#8a5fb0}.slow{fill:#c0392b;fill-opacity:.8}.fast{fill:#2e8b57;fill-opacity:.8}"
    ".pair{stroke:#999;stroke-width:.6;stroke-opacity:.5}"
)


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float

    def x(self, value: float) -> float:
        return round(MARGIN + self._share(value) * (WIDTH - 2 * MARGIN), 1)

    def y(self, value: float) -> float:
        return round(HEIGHT - MARGIN - self._share(value) * (HEIGHT - 2 * MARGIN), 1)

    def _share(self, value: float) -> float:
        return (math.log10(value) - self.low) / (self.high - self.low)


def scatter_svg(points: Sequence[Point], pairs: Sequence[tuple[Point, Point]], title: str) -> str:
    """The plot. Both axes have the same range, so that the diagonal is where cost and CPU time agree; a thin line joins the two
    statements of a pair: it rises to the right when the model tells the cheaper one."""
    everything = [*points, *(point for pair in pairs for point in pair)]
    values = [value for point in everything for value in (point.cpu_ms, point.cost_ms)] or [1.0]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    scale = _Scale(float(low), float(max(high, low + 1)))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">',
        f"<style>{_STYLE}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{WIDTH / 2}" y="24" text-anchor="middle">{escape(title)}</text>',
        *_axes(scale),
    ]
    for one, other in pairs:
        ends = f'x1="{scale.x(one.cpu_ms)}" y1="{scale.y(one.cost_ms)}" x2="{scale.x(other.cpu_ms)}" y2="{scale.y(other.cost_ms)}"'
        lines.append(f'<line {ends} class="pair"/>')
    for point in everything:
        mark = _MARKS[point.group].format(x=scale.x(point.cpu_ms), y=scale.y(point.cost_ms), title=f"<title>{escape(point.label)}</title>")
        lines.append(mark)
    for row, (group, meaning) in enumerate(_LEGEND.items()):
        y = MARGIN + 14 + 18 * row
        lines.append(_MARKS[group].format(x=MARGIN + 14, y=y, title=""))
        lines.append(f'<text x="{MARGIN + 24}" y="{y + 4}">{meaning}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def _axes(scale: _Scale) -> Iterator[str]:
    left, right, top, bottom = MARGIN, WIDTH - MARGIN, MARGIN, HEIGHT - MARGIN
    for exponent in range(int(scale.low), int(scale.high) + 1):
        value = 10.0**exponent
        x, y, text = scale.x(value), scale.y(value), f"{value:g}"
        yield f'<line x1="{x}" y1="{top}" x2="{x}" y2="{bottom}" class="grid"/>'
        yield f'<line x1="{left}" y1="{y}" x2="{right}" y2="{y}" class="grid"/>'
        yield f'<text x="{x}" y="{bottom + 18}" text-anchor="middle">{text}</text>'
        yield f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{text}</text>'
    first, last = 10.0**scale.low, 10.0**scale.high
    yield f'<line x1="{scale.x(first)}" y1="{scale.y(first)}" x2="{scale.x(last)}" y2="{scale.y(last)}" class="equal"/>'
    for low, high in ((first, last / 2), (first * 2, last)):
        # Twice and half the CPU time: x = y / 2 and x = 2 y.
        other = (low * 2, high * 2) if low == first else (low / 2, high / 2)
        yield f'<line x1="{scale.x(low)}" y1="{scale.y(other[0])}" x2="{scale.x(high)}" y2="{scale.y(other[1])}" class="twice"/>'
    yield f'<text x="{WIDTH / 2}" y="{HEIGHT - 20}" text-anchor="middle">CPU time, ms</text>'
    yield f'<text x="18" y="{HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 18 {HEIGHT / 2})">cost, ms</text>'
