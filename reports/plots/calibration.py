"""How well scores tell who wins: by agent and ply, and for one agent by score."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.inference.proportions import wilson
from experiments.statistics.calibration import BANDS, FEWEST_SCORES, Scores, band_auc, scores_of
from experiments.statistics.run_results import RunResults
from reports.plots.heatmap import draw_grid
from reports.plots.style import BLUE, GREY, new_figure, no_data, short, styled

_BINS = 8
_NO_SCORES = "No unproven scores in the log yet."


@styled
def draw_calibration(findings: RunResults, agent: str | None = None) -> Figure:
    """The AUC of every measured agent's scores by ply, the best on top; for one `agent`, wins by score."""
    title = "How well scores tell who wins (AUC)"
    names = findings.measured if agent is None else (agent,)
    found = scores_of(findings, names)
    if agent is not None:
        return _draw_curves(agent, found[agent])
    overall = {name: scores.auc for name, scores in found.items()}
    shown = sorted((name for name in names if not math.isnan(overall[name])), key=lambda name: -overall[name])
    if not shown:
        return no_data(title, _NO_SCORES)
    bands = [band for band in BANDS if any(found[name].between(*band).positions >= FEWEST_SCORES for name in shown)]
    values = np.array([[overall[name], *(band_auc(found[name], band) for band in bands)] for name in shown], float)
    figure = new_figure(1.2 + 0.3 * len(shown), 7.5)
    axes = figure.add_subplot()
    draw_grid(
        axes, values, shown, ["all", *(f"{first + 1}–{last + 1}" for first, last in bands)], (0.5, 1), form="{:.2f}"
    )
    axes.axvline(0.5, color="white", linewidth=4)
    axes.set_xlabel("ply, counted from 1 · 0.5 is a coin, 1 knows; proven scores left out")
    axes.set_title(title)
    return figure


def _draw_curves(agent: str, scores: Scores) -> Figure:
    """The share of games won by score, in bins of about as many positions, one panel a stage of the game."""
    title = f"{short(agent)}: games won by score"
    bands = [band for band in BANDS if scores.between(*band).positions >= FEWEST_SCORES]
    if not bands:
        return no_data(title, _NO_SCORES)
    columns = min(4, len(bands))
    rows = math.ceil(len(bands) / columns)
    figure = new_figure(0.9 + 1.9 * rows)
    grid = figure.subplots(rows, columns, sharey=True, squeeze=False)
    for axes, band in zip(grid.flat, bands, strict=False):
        _draw_curve(axes, scores.between(*band))
        part = scores.between(*band)
        axes.set_title(f"plies {band[0] + 1}–{band[1] + 1}, AUC {part.auc:.2f}", fontsize=8)
    for axes in grid.flat[len(bands) :]:
        axes.set_axis_off()
    figure.supxlabel("score, in the mover's view", fontsize=9)
    figure.supylabel("games won by the mover, per cent", fontsize=9)
    figure.suptitle(title, fontsize=11, x=0.01, ha="left")
    return figure


def _draw_curve(axes: Axes, scores: Scores) -> None:
    times = scores.won + scores.lost
    edges = np.unique(np.quantile(np.repeat(scores.score, times), np.linspace(0, 1, _BINS + 1)))
    place = np.clip(np.searchsorted(edges, scores.score, side="right") - 1, 0, max(edges.size - 2, 0))
    for number in np.unique(place):
        own = place == number
        share = wilson(int(scores.won[own].sum()), int(times[own].sum()))
        x = float(np.average(scores.score[own], weights=times[own]))
        axes.plot([x, x], [100 * share.low, 100 * share.high], color=BLUE, linewidth=1.2)
        axes.plot(x, 100 * share.estimate, marker="o", color=BLUE, markersize=4)
    axes.axhline(50, color=GREY, linewidth=0.8)
    axes.set_ylim(0, 100)
