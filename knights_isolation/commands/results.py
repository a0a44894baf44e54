"""What runs say: verdicts and standings, ratings, sequential tests, differences, plots, reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from knights_isolation.reports.answers import Deferred, Result, drawn

from ..inputs import Baseline, Mixed, Run, RunLike, Worth, is_run_like, read_runs, run_paths
from ..parameters import About, command
from ..surface import COMMAND

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from knights_isolation.experiments.published.published_claims import PublishedAnalysis
    from knights_isolation.experiments.statistics.planning import FixedPlan
    from knights_isolation.experiments.statistics.run_results import RunResults
    from knights_isolation.reports.tables.headlines import Headline
    from knights_isolation.reports.text.rendering import Section

Error = Annotated[float, About(low=0, high=0.5, is_open=True)]
Page = Annotated[str | Path, About(suffixes=(".html", ".htm"))]


@command("full", "tables", "plot")
def results(
    *runs: Run, baseline: Baseline | None = None, mixed: Mixed = False, worth: Worth = 2.0
) -> Result[RunResults]:
    """Compare contenders with the baseline, and summarise runs: verdicts, standings, opponents, forfeits, search.

    Args:
        runs: by default the latest one.

    Examples:
        isolation results
        isolation results runs/first --table opponents --format csv

    Raises:
        ValueError: there is no such run, or runs cannot be pooled.
    """
    from knights_isolation.experiments.noting import note_look
    from knights_isolation.reports.tables.compare import compare_sections
    from knights_isolation.reports.tables.headlines import compare_headline, summary_headline
    from knights_isolation.reports.tables.summary import TABLES, summarize
    from knights_isolation.reports.text.rendering import terminal_height

    findings = read_runs(runs, baseline, mixed)
    if baseline is None and not _is_comparable(findings):
        headline = summary_headline(findings, terminal_height())
        return _answered(findings, headline, lambda: summarize(findings), "heatmap")
    headline = compare_headline(findings, worth / 100, terminal_height())
    note_look(findings)
    return _answered(
        findings,
        headline,
        lambda: (*compare_sections(findings, worth / 100), *summarize(findings)),
        "forest",
        TABLES,
    )


@command("full", "tables", "plot")
def ratings(
    *runs: Run,
    baseline: Baseline | None = None,
    mixed: Mixed = False,
    zero: Annotated[str, About(metavar="AGENT")] | None = None,
) -> Result[RunResults]:
    """Rate all agents on one scale (Bradley-Terry, in Elo), with the probability that each is above each.

    Args:
        runs: by default the latest one.
        zero: agent with rating 0; the baseline by default.

    Examples:
        isolation ratings
        isolation ratings runs/first runs/second --zero ID_Improved

    Raises:
        ValueError: there is no such run or agent, or runs cannot be pooled.
    """
    from knights_isolation.reports.tables.headlines import ratings_headline
    from knights_isolation.reports.tables.ratings import rating_sections
    from knights_isolation.reports.text.rendering import terminal_height

    findings = read_runs(runs, baseline, mixed)
    headline = ratings_headline(findings, zero, terminal_height())
    return _answered(findings, headline, lambda: rating_sections(findings, zero), "ladder")


@command("tables", "plot")
def sprt(
    *runs: Run,
    baseline: Baseline | None = None,
    mixed: Mixed = False,
    elo0: float | None = None,
    elo1: float | None = None,
    alpha: Error | None = None,
    beta: Error | None = None,
    elo_model: Literal["logistic", "normalized"] | None = None,
) -> Result[RunResults]:
    """Test contenders sequentially against the baseline: Elo head to head, percentage points in a gauntlet.

    Args:
        runs: by default the latest one.
        elo0: H0: not stronger than this. In a gauntlet: percentage points.
        elo1: H1: stronger by this. In a gauntlet: percentage points.
        alpha, beta: by default the run's own, or 0.05.
        elo_model: Elo model, head to head; by default the run's own.

    Examples:
        isolation sprt runs/first
        isolation sprt runs/first --elo0 0 --elo1 10

    Raises:
        ValueError: there is no such run, or the bounds are invalid.
    """
    from knights_isolation.reports.tables.sequential import sprt_sections

    findings = read_runs(runs, baseline, mixed)
    sections = sprt_sections(findings, elo0, elo1, alpha, beta, elo_model)
    return Result(findings, sections, partial(_draw, "running", findings))


@command("tables")
def diff(before: Run, after: Run) -> Result[tuple[RunResults, RunResults]]:
    """Compare two runs: design, agents, shared games, results and verdicts.

    Examples:
        isolation diff runs/first runs/second
        isolation diff runs/first runs/second --table results

    Raises:
        ValueError: there is no such run.
    """
    from knights_isolation.reports.tables.run_comparisons import change_sections

    both = read_runs([before]), read_runs([after])
    return Result(both, change_sections(*both))


@command("tables", "plot")
def plan(
    *,
    effect: Annotated[float, About(low=0.1, high=50)] | None = None,
    elo: float | None = None,
    worth: Worth = 2.0,
    power: Annotated[float, About(low=0.5, high=1, is_open=True)] = 0.8,
    alpha: Annotated[float, About(low=0, high=1, is_open=True)] = 0.05,
    pilot: Run | None = None,
) -> Result[list[tuple[str, FixedPlan]]]:
    """Estimate the games and the time needed to detect a difference (--effect, --elo or --worth).

    The value has each plan by its name.

    Args:
        effect: difference of win rates to detect, in percentage points, such as 3.
        elo: difference to detect head to head, in Elo.
        power: probability of a significant result if there is such a difference.
        alpha: error rate of the test.
        pilot: run to take variance and speed from.

    Examples:
        isolation plan --effect 3
        isolation plan --elo 20 --pilot runs/first

    Raises:
        ValueError: an argument is out of range.
    """
    from knights_isolation.experiments.statistics.planning import plan_contenders
    from knights_isolation.reports.charts.study_charts import plan_chart
    from knights_isolation.reports.studies.planning import plan_sections, typical_plans, wanted_effect

    share = (worth if effect is None and elo is None else effect or 0.0) / 100
    findings = read_runs([pilot]) if pilot else None
    sections = plan_sections(None if elo is not None and effect is None else share, elo, power, alpha, findings)
    wanted = wanted_effect(share or None, elo)
    plans = typical_plans(wanted, power, alpha)
    if findings:
        plans = [(each.contender, each.plan) for each in plan_contenders(findings, wanted, power, alpha)]
    return Result(plans, sections, partial(drawn, plan_chart(plans)))


@command("tables", "plot")
def published(
    file: str | Path | None = None, *, baseline: Annotated[str, About(metavar="AGENT")] | None = None
) -> Result[PublishedAnalysis]:
    """Re-analyse published results: CSV, or the classic scripts' output; by default those that ship with this.

    Args:
        baseline: its name in the file; ID_Improved by default.

    Examples:
        isolation published
        isolation published results.csv --baseline ID_Improved

    Raises:
        ValueError: the file cannot be read, or has no results or no such baseline.
    """
    from knights_isolation.experiments.published.published_claims import analyse_file
    from knights_isolation.reports.charts.study_charts import published_chart
    from knights_isolation.reports.tables.run_comparisons import published_sections

    analysis = analyse_file(Path(file) if file else None, baseline)
    return Result(analysis, tuple(published_sections(analysis)), partial(drawn, published_chart(analysis)))


@command()
def report(
    *runs: Run,
    baseline: Baseline | None = None,
    mixed: Mixed = False,
    out: Page | None = None,
    open: bool = False,
) -> Path:
    """Write a report of runs, one self-contained page with every table also as CSV, and return its path.

    Args:
        runs: by default the latest one.
        out: output file; RUN/report.html by default.
        open: open the page in the browser.

    Examples:
        isolation report --open
        isolation report runs/first runs/second --out report.html

    Raises:
        ValueError: there is no such run or directory.
    """
    import webbrowser

    from knights_isolation.experiments.noting import note_look
    from knights_isolation.reports.pages.report_page import write_report

    findings = read_runs(runs, baseline, mixed)
    written = write_report(findings, Path(out or findings.sources[0].info.path / "report.html"))
    note_look(findings)
    if open:
        webbrowser.open(written.resolve().as_uri())
    return written


@command()
def plot(
    kind: Annotated[str, About(metavar="KIND", complete="plot")],
    *runs: Annotated[RunLike, About(metavar="RUN", complete="plot")],
    out: Annotated[str | Path, About(suffixes=(".svg", ".png"))] | None = None,
    baseline: Baseline | None = None,
    mixed: Mixed = False,
    agent: Annotated[str, About(metavar="AGENT")] | None = None,
) -> Figure | Path:
    """Draw a plot of runs: forest, heatmap, ladder, limits, running, lengths, depth, nodes, placements, where, card,
    visits or calibration.

    Returns a matplotlib figure, or the path of `out`. KIND may also follow the runs.

    Args:
        kind: see docs/how-to/write-up-results.md; "limits" treats the runs separately, the others pool them.
        out: output file, .svg or .png; on the command line KIND.svg by default.
        agent: show only this agent (running and calibration).

    Examples:
        isolation plot forest
        isolation plot runs/first heatmap --out heatmap.png

    Raises:
        ValueError: there is no such kind, run or agent, the runs cannot be pooled, or they have nothing that the plot
            could show.
    """
    from knights_isolation.reports.plots import KINDS, check_kind, figure_of
    from knights_isolation.reports.plots.style import save

    if kind not in KINDS and runs and (runs[-1] in KINDS or Path(kind).exists() or is_run_like(kind)):
        *others, last = runs
        kind, runs = str(last), (kind, *others)
    if kind not in KINDS and is_run_like(kind):
        raise ValueError(f"which plot of {kind}? isolation plot {kind} KIND, with one of {', '.join(KINDS)}")
    check_kind(kind)
    figure = figure_of(kind, run_paths(runs), baseline, mixed, agent)
    if out is None and not COMMAND.get():
        return figure
    return save(figure, Path(out or ("card.png" if kind == "card" else f"{kind}.svg")))


def _answered(
    findings: RunResults,
    headline: Headline,
    behind: Callable[[], Sequence[Section]],
    plot: str,
    others: tuple[str, ...] = (),
) -> Result[RunResults]:
    """Return a result with a first look at its tables, which are made when they are asked for."""
    return Result(
        findings, Deferred(headline.section, behind), partial(_draw, plot, findings), more=(*headline.tables, *others)
    )


def _is_comparable(findings: RunResults) -> bool:
    """Return whether somebody can be compared: with a baseline, or all with each other."""
    from knights_isolation.experiments.statistics.contender_verdicts import judge_all_pairs

    return findings.baseline is not None or bool(judge_all_pairs(findings))


def _draw(kind: str, findings: RunResults) -> Figure:
    from knights_isolation.reports.plots import draw_kind

    return draw_kind(kind, findings)
