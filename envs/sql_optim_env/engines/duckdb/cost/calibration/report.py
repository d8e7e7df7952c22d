"""What a calibration reports, and how it is written down."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from sql_optim_env.engines.duckdb.cost.calibration.evaluate import PairScore, Score
from sql_optim_env.engines.duckdb.cost.calibration.hidden_work import HiddenWork
from sql_optim_env.engines.duckdb.cost.calibration.measure import Statement
from sql_optim_env.engines.duckdb.cost.weights import Weights

__all__ = ["CalibrationReport", "corpus_digest", "render_markdown", "write_report"]


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """One refit. Scores are on templates that the scored fit had not seen; the weights themselves are fitted on everything but
    recursion."""

    version: str
    corpus_sha256: str
    passes: int
    headline: Score
    """Shop corpus and pairs, whole templates held out."""
    synthetic_only: Score
    """Shop corpus, predicted from a fit on the synthetic suite alone: another schema."""
    in_sample: Score
    families: dict[str, Score]
    pairs: tuple[PairScore, ...]
    false_trips: tuple[tuple[str, float], ...]
    """Honest statements that the guard would have stopped on held-out costs."""
    hidden_work: tuple[HiddenWork, ...]
    weights: Weights


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


def render_markdown(report: CalibrationReport) -> str:
    """The tables of docs/cost-model.md."""
    lines = [f"Weights {report.version}, {report.passes} passes, corpus {report.corpus_sha256[:12]}.", ""]
    lines += ["| Split | n | Spearman | log corr | median error | within 2x |", "|---|---|---|---|---|---|"]
    lines.append(_row("whole templates held out", report.headline))
    lines.append(_row("synthetic suite only, other schema", report.synthetic_only))
    lines.append(_row("in sample", report.in_sample))
    lines += ["", "| Family | n | Spearman | log corr | median error | within 2x |", "|---|---|---|---|---|---|"]
    lines += [_row(name.replace("_", " "), item) for name, item in sorted(report.families.items())]
    lines += ["", "| True ratio | pairs | sign agrees | log-ratio corr |", "|---|---|---|---|"]
    for pair in report.pairs:
        lines.append(f"| at least {pair.threshold} | {pair.pairs} | {pair.sign_agrees:.0%} | {pair.log_ratio_correlation:.2f} |")
    lines += ["", f"Guard trips on honest statements: {len(report.false_trips)}.", ""]
    lines += ["| Attempt | CPU ms | cost ms | under-priced | guard |", "|---|---|---|---|---|"]
    for attempt in report.hidden_work:
        stopped = "stops it" if attempt.guarded else "passes"
        lines.append(f"| {attempt.name} | {attempt.cpu_ms:.1f} | {attempt.cost_ns / 1e6:.2f} | {attempt.under_priced:.1f}x | {stopped} |")
    return "\n".join(lines) + "\n"


def write_report(report: CalibrationReport, directory: Path) -> None:
    """Write ``report.md``, ``report.json`` and ``weights.json`` into a directory, which is made if needed."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "report.md").write_text(render_markdown(report), encoding="utf-8")
    document = {key: value for key, value in asdict(report).items() if key != "weights"}
    (directory / "report.json").write_text(json.dumps(document, indent=1), encoding="utf-8")
    report.weights.write(directory / "weights.json")
