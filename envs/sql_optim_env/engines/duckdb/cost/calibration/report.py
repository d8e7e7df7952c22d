"""What a calibration reports, and how it is written down."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from sql_optim_env.engines.duckdb.cost.calibration.evaluate import PairScore, Score
from sql_optim_env.engines.duckdb.cost.calibration.hidden_work import HiddenWork
from sql_optim_env.engines.duckdb.cost.calibration.measure import Statement
from sql_optim_env.engines.duckdb.cost.calibration.neighbour import HonestRuns
from sql_optim_env.engines.duckdb.cost.calibration.scatter import Point, scatter_svg
from sql_optim_env.engines.duckdb.cost.weights import Weights

__all__ = ["CalibrationReport", "Figure", "Judgement", "corpus_digest", "render_markdown", "write_report"]

SIGN_RATIO: Final = 1.5
"""The sign is judged on pairs whose true ratio is at least this: tasks are admitted from 2, and CPU times of two queries that became one
plan differ by up to 1.2 already."""
LOG_RATIO: Final = 1.1
"""Log ratios are correlated over pairs that differ at all: the narrower the range, the lower any correlation."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure and what it must reach. ``most``: the bound is a maximum instead of a minimum."""

    name: str
    value: float
    bound: float
    most: bool = False

    @property
    def holds(self) -> bool:
        """Whether the bound is kept; a figure that could not be computed (NaN) does not keep it."""
        return self.value <= self.bound if self.most else self.value >= self.bound


@dataclass(frozen=True, slots=True)
class Judgement:
    """Some weights on templates that they were not fitted on."""

    version: str
    judged: Score
    swapped: Score | None
    """The same with the halves exchanged: a second fit, judged on the half that the first one saw. None for frozen weights."""
    unseen: Mapping[str, Score]
    """``catalogue`` and ``tpch``, which no fit sees."""
    pairs: tuple[PairScore, ...]

    def figures(self, name: str) -> list[Figure]:
        """What must hold."""
        found = [
            Figure(f"{name}: Spearman on the half that was not fitted", self.judged.spearman, 0.95),
            Figure(f"{name}: sign of pairs agrees", self._pairs(SIGN_RATIO).sign_agrees, 0.98),
            Figure(f"{name}: correlation of the pairs' log ratios", self._pairs(LOG_RATIO).log_ratio_correlation, 0.9),
        ]
        if self.swapped is not None:
            found.append(Figure(f"{name}: Spearman with the halves exchanged", self.swapped.spearman, 0.95))
        return found

    def _pairs(self, threshold: float) -> PairScore:
        missing = PairScore(threshold, 0, float("nan"), float("nan"))
        return next((item for item in self.pairs if item.threshold == threshold), missing)


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """One refit beside the packaged weights."""

    corpus_sha256: str
    passes: int
    quick: bool
    """Whether too little was measured to judge the refit: no bound holds for it then."""
    queries: Mapping[str, int]
    """Measured statements by source: shop, pairs, synthetic, catalogue, tpch."""
    packaged: Judgement
    refit: Judgement
    synthetic_only: Score
    """The corpus, predicted from a fit on the synthetic suite alone: another schema."""
    in_sample: Score
    """The refit on its own half."""
    families: Mapping[str, Score]
    """The refit by family, every query predicted from the other half."""
    uncovered: tuple[str, ...]
    """Admitted functions that no benchmark calls."""
    false_trips: tuple[tuple[str, float], ...]
    """Measured statements that the guard would have stopped with the packaged weights."""
    hidden_work: tuple[HiddenWork, ...]
    honest: HonestRuns
    points: tuple[Point, ...]
    lines: tuple[tuple[Point, Point], ...]
    weights: Weights

    def figures(self) -> tuple[Figure, ...]:
        """Everything that must hold."""
        corpus = sum(count for source, count in self.queries.items() if source != "synthetic")
        missed = sum(item.verdict == "missed" for item in self.hidden_work)
        return (
            Figure("queries in the corpus, without the synthetic suite", corpus, 300),
            Figure("admitted functions without a benchmark", len(self.uncovered), 0, most=True),
            *self.packaged.figures("packaged weights"),
            *(() if self.quick else self.refit.figures("refit")),
            Figure("ways to hide work that were tried", len(self.hidden_work), 20),
            Figure("of these, neither refused nor guarded nor paid for", missed, 0, most=True),
            Figure(f"guard trips in {self.honest.runs:,} honest runs beside a busy neighbour", len(self.honest.trips), 0, most=True),
            Figure("guard trips over the measured corpus", len(self.false_trips), 0, most=True),
        )

    @property
    def ok(self) -> bool:
        """Whether every figure keeps its bound."""
        return all(figure.holds for figure in self.figures())


