"""How many moves keep a won position won: by ply, and by depth of the search."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from experiments.exact.accuracy import Accuracy, accuracies, accuracy_lines, chance_by
from reports.plots.style import (
    BLACK,
    GREY,
    PALETTE,
    new_figure,
    no_data,
    short,
    styled,
)

_FEWEST = 10


@styled
def draw_accuracy_by_ply(decisions: pd.DataFrame) -> Figure:
    """For each agent, the share of eligible moves that kept the win, by bands of four plies.

    The agents that are surely most accurate are in colour with their 95 % intervals, the rest in grey; bands with fewer
    than ten eligible moves are left out.
    """
    title = "Moves that kept the win, by ply, in per cent"
    lines = accuracy_lines(decisions, fewest=_FEWEST)
    if not lines:
        return no_data(title, f"Nobody has {_FEWEST} labelled moves that could have thrown a win away.")
    figure = new_figure(4.6)
    axes = figure.add_subplot()
    _draw_lines(axes, lines, lambda one: (one.first + one.last) / 2 + 1)
    axes.set_xlabel("ply (1 is the first placement)")
    _finish(axes, title)
    return figure


@styled
def draw_accuracy_by_depth(decisions: pd.DataFrame) -> Figure:
    """For each heuristic, the share of eligible moves that kept the win, by depth of the search."""
    title = "Moves that kept the win, by depth of the search, in per cent"
    found = [accuracy for accuracy in accuracies(decisions) if accuracy.depth is not None and accuracy.eligible]
    if not found:
        return no_data(title, "No agent that searches to a fixed depth has labelled moves.")
    lines: dict[str, list[Accuracy]] = {}
    for one in sorted(found, key=lambda one: one.depth or 0):
        lines.setdefault(one.heuristic, []).append(one)
    ranked = dict(sorted(lines.items(), key=lambda line: -line[1][-1].kept.low))
    figure = new_figure(4.6)
    axes = figure.add_subplot()
    _draw_lines(axes, ranked, lambda one: float(one.depth or 0))
    axes.set_xlabel("depth in plies")
    _finish(axes, title)
    return figure


def _draw_lines(axes: Axes, lines: Mapping[str, Sequence[Accuracy]], place: Callable[[Accuracy], float]) -> None:
    """The best in colour and with intervals, the rest in grey; and what a random choice would keep, dotted."""
    best = list(lines)[: len(PALETTE)]
    for number, name in enumerate(name for name in lines if name not in best):
        label = f"{len(lines) - len(best)} others" if number == 0 else "_"
        _draw_line(axes, lines[name], place, "#bbbbbb", label, with_intervals=False)
    for name, colour in zip(best, PALETTE, strict=False):
        _draw_line(axes, lines[name], place, colour, f"\u200b{short(name)}", with_intervals=True)
    chance = chance_by(lines.values(), place)
    shares = [100 * share for share in chance.values()]
    axes.plot(list(chance), shares, ":", color=GREY, linewidth=1.2, label="a random choice")


def _draw_line(
    axes: Axes,
    line: Sequence[Accuracy],
    place: Callable[[Accuracy], float],
    colour: str,
    label: str,
    *,
    with_intervals: bool,
) -> None:
    x = [place(one) for one in line]
    y = [100 * one.kept.estimate for one in line]
    if with_intervals:
        below = [100 * (one.kept.estimate - one.kept.low) for one in line]
        above = [100 * (one.kept.high - one.kept.estimate) for one in line]
        axes.errorbar(x, y, (below, above), fmt="none", ecolor=colour, elinewidth=0.8, alpha=0.6)
    axes.plot(x, y, marker="o", markersize=4, color=colour, label=label, zorder=3 if with_intervals else 2)


def _finish(axes: Axes, title: str) -> None:
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    lowest = min((float(np.min(line.get_ydata())) for line in axes.lines), default=0.0)
    axes.set_ylim(max(0, 10 * (lowest // 10) - 5), 102)
    axes.grid(axis="y")
    axes.set_title(title)
    axes.figure.legend(loc="outside lower left", ncols=2, fontsize=8, frameon=False, labelcolor=BLACK)
