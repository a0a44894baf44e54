"""Distributions of game length, depth and nodes: for each agent the middle half, the middle nine tenths, the median."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from experiments.statistics.move_statistics import Distribution, game_lengths, searched
from experiments.statistics.run_results import RunResults
from reports.plots.style import BLACK, BLUE, ROW, SKY, label_rows, new_figure, no_data, styled

_SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
_CAPTION = "line: 90 % of them, bar: half of them, tick: median"


@styled
def draw_lengths(findings: RunResults) -> Figure:
    """Plies of each agent's games, the opening's included."""
    return _draw(game_lengths(findings, findings.pairs.agents), "Length of games", "plies, the opening's included")


@styled
def draw_depth(findings: RunResults) -> Figure:
    """Plies searched at each agent's moves."""
    return _draw(
        searched(findings, "depth", findings.pairs.agents), "Depth of search", "plies of the last full iteration"
    )


@styled
def draw_nodes(findings: RunResults) -> Figure:
    """Nodes searched at each agent's moves."""
    found = searched(findings, "nodes", findings.pairs.agents)
    return _draw(found, "Nodes searched a move", "nodes (simulations for MCTS)", is_log=True)


def _draw(found: Distribution, title: str, label: str, is_log: bool = False) -> Figure:
    quantiles = found.quantiles(_SHARES)
    known = np.flatnonzero(~np.isnan(quantiles).any(axis=1))
    if not known.size:
        return no_data(title, "No games yet, or no agent that searches.")
    order = known[np.argsort(-quantiles[known, 2], kind="stable")]
    figure = new_figure(1.4 + ROW * len(order))
    axes = figure.add_subplot()
    for place, (least, lower, median, upper, most) in enumerate(quantiles[order]):
        axes.plot([least, most], [place, place], color=BLUE, linewidth=1, zorder=2)
        axes.plot([lower, upper], [place, place], color=SKY, linewidth=8, solid_capstyle="butt", zorder=3)
        axes.plot([median, median], [place - 0.3, place + 0.3], color=BLACK, linewidth=1.6, zorder=4)
    label_rows(axes, [found.names[place] for place in order])
    if is_log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(axis="x")
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(f"{label}\n{_CAPTION}")
    axes.set_title(title)
    return figure
