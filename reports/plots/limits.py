"""Win rate by limit: does a heuristic keep its lead when both search more?"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from experiments.inference.clusters import Interval
from experiments.inference.standings import standings
from experiments.verdicts.findings import AgentFacts, Findings
from reports.plots.style import BLACK, PALETTE, new_figure, no_data, short, styled

_UNITS = {"nodes": "nodes a move", "depth": "depth in plies", "ms": "ms a move", "cpu_ms": "CPU ms a move"}


@dataclass(frozen=True)
class _Point:
    kind: str
    name: str
    is_baseline: bool
    unit: str
    limit: float
    rate: Interval


@styled
def draw_limits(runs: Sequence[Findings]) -> Figure:
    """Win rate of every measured agent by its limit; agents that differ in nothing else make one line.

    Runs are taken one by one, each with its own opponents. The agents best at the highest limit are in colour.
    """
    title = "Win rate by limit"
    points = [point for run in runs for point in _points(run)]
    if not points:
        return no_data(title, "No agents with limits have finished pairs.")
    units = [point.unit for point in points]
    unit = max(set(units), key=units.count)
    lines: dict[str, list[_Point]] = {}
    for point in sorted((point for point in points if point.unit == unit), key=lambda point: point.limit):
        lines.setdefault(point.kind, []).append(point)
    limits = sorted({point.limit for line in lines.values() for point in line})
    if len(limits) == 1:
        return no_data(title, f"All have the same limit, {limits[0]:,.0f} {_UNITS[unit]}: give runs at several limits.")
    figure = new_figure(4.6)
    axes = figure.add_subplot()
    _draw_lines(axes, sorted(lines.values(), key=lambda line: -line[-1].rate.estimate))
    axes.set_xlabel(_UNITS[unit])
    axes.set_ylabel("games won, per cent")
    if unit != "depth":
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(limits if len(limits) <= 12 else limits[:: math.ceil(len(limits) / 12)])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.grid(axis="y")
    axes.set_title(title)
    return figure


def _draw_lines(axes: Axes, lines: Sequence[list[_Point]]) -> None:
    """The baseline in black, the best in colour, the rest in grey."""
    baseline = [line for line in lines if line[-1].is_baseline]
    best = [line for line in lines if not line[-1].is_baseline][: len(PALETTE)]
    rest = [line for line in lines if line not in baseline and line not in best]
    named = [*zip(best, PALETTE, strict=False), *((line, BLACK) for line in baseline)]
    for number, line in enumerate(rest):
        _draw_line(axes, line, "#bbbbbb", f"{len(rest)} others" if number == 0 else "_", False)
    for line, colour in named:
        _draw_line(axes, line, colour, f"\u200b{short(line[-1].name)}", True)
    axes.figure.legend(loc="outside lower left", ncols=2, fontsize=8, frameon=False, labelcolor=BLACK)


def _draw_line(axes: Axes, line: Sequence[_Point], colour: str, label: str, has_intervals: bool) -> None:
    x = [point.limit for point in line]
    y = [100 * point.rate.estimate for point in line]
    if has_intervals:
        below = [100 * (point.rate.estimate - point.rate.low) for point in line]
        above = [100 * (point.rate.high - point.rate.estimate) for point in line]
        axes.errorbar(x, y, (below, above), fmt="none", ecolor=colour, elinewidth=0.8, alpha=0.6)
    width = 1.8 if has_intervals else 1
    axes.plot(
        x, y, marker="o", markersize=4, color=colour, linewidth=width, label=label, zorder=3 if has_intervals else 2
    )


def _points(run: Findings) -> list[_Point]:
    found = []
    for one in standings(run.pairs):
        facts = run.agents.get(one.agent)
        if facts is None or facts.limit is None or one.agent not in run.measured or math.isnan(one.rate.estimate):
            continue
        if set(facts.roles) & {"control"}:
            continue
        unit, value = facts.limit
        name = one.agent.partition("@")[0]
        found.append(_Point(_kind(facts), name, one.agent == run.baseline, unit, value, one.rate))
    return found


def _kind(facts: AgentFacts) -> str:
    """What agents have in common that differ in their limit only."""
    return json.dumps({key: value for key, value in facts.settings.items() if key != "limit"}, sort_keys=True)
