"""Rows with an estimate and its interval: the forest plot of contenders, and the ladder of ratings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from experiments.inference.bradley_terry import Ratings
from experiments.inference.contenders.baseline_comparison import Comparison
from experiments.inference.contenders.head_to_head import HeadToHead
from experiments.verdicts.contender_verdicts import Verdicts
from reports.plots.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ROW,
    VERMILION,
    label_rows,
    new_figure,
    no_data,
    styled,
)
from reports.text.cell_values import Elo, Points

_MARKS = {
    "better": (GREEN, "^"),
    "worse": (VERMILION, "v"),
    "equal": (GREY, "s"),
    "no significant difference": (GREY, "o"),
    "control": (BLACK, "D"),
}


@dataclass(frozen=True)
class _Row:
    name: str
    estimate: float
    low: float
    high: float
    kind: str


@styled
def draw_forest(verdicts: Verdicts) -> Figure:
    """Every contender's difference to the baseline in percentage points, with its interval; the largest on top."""
    title = f"Win rate compared with {verdicts.baseline}"
    rows = _forest_rows(verdicts)
    if not rows:
        return no_data(title)
    figure = new_figure(1.3 + ROW * len(rows))
    axes = figure.add_subplot()
    axes.axvline(0, color=BLACK, linewidth=1)
    for place, row in enumerate(rows):
        colour, marker = _MARKS[row.kind]
        face = "white" if row.kind == "control" else colour
        axes.plot([row.low, row.high], [place, place], color=colour, linewidth=2.6, solid_capstyle="butt")
        axes.plot(row.estimate, place, marker=marker, color=colour, markerfacecolor=face, markersize=6, linestyle="")
        text = f"{Points(row.estimate / 100).shown}  {row.kind}"
        axes.annotate(text, (1.01, place), xycoords=("axes fraction", "data"), va="center", color=colour, fontsize=8.5)
    label_rows(axes, [row.name for row in rows])
    axes.grid(axis="x")
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("difference in percentage points\n95 % intervals, for all contenders together")
    figure.suptitle(title, fontsize=11, x=0.01, ha="left")
    return figure


@styled
def draw_ladder(ratings: Ratings) -> Figure:
    """Ratings with their intervals, best on top."""
    title = "Ratings"
    if not ratings.ratings:
        return no_data(title)
    figure = new_figure(1.3 + ROW * len(ratings.ratings))
    axes = figure.add_subplot()
    axes.axvline(0, color=BLACK, linewidth=1)
    finite = [end for rating in ratings.ratings for end in (rating.low, rating.elo, rating.high) if math.isfinite(end)]
    margin = 0.05 * (max(finite) - min(finite)) + 1
    widest = min(finite) - margin, max(finite) + margin
    axes.set_xlim(widest)
    for place, one in enumerate(ratings.ratings):
        colour = BLACK if one.agent == ratings.zero else BLUE
        # an open interval runs out of the picture
        ends = [max(one.low, widest[0]), min(one.high, widest[1])]
        axes.plot(ends, [place, place], color=colour, linewidth=1.6, solid_capstyle="butt")
        axes.plot(one.elo, place, marker="o", color=colour, markersize=5, linestyle="")
        axes.annotate(Elo(one.elo).shown, (1.01, place), xycoords=("axes fraction", "data"), va="center", fontsize=8.5)
    label_rows(axes, [rating.agent for rating in ratings.ratings])
    axes.grid(axis="x")
    axes.spines["left"].set_visible(False)
    zero = f"{ratings.zero} is 0" if ratings.zero else "the pool's mean is 0"
    axes.set_xlabel(f"Elo by Bradley and Terry's model, {zero}\n95 % intervals over openings")
    axes.set_title(title)
    return figure


def _forest_rows(verdicts: Verdicts) -> Sequence[_Row]:
    rows = []
    claims: list[Comparison | HeadToHead] = [*verdicts.comparisons, *verdicts.duels]
    for claim in claims:
        low, high = claim.lead
        kind = "control" if claim.contender in verdicts.controls else claim.verdict
        rows.append(_Row(claim.contender, 100 * claim.estimate, 100 * low, 100 * high, kind))
    return sorted((row for row in rows if not math.isnan(row.estimate)), key=lambda row: -row.estimate)
