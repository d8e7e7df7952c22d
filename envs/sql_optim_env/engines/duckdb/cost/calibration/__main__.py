"""Command line of the calibration: ``python -m sql_optim_env.engines.duckdb.cost.calibration --data-dir … --report-dir …``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sql_optim_env.engines.duckdb.cost.calibration.report import render_markdown, write_report
from sql_optim_env.engines.duckdb.cost.calibration.run import Plan, calibrate, find_databases


def main(arguments: list[str] | None = None) -> int:
    """Parse arguments, refit, print the report."""
    parser = argparse.ArgumentParser(prog="calibration", description="Refit the DuckDB cost weights on this machine.")
    parser.add_argument("--data-dir", type=Path, required=True, help="directory in which the datasets have been built")
    parser.add_argument("--report-dir", type=Path, default=None, help="where report.md, report.json and weights.json go")
    parser.add_argument("--passes", type=int, default=4, help="how often every statement is run (at least 3)")
    parser.add_argument("--version", default="unreleased", help="version of the new weights, for example 2026.11-1")
    options = parser.parse_args(arguments)
    report = calibrate(
        find_databases(options.data_dir),
        Plan(options.passes, version=options.version),
        progress=lambda line: print(line, file=sys.stderr, flush=True),
    )
    if options.report_dir is not None:
        write_report(report, options.report_dir)
    print(render_markdown(report))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
