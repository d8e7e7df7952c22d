"""``sql-optim trust``: measure how far the reward can be trusted, and write the figures into the page that answers that question.

The page keeps its words; each section of figures stands between ``<!-- figures: name -->`` and ``<!-- end -->`` and is replaced.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from sql_optim_env.agents.canary import Canary, load_canaries
from sql_optim_env.agents.player import Session, play
from sql_optim_env.agents.recording import Recorder, Recording, replay
from sql_optim_env.agents.roster import make_player
from sql_optim_env.cli.check_gap import CANARY_SETTINGS, Gap, gaps
from sql_optim_env.cli.determinism import REPEATS, differences, observed
from sql_optim_env.cli.equivalents import graders, load_equivalents, misled, rejected, shop_instances, unequal
from sql_optim_env.cli.local_server import local_session
from sql_optim_env.cli.mutation.report import mutation_tests
from sql_optim_env.cli.mutation.run import FATES, MutationTest, kill_rate
from sql_optim_env.datasets.store import DATA_DIR_VARIABLE, DatasetStore, default_data_dir
from sql_optim_env.tasks.catalogue import catalogue
from sql_optim_env.tasks.task import Task

__all__ = ["SECTIONS", "replace_section", "trust"]


def trust(
    section: Annotated[list[str] | None, typer.Argument(help="Sections to measure; all of them without any.")] = None,
    page: Annotated[Path, typer.Option(help="The page whose figures are replaced.")] = Path("docs/trust.md"),
    corpus: Annotated[Path, typer.Option(help="Directory of canaries and equivalents.")] = Path("tests/contract"),
    data_dir: Annotated[Path | None, typer.Option(help="Where the datasets are; default as for the server.")] = None,
) -> None:
    """Measure what the page on trust says, and write the figures into it. All sections take half an hour on two cores."""
    said = Console(stderr=True, highlight=False)
    unknown = sorted(set(section or ()) - set(SECTIONS))
    if unknown:
        raise typer.BadParameter(f"there is no section {unknown[0]!r}; there are {', '.join(SECTIONS)}")
    store = DatasetStore(data_dir or default_data_dir(), progress=said.print)
    text = page.read_text(encoding="utf-8")
    for name in section or SECTIONS:
        said.print(f"measuring {name}")
        text = replace_section(text, name, SECTIONS[name](store, corpus, said.print))
        page.write_text(text, encoding="utf-8")


def replace_section(text: str, name: str, figures: str) -> str:
    """``text`` with the figures of one section replaced. Raises typer.BadParameter when it has no such section."""
    pattern = re.compile(rf"(<!-- figures: {re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
    if not pattern.search(text):
        raise typer.BadParameter(f"the page has no section {name!r} (<!-- figures: {name} --> … <!-- end -->)")
    return pattern.sub(lambda found: f"{found[1]}\n{figures.strip()}\n\n{found[2]}", text, count=1)


def _canaries(store: DatasetStore, corpus: Path, say: Callable[[str], None]) -> str:
    canaries = load_canaries(corpus / "canaries")
    kinds = Counter(canary.kind for canary in canaries)
    families = {kind: sorted({canary.family for canary in canaries if canary.kind == kind}) for kind in kinds}
    rows = [(kind, ", ".join(families[kind]), str(count)) for kind, count in sorted(kinds.items())]
    return f"{len(canaries)} canaries of {len(kinds)} kinds.\n\n{_table(('kind', 'families', 'canaries'), rows)}"


def _gaps(store: DatasetStore, corpus: Path, say: Callable[[str], None]) -> str:
    canaries: Sequence[Canary] = load_canaries(corpus / "canaries")
    with local_session({DATA_DIR_VARIABLE: str(store.root), **CANARY_SETTINGS}) as session:
        found = list(gaps(session, catalogue().hand_made(), canaries, say))
    worst = min(found, key=lambda gap: gap.gap)
    head = f"The smallest gap is {worst.gap:.3f} ({worst.task_id}); the highest floor {max(gap.floor for gap in found):.3f}."
    return f"{head}\n\n{_table(('task', 'oracle', 'floor', 'best canary', 'gap', 'canaries'), map(_gap_row, found))}"


def _gap_row(gap: Gap) -> tuple[str, ...]:
    return gap.task_id, f"{gap.oracle:.3f}", f"{gap.floor:.3f} ({gap.floor_player})", f"{gap.best:.3f}", f"{gap.gap:.3f}", str(gap.canaries)


def _mutants(store: DatasetStore, corpus: Path, say: Callable[[str], None]) -> str:
    tests = []
    for test in mutation_tests(catalogue().hand_made(), store):
        say(test.task_id)
        tests.append(test)
    total = {fate: sum(test.count(fate) for test in tests) for fate in FATES}
    made = sum(len(test.outcomes) for test in tests)
    head = (
        f"{made:,} mutants: {total['killed']:,} refused at grading, {total['equivalent']:,} equal on every database of the search,"
        f" {total['missed']:,} missed. Kill rate {kill_rate(tests):.2%}."
    )
    rows = [(test.task_id, str(len(test.outcomes)), *(str(test.count(fate)) for fate in FATES), _rate(test)) for test in tests]
    return f"{head}\n\n{_table(('task', 'mutants', 'refused', 'equivalent', 'missed', 'kill rate'), rows)}"


def _rate(test: MutationTest) -> str:
    """Nothing to refuse is no perfect rate."""
    return f"{test.kill_rate:.1%}" if test.count("killed") + test.count("missed") else "–"


def _equivalents(store: DatasetStore, corpus: Path, say: Callable[[str], None]) -> str:
    known = load_equivalents(corpus / "equivalents")
    differing: set[str] = set()
    instances = shop_instances(known.pairs)
    for instance in instances:
        say(instance.name)
        differing |= unequal(known.pairs, store.ensure(instance)).keys()
    with graders(known, store) as sandbox:
        accepted = sum(not rejected(sandbox, answer) for answer in known.answers)
        told = sum(not misled(sandbox, refusal) for refusal in known.refusals)
    return (
        f"Of {len(known.pairs)} free-standing pairs {len(known.pairs) - len(differing)} were equal on all {len(instances)} databases of the"
        f" shop below full size. Of {len(known.answers)} right answers to tasks in other styles {accepted} were accepted. Of"
        f" {len(known.refusals)} answers with a wrong name or type {told} were told which column it is and how to mend it, and accepted"
        " once mended."
    )


def _cost(store: DatasetStore, corpus: Path, say: Callable[[str], None]) -> str:
    # Imported here because it needs what only developers have installed.
    from sql_optim_env.cli.check_cost import cost_report

    report = cost_report(store, say, quick=False)
    rows = [(figure.name, f"{figure.value:.4g}", f"{'≤' if figure.most else '≥'} {figure.bound:g}") for figure in report.figures()]
    return f"Weights {report.packaged.version}.\n\n{_table(('figure', 'value', 'bound'), rows)}"


def _determinism(store: DatasetStore, corpus: Path, say: Callable[[str], None]) -> str:
    found = observed(catalogue().hand_made(), store.root)
    different = differences(found)
    plays = sum(map(len, found.values()))
    for cell, where in different.items():
        say(f"{cell}: {where}")
    return (
        f"{len({task for task, _ in found}):,} tasks with {len(found)} answers, each {REPEATS} times ({plays:,} episodes):"
        f" {len(different)} answers had more than one observation."
    )


def _replays(store: DatasetStore, corpus: Path, say: Callable[[str], None]) -> str:
    # Imported here for the same reason.
    from sql_optim_env.engines.duckdb.cost.calibration.neighbour import busy_neighbour

    tasks = catalogue().hand_made()
    with local_session({DATA_DIR_VARIABLE: str(store.root), "SQL_OPTIM_WORKERS": "1"}) as session:
        recordings = {task.id: _recorded(session, task) for task in tasks}
    with busy_neighbour(), local_session({DATA_DIR_VARIABLE: str(store.root), "SQL_OPTIM_WORKERS": "2"}) as session:
        different = [name for name, recording in recordings.items() if replay(session, recording)]
    steps = sum(len(recording.actions) for recording in recordings.values())
    return (
        f"{len(recordings)} episodes ({steps} steps) were recorded on a server with one worker and replayed on another with two, beside a"
        f" busy neighbour: {len(different)} came back different{': ' + ', '.join(different) if different else ''}."
    )


def _recorded(session: Session, task: Task) -> Recording:
    recorder = Recorder(session)
    play(recorder, make_player("oracle", catalogue().get), task_id=task.id, seed=7)
    return recorder.recording()


SECTIONS: Final[Mapping[str, Callable[[DatasetStore, Path, Callable[[str], None]], str]]] = {
    "canaries": _canaries,
    "gaps": _gaps,
    "mutants": _mutants,
    "equivalents": _equivalents,
    "cost": _cost,
    "determinism": _determinism,
    "replays": _replays,
}
"""What is measured for each section of the page."""


def _table(headings: Sequence[str], rows: Iterator[Sequence[str]] | Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
