"""What runs say: verdicts and standings, ratings, sequential tests, differences, plots, reports."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from knights_isolation.isolation.suggestions import COMMAND
from knights_isolation.reports.answers import Result, read_runs, run_paths

from ..inputs import Baseline, Mixed, Run, RunLike, Worth
from ..parameters import About, command
from . import rooms

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from knights_isolation.experiments.statistics.planning import FixedPlan
    from knights_isolation.experiments.statistics.run_results import RunResults
    from knights_isolation.reports.studies import PublishedAnalysis

Runs = Annotated[Run, About(help="By default the latest one.")]
Error = Annotated[float, About(low=0, high=0.5, is_open=True)]
Page = Annotated[str | Path, About(suffixes=(".html", ".htm"))]


@command("full", "tables", "plot")
def results(
    *runs: Runs, baseline: Baseline | None = None, mixed: Mixed = False, worth: Worth = 2.0
) -> Result[RunResults]:
    """Compare contenders with the baseline, and summarise runs: verdicts, standings, opponents, forfeits, search.

    Examples:
        isolation results
        isolation results runs/first --table opponents --format csv
    """

    return rooms.results_of(runs, baseline, mixed, worth)


@command("full", "tables", "plot")
def ratings(
    *runs: Runs,
    baseline: Baseline | None = None,
    mixed: Mixed = False,
    zero: Annotated[str, About(metavar="AGENT")] | None = None,
) -> Result[RunResults]:
    """Rate all agents on one scale (Bradley-Terry, in Elo), with the probability that each is above each.

    Args:
        zero: agent with rating 0; the baseline by default.

    Examples:
        isolation ratings
        isolation ratings runs/first runs/second --zero ID_Improved
    """
    return rooms.ratings_of(runs, baseline, mixed, zero)


@command("tables", "plot")
def sprt(
    *runs: Runs,
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
        elo0: H0: not stronger than this. In a gauntlet: percentage points.
        elo1: H1: stronger by this. In a gauntlet: percentage points.
        alpha, beta: by default the run's own, or 0.05.
        elo_model: Elo model, head to head; by default the run's own.

    Examples:
        isolation sprt runs/first
        isolation sprt runs/first --elo0 0 --elo1 10
    """
    findings = read_runs(runs, baseline, mixed)
    sections = rooms.sprt_sections(findings, elo0, elo1, alpha, beta, elo_model)
    return Result(findings, sections, partial(rooms.draw_kind, "running", findings))


@command("tables")
def diff(before: Run, after: Run) -> Result[tuple[RunResults, RunResults]]:
    """Compare two runs: design, agents, shared games, results and verdicts.

    Examples:
        isolation diff runs/first runs/second
        isolation diff runs/first runs/second --table results
    """
    both = read_runs([before]), read_runs([after])
    return Result(both, rooms.change_sections(*both))


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
    """
    share = None if effect is None and elo is not None else (effect or worth) / 100
    return rooms.plan_answer(share, elo, power, alpha, read_runs([pilot]) if pilot else None)


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
    """
    return rooms.published_answer(file, baseline)


@command()
def report(
    *runs: Runs,
    baseline: Baseline | None = None,
    mixed: Mixed = False,
    out: Page | None = None,
    open: bool = False,
) -> Path:
    """Write a report of runs, one self-contained page with every table also as CSV, and return its path.

    Args:
        out: output file; RUN/report.html by default.
        open: open the page in the browser.

    Examples:
        isolation report --open
        isolation report runs/first runs/second --out report.html
    """
    import webbrowser

    findings = read_runs(runs, baseline, mixed)
    written = rooms.write_report(findings, out)
    rooms.note_look(findings)
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
    """
    kind, runs = rooms.kind_among(kind, *runs)
    figure = rooms.figure_of(kind, run_paths(runs), baseline, mixed, agent)
    if out is None and not COMMAND.get():
        return figure
    return rooms.save(figure, Path(out or ("card.png" if kind == "card" else f"{kind}.svg")))