def corpus_digest(statements: Iterable[Statement]) -> str:
    """A hash of everything that was asked, so that weights tell which corpus they know."""
    digest = hashlib.sha256()
    for item in sorted(statements, key=lambda item: (item.database, item.sql)):
        digest.update(f"{item.database}\0{item.family}\0{item.template}\0{item.sql}\n".encode())
    return digest.hexdigest()


def _row(name: str, item: Score) -> str:
    return (
        f"| {name} | {item.queries} | {item.spearman:.3f} | {item.log_correlation:.3f} | {item.median_error:.0%} | {item.within_2x:.0%} |"
    )


_SCORES = ("n | Spearman | log corr | median error | within 2x |", "|---|---|---|---|---|---|")


def render_markdown(report: CalibrationReport) -> str:
    """The tables of docs/cost-model.md."""
    sources = ", ".join(f"{count:,} {source}" for source, count in report.queries.items())
    lines = [f"Measured in {report.passes} passes: {sources}. Corpus {report.corpus_sha256[:12]}.", ""]
    lines += ["| Figure | value | bound | |", "|---|---|---|---|"]
    for figure in report.figures():
        sign, verdict = "≤" if figure.most else "≥", "holds" if figure.holds else "**missed**"
        lines.append(f"| {figure.name} | {figure.value:.4g} | {sign} {figure.bound:g} | {verdict} |")
    lines += ["", f"| Split | {_SCORES[0]}", _SCORES[1]]
    lines.append(_row(f"packaged weights ({report.packaged.version}), the half they were not fitted on", report.packaged.judged))
    lines += [_row(f"packaged weights, {name}", item) for name, item in report.packaged.unseen.items()]
    lines.append(_row("refit, the half it was not fitted on", report.refit.judged))
    if report.refit.swapped is not None:
        lines.append(_row("refit with the halves exchanged", report.refit.swapped))
    lines += [_row(f"refit, {name}", item) for name, item in report.refit.unseen.items()]
    lines.append(_row("refit on the synthetic suite only, other schema", report.synthetic_only))
    lines.append(_row("refit, in sample", report.in_sample))
    lines += ["", f"| Family | {_SCORES[0]}", _SCORES[1]]
    lines += [_row(name.replace("_", " "), item) for name, item in sorted(report.families.items())]
    for name, judgement in (("Packaged weights", report.packaged), ("Refit", report.refit)):
        lines += ["", f"| {name}: true ratio | pairs | sign agrees | log-ratio corr |", "|---|---|---|---|"]
        for pair in judgement.pairs:
            lines.append(f"| at least {pair.threshold} | {pair.pairs} | {pair.sign_agrees:.1%} | {pair.log_ratio_correlation:.3f} |")
    honest = f"{report.honest.runs:,} honest runs beside a busy neighbour came up to {report.honest.worst:.2f} of the guard's limit."
    lines += ["", honest, "", "| Attempt | relies on | CPU ms | cost ms | under-priced | verdict |", "|---|---|---|---|---|---|"]
    for item in report.hidden_work:
        measured = f"{item.cpu_ms:.1f} | {item.cost_ns / 1e6:.2f} | {item.under_priced:.1f}x" if item.cost_ns else "| | "
        lines.append(f"| {item.name} | {item.why} | {measured} | {item.verdict} |")
    return "\n".join(lines) + "\n"


def write_report(report: CalibrationReport, directory: Path) -> None:
    """Write ``report.md``, ``report.json``, ``scatter.svg`` and ``weights.json`` into a directory, which is made if needed."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "report.md").write_text(render_markdown(report) + "\n![cost against CPU time](scatter.svg)\n", encoding="utf-8")
    document = {key: value for key, value in asdict(report).items() if key not in ("weights", "points", "lines")}
    document["figures"] = [asdict(figure) for figure in report.figures()]
    (directory / "report.json").write_text(json.dumps(document, indent=1), encoding="utf-8")
    title = f"Cost ({report.packaged.version}) against CPU time"
    (directory / "scatter.svg").write_text(scatter_svg(report.points, report.lines, title), encoding="utf-8")
    report.weights.write(directory / "weights.json")
