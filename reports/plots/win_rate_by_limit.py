"""Win rate by limit: does a heuristic keep its lead when both search more?"""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from experiments.statistics.run_results import RunResults
from experiments.statistics.win_rate_by_limit import UNITS, AtLimit, by_limit
from reports.plots.style import BLACK, PALETTE, new_figure, no_data, short, styled


@styled
def draw_limits(runs: Sequence[RunResults]) -> Figure:
    """Win rate of every measured agent by its limit; agents that differ in nothing else make one line.

    Runs are taken one by one, each with its own opponents. The agents best at the highest limit are in colour.
    """
    title = "Win rate by limit"
    lines = by_limit(runs)
    if not lines:
        return no_data(title, "No agents with limits have finished pairs.")
    unit = lines[0][0].unit
    limits = sorted({point.limit for line in lines for point in line})
    if len(limits) == 1:
        return no_data(title, f"All have the same limit, {limits[0]:,.0f} {UNITS[unit]}: give runs at several limits.")
    figure = new_figure(4.6)
    axes = figure.add_subplot()
    _draw_lines(axes, lines)
    axes.set_xlabel(UNITS[unit])
    axes.set_ylabel("games won, per cent")
    if unit != "depth":
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(limits if len(limits) <= 12 else limits[:: math.ceil(len(limits) / 12)])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.grid(axis="y")
    axes.set_title(title)
    return figure


def _draw_lines(axes: Axes, lines: Sequence[Sequence[AtLimit]]) -> None:
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


def _draw_line(axes: Axes, line: Sequence[AtLimit], colour: str, label: str, has_intervals: bool) -> None:
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
