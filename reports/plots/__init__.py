"""Plots of runs, by kind. Each module draws one kind or a small family of them as a matplotlib figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from experiments.statistics.run_results import RunResults


@dataclass(frozen=True)
class Kind:
    """What a kind of plot shows, in a sentence, and whether it can show one agent instead of all."""

    caption: str
    takes_agent: bool = False


KINDS = {
    "forest": Kind("Difference of each contender's win rate to the baseline's, with its interval."),
    "heatmap": Kind("Win rate of each agent against each opponent."),
    "ladder": Kind("Ratings of all agents, with their intervals."),
    "limits": Kind("Win rate by limit."),
    "running": Kind("How the estimates settled. The band holds at all moments together.", takes_agent=True),
    "lengths": Kind("Lengths of games by agent."),
    "depth": Kind("Depths of search by agent."),
    "nodes": Kind("Nodes searched a move by agent."),
    "placements": Kind("Games won by the cell of the first placement."),
    "visits": Kind("How often each cell was visited."),
    "calibration": Kind("How well scores tell who wins: 0.5 is a coin, 1 knows.", takes_agent=True),
}
OF_ONE_AGENT = tuple(name for name, kind in KINDS.items() if kind.takes_agent)


def draw_plot(
    kind: str,
    runs: Sequence[str | Path],
    out: str | Path,
    baseline: str | None = None,
    mixed: bool = False,
    agent: str | None = None,
) -> Path:
    """Draw a plot of runs into a file; kind "limits" takes the runs one by one, the others pool them.

    Raises:
        ValueError: there is no such kind, run, agent or file type, or the runs cannot be pooled.
    """
    from experiments.statistics.run_results import load_findings
    from reports.plots.style import save
    from reports.plots.win_rate_by_limit import draw_limits

    out = Path(out)
    if kind not in KINDS:
        raise ValueError(f"no plot is called {kind!r}; there are {', '.join(KINDS)}")
    if agent is not None and kind not in OF_ONE_AGENT:
        raise ValueError(f"--agent goes with {' and '.join(OF_ONE_AGENT)}, not with {kind}")
    if not runs:
        raise ValueError(f"a run is missing: isolation plot RUN {kind}")
    if kind == "limits" and not mixed:
        return save(draw_limits([load_findings([run], baseline) for run in runs]), out)
    findings = load_findings(runs, baseline, mixed)
    if agent is not None:
        findings.pairs.code(agent)
    return save(draw_kind(kind, findings, agent), out)


def draw_kind(kind: str, findings: RunResults, agent: str | None = None) -> Figure:
    """A plot of findings; `agent` chooses one where a kind shows several.

    Raises:
        ValueError: the findings have no baseline and the kind needs one.
    """
    from experiments.verdicts.contender_verdicts import judge, rate
    from reports.plots import (
        board_maps,
        calibration,
        distributions,
        forest,
        heatmap,
        running_estimate,
        win_rate_by_limit,
    )

    if kind == "forest":
        return forest.draw_forest(judge(findings))
    if kind == "ladder":
        return forest.draw_ladder(rate(findings))
    if kind == "limits":
        return win_rate_by_limit.draw_limits([findings])
    if kind in OF_ONE_AGENT:
        return (running_estimate.draw_running if kind == "running" else calibration.draw_calibration)(findings, agent)
    draw = {
        "heatmap": heatmap.draw_heatmap,
        "lengths": distributions.draw_lengths,
        "depth": distributions.draw_depth,
        "nodes": distributions.draw_nodes,
        "placements": board_maps.draw_placements,
        "visits": board_maps.draw_visits,
    }
    return draw[kind](findings)
