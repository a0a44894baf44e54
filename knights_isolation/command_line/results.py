"""Commands that show results: tables, plots, the report."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from knights_isolation.command_line.completion import complete_plot, complete_run
from knights_isolation.command_line.options import (
    PAGE,
    PICTURE,
    format_option,
    full_option,
    run_or_latest,
    table_option,
)
from knights_isolation.command_line.output import print_headline, print_sections
from knights_isolation.isolation.files.atomic_write import check_output
from knights_isolation.reports.plots import KINDS, OF_ONE_AGENT, check_kind
from knights_isolation.reports.text.rendering import Format, terminal_height
from knights_isolation.tried import note_look

if TYPE_CHECKING:
    from knights_isolation.experiments.statistics.run_results import RunResults


def findings_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the arguments and options of every command that reads runs and prints tables."""
    options = [
        click.argument(
            "runs", metavar="[RUN]...", nargs=-1, type=click.Path(path_type=Path), shell_complete=complete_run
        ),
        click.option("--baseline", metavar="AGENT", help="Compare with this agent instead of the run's own baseline."),
        click.option("--mixed", is_flag=True, help="Pool runs even if limits, boards or openings differ."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def read_findings(runs: Sequence[Path], baseline: str | None = None, mixed: bool = False) -> RunResults:
    """Read runs for analysis; the latest one if none is named."""
    from knights_isolation.experiments.record.run_directory import run_called
    from knights_isolation.experiments.statistics.run_results import load_findings

    return load_findings([run_called(run) for run in runs] or [run_or_latest(None)], baseline, mixed)


@click.command("summary")
@findings_options
@table_option
@full_option
@format_option
def summary(
    runs: tuple[Path, ...], baseline: str | None, mixed: bool, only: str | None, full: bool, output: Format
) -> None:
    """Summarise runs: standings, opponents, sides, forfeits, game lengths, search."""
    from knights_isolation.reports.tables.headlines import summary_headline
    from knights_isolation.reports.tables.summary import summarize

    findings = read_findings(runs, baseline, mixed)
    if is_first_look(only, full, output):
        print_headline(summary_headline(findings, terminal_height()))
    else:
        print_sections(summarize(findings), output, only)


def is_first_look(only: str | None, full: bool, output: Format) -> bool:
    """Return whether nothing specific was requested, so that only the finding is printed, without its details."""
    return only is None and not full and output == "table"


worth_option = click.option(
    "--worth", type=click.FloatRange(0, 50, True, True), default=2.0, show_default=True,
    help="Smallest difference that matters, in percentage points.",
)  # fmt: skip


@click.command("compare")
@findings_options
@worth_option
@table_option
@full_option
@format_option
def compare(
    runs: tuple[Path, ...], baseline: str | None, mixed: bool, worth: float, only: str | None, full: bool,
    output: Format,
) -> None:  # fmt: skip
    """Compare each contender with the baseline: difference, interval and significance."""
    from knights_isolation.reports.tables.compare import compare_sections
    from knights_isolation.reports.tables.headlines import compare_headline

    findings = read_findings(runs, baseline, mixed)
    if is_first_look(only, full, output):
        print_headline(compare_headline(findings, worth / 100, terminal_height()))
    else:
        print_sections(compare_sections(findings, worth / 100), output, only)
    note_look(findings)


@click.command("ratings")
@findings_options
@click.option("--zero", metavar="AGENT", help="Agent with rating 0; the baseline by default.")
@table_option
@full_option
@format_option
def ratings(
    runs: tuple[Path, ...], baseline: str | None, mixed: bool, zero: str | None, only: str | None, full: bool,
    output: Format,
) -> None:  # fmt: skip
    """Rate all agents on one scale (Bradley-Terry, in Elo), with the probability that each is above each."""
    from knights_isolation.reports.tables.headlines import ratings_headline
    from knights_isolation.reports.tables.ratings import rating_sections

    findings = read_findings(runs, baseline, mixed)
    if is_first_look(only, full, output):
        print_headline(ratings_headline(findings, zero, terminal_height()))
    else:
        print_sections(rating_sections(findings, zero), output, only)


@click.command("sprt")
@findings_options
@click.option("--elo0", "low", type=float, help="H0: not stronger than this. In a gauntlet: percentage points.")
@click.option("--elo1", "high", type=float, help="H1: stronger by this. In a gauntlet: percentage points.")
@click.option("--alpha", type=click.FloatRange(0, 0.5, True, True), help="By default the run's own, or 0.05.")
@click.option("--beta", type=click.FloatRange(0, 0.5, True, True), help="By default the run's own, or 0.05.")
@click.option("--elo-model", "model", type=click.Choice(["logistic", "normalized"]),
              help="Elo model, head to head; by default the run's own.")  # fmt: skip
@table_option
@format_option
def sprt_command(
    runs: tuple[Path, ...], baseline: str | None, mixed: bool, low: float | None, high: float | None,
    alpha: float | None, beta: float | None, model: str | None, only: str | None, output: Format,
) -> None:  # fmt: skip
    """Test contenders sequentially against the baseline: Elo head to head, percentage points in a gauntlet."""
    from knights_isolation import sprt

    result = sprt(
        read_findings(runs, baseline, mixed), elo0=low, elo1=high, alpha=alpha, beta=beta, elo_model=model  # type: ignore[arg-type]
    )  # fmt: skip
    print_sections(result.sections, output, only)


@click.command("diff")
@click.argument("before", metavar="RUN", type=click.Path(path_type=Path), shell_complete=complete_run)
@click.argument("after", metavar="RUN", type=click.Path(path_type=Path), shell_complete=complete_run)
@table_option
@format_option
def diff_command(before: Path, after: Path, only: str | None, output: Format) -> None:
    """Compare two runs: design, agents, shared games, results and verdicts."""
    from knights_isolation import diff

    print_sections(diff(read_findings([before]), read_findings([after])).sections, output, only)


@click.command("plan")
@click.option(
    "--effect", type=click.FloatRange(0.1, 50, False, True),
    help="Difference of win rates to detect, in percentage points, such as 3.",
)  # fmt: skip
@click.option("--elo", type=float, help="Difference to detect head to head, in Elo.")
@worth_option
@click.option("--power", type=click.FloatRange(0.5, 1, True, True), default=0.8, show_default=True)
@click.option("--alpha", type=click.FloatRange(0, 1, True, True), default=0.05, show_default=True)
@click.option("--pilot", type=click.Path(path_type=Path), help="Run to take variance and speed from.")
@format_option
def plan_command(
    effect: float | None, elo: float | None, worth: float, power: float, alpha: float, pilot: Path | None,
    output: Format,
) -> None:  # fmt: skip
    """Estimate the games and the time needed to detect a difference (--effect, --elo or --worth)."""
    from knights_isolation import plan

    findings = read_findings([pilot]) if pilot else None
    result = plan(effect=effect, elo=elo, worth=worth, power=power, alpha=alpha, pilot=findings)
    print_sections(result.sections, output)


@click.command("published")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--baseline", metavar="AGENT", help="Name of the baseline in the file; ID_Improved by default.")
@table_option
@format_option
def published_command(file: Path | None, baseline: str | None, only: str | None, output: Format) -> None:
    """Re-analyse published results: CSV, or the classic scripts' output. Without FILE, those that ship with this."""
    from knights_isolation import published

    print_sections(published(file, baseline=baseline).sections, output, only)


@click.command("plot", help=f"Draw a plot: {', '.join(KINDS)}.")
@click.argument("arguments", metavar="[RUN]... KIND", nargs=-1, required=True, shell_complete=complete_plot)
@click.option("--out", type=PICTURE, help="Output file, .svg or .png; KIND.svg by default.")
@click.option("--baseline", metavar="AGENT", help="Compare with this agent instead of the run's own baseline.")
@click.option("--mixed", is_flag=True, help="Pool runs even if limits, boards or openings differ.")
@click.option("--agent", metavar="AGENT", help=f"Show only this agent ({' and '.join(OF_ONE_AGENT)}).")
def plot_command(
    arguments: tuple[str, ...], out: Path | None, baseline: str | None, mixed: bool, agent: str | None
) -> None:  # fmt: skip
    """Draw a plot of runs into a file."""
    from knights_isolation import plot
    from knights_isolation.experiments.record.run_directory import is_run, run_called
    from knights_isolation.reports.plots.style import save

    *runs, kind = arguments
    if kind not in KINDS and is_run(run_called(kind)):
        raise ValueError(f"which plot of {kind}? isolation plot {kind} KIND, with one of {', '.join(KINDS)}")
    check_kind(kind)
    out = out or Path("card.png" if kind == "card" else f"{kind}.svg")
    check_output(out)
    named = [run_called(run) for run in runs] or [run_or_latest(None)]
    written = save(plot(kind, *named, baseline=baseline, mixed=mixed, agent=agent), out)
    click.echo(f"Wrote {written}")


@click.command("report")
@findings_options
@click.option("--out", type=PAGE, help="Output file; RUN/report.html by default.")
@click.option("--open", "is_opened", is_flag=True, help="Open the page in the browser.")
def report(runs: tuple[Path, ...], baseline: str | None, mixed: bool, out: Path | None, is_opened: bool) -> None:
    """Write a report of runs: one self-contained page, every table also as CSV."""
    from knights_isolation.reports.pages.report_page import write_report

    findings = read_findings(runs, baseline, mixed)
    written = write_report(findings, out or findings.sources[0].info.path / "report.html")
    note_look(findings)
    click.echo(f"Wrote {written}")
    if is_opened:
        webbrowser.open(written.resolve().as_uri())


COMMANDS = (
    summary,
    compare,
    ratings,
    sprt_command,
    diff_command,
    plan_command,
    published_command,
    plot_command,
    report,
)
