"""Plots of runs, by kind, drawn with matplotlib from the same charts as the report's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knights_isolation.isolation.suggestions import did_you_mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from knights_isolation.experiments.statistics.run_results import RunResults

    from ..charts.chart import Chart

_NO_PAIRS, _NO_GAMES, _NO_SEARCH = "No complete pairs yet.", "No games yet.", "No searches yet."
KINDS = {
    **dict.fromkeys(("forest", "heatmap", "ladder"), _NO_PAIRS),
    "limits": "No finished pairs at more than one limit: name runs with several limits.",
    "running": _NO_PAIRS,
    "lengths": _NO_GAMES,
    **dict.fromkeys(("depth", "nodes"), _NO_SEARCH),
    "placements": _NO_GAMES,
    "where": "No first placement has enough complete openings yet.",
    "card": _NO_PAIRS,
    "visits": _NO_GAMES,
    "calibration": "No unproven scores in the log yet.",
}
"""Kinds of plots, each with its message without data."""
OF_ONE_AGENT = ("running", "calibration")


def kind_among(kind: Any, *runs: Any) -> tuple[str, tuple[Any, ...]]:
    """Return a kind of plot and its runs; the kind may also be named after them.

    Raises:
        ValueError: only runs are named, or there is no such kind.
    """
    if kind not in KINDS and runs and (runs[-1] in KINDS or _is_run(kind) or Path(kind).exists()):
        kind, runs = str(runs[-1]), (kind, *runs[:-1])
    if kind not in KINDS and _is_run(kind):
        raise ValueError(f"which plot of {kind}? isolation plot {kind} KIND, with one of {', '.join(KINDS)}")
    check_kind(kind)
    return kind, runs


def _is_run(what: Any) -> bool:
    from knights_isolation.experiments.record.run_directory import is_run, run_called

    return not isinstance(what, str) or is_run(run_called(what))


def draw_plot(
    kind: str,
    runs: Sequence[str | Path],
    out: str | Path,
    baseline: str | None = None,
    mixed: bool = False,
    agent: str | None = None,
) -> Path:
    """Draw a plot of runs into an .svg or .png file; the rest as `figure_of`."""
    from .draw_chart import save

    return save(figure_of(kind, runs, baseline, mixed, agent), Path(out))


def figure_of(
    kind: str, runs: Sequence[str | Path], baseline: str | None = None, mixed: bool = False, agent: str | None = None
) -> Figure:
    """Return a plot of runs as a figure; kind "limits" treats the runs separately, the others pool them.

    Raises:
        ValueError: there is no such kind, run or agent, the runs cannot be pooled, or they have nothing that the plot
            could show.
    """
    from knights_isolation.experiments.statistics.run_results import load_findings

    from ..charts.line_plots import limits_chart

    check_kind(kind)
    if agent is not None and kind not in OF_ONE_AGENT:
        raise ValueError(f"--agent applies to {' and '.join(OF_ONE_AGENT)} only, not to {kind}")
    if not runs:
        raise ValueError(f"missing run: isolation plot RUN {kind}")
    if kind == "limits" and not mixed:
        chart: Chart | None = limits_chart([load_findings([run], baseline) for run in runs])
    else:
        findings = load_findings(runs, baseline, mixed)
        if agent is not None:
            findings.pairs.code(agent)
        chart = _chart(kind, findings, agent)
    if chart is None:
        raise ValueError(f"nothing to draw: {KINDS[kind]}".removesuffix("."))
    return _drawn(chart, kind)


def check_kind(kind: str) -> None:
    """Check that a kind of plot exists.

    Raises:
        ValueError: there is no such kind; the message lists the kinds, and the closest match.
    """
    if kind not in KINDS:
        raise ValueError(f"no plot {kind!r}; {did_you_mean(kind, KINDS)}choose one of {', '.join(KINDS)}")


def draw_kind(kind: str, findings: RunResults, agent: str | None = None) -> Figure:
    """Draw a plot of findings; `agent` chooses one if a kind shows several.

    Raises:
        ValueError: the findings have no baseline and the kind needs one.
    """
    return _drawn(_chart(kind, findings, agent), kind)


def _drawn(chart: Chart | None, kind: str) -> Figure:
    from .draw_chart import draw_chart

    return draw_chart(chart, KINDS[kind])


def _chart(kind: str, findings: RunResults, agent: str | None) -> Chart | None:
    from knights_isolation.experiments.statistics.contender_verdicts import judge
    from knights_isolation.experiments.statistics.move_statistics import commonest_size, leads_by_opening, placements
    from knights_isolation.experiments.statistics.ratings import rate

    from ..charts import grids, interval_charts, line_plots
    from ..text.verdict_details import opponents_title
    from ..text.wording import state_words

    def heatmap() -> Chart | None:
        verdicts = judge(findings) if findings.baseline is not None else None
        title = opponents_title(verdicts)
        return grids.differences(findings, grids.leads(findings, verdicts), {}, rate(findings), title)

    def where() -> Chart | None:
        best, size = judge(findings).best, commonest_size(findings)
        if best is None or size is None:
            return None
        return grids.lead_map(best.contender, leads_by_opening(findings, best.contender), size, {})

    builders: dict[str, Callable[[], Chart | None]] = {
        "forest": lambda: interval_charts.forest(findings, judge(findings)),
        "heatmap": heatmap,
        "ladder": lambda: interval_charts.ladder(rate(findings)),
        "limits": lambda: line_plots.limits_chart([findings]),
        "running": lambda: interval_charts.running(findings, agent and (agent,)),
        **{name: partial(interval_charts.spread, findings, name) for name in interval_charts.SPREADS},
        "placements": lambda: grids.placement_maps(placements(findings), commonest_size(findings), {}),
        "where": where,
        "card": lambda: interval_charts.card(findings),
        "visits": lambda: grids.visit_map(findings),
        "calibration": lambda: line_plots.score_curves(findings, agent) if agent else grids.calibration(findings),
    }
    chart, state = builders[kind](), state_words(findings)
    if chart is None or chart.title.startswith(state):
        return chart
    return replace(chart, title=state + chart.title)
