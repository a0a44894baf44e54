"""Response curves and maps: how often an agent wins under each value of a parameter or limit."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.learn.parameter_sweep import Axis, Point
from isolation.rules.limits import Limit
from reports.plots.style import PALETTE, new_figure, styled

Places = list[float]


@styled
def response_plot(axes: Sequence[Axis], points: Sequence[Point], opponent: str) -> Figure:
    """A curve over the first axis for each combination of the others, with 95 % intervals.

    Two axes with more values than there are colours for make a map.
    """
    figure = new_figure(4.6)
    area = figure.add_subplot()
    curves = len(points) // len(axes[0].values)
    if len(axes) == 2 and curves > len(PALETTE):
        _draw_map(figure, area, axes, points)
    else:
        _draw_curves(area, axes, points)
    area.set_title(f"Games won against {opponent}")
    return figure


def _draw_curves(area: Axes, axes: Sequence[Axis], points: Sequence[Point]) -> None:
    first, *others = axes
    rest = list(itertools.product(*(axis.values for axis in others)))
    places = _places(area, first, is_x=True)
    for number, values in enumerate(rest):
        line = points[number :: len(rest)]
        colour = PALETTE[number % len(PALETTE)]
        low, middle, high = ([100 * getattr(point.rate, end) for point in line] for end in ("low", "estimate", "high"))
        label = ", ".join(f"{axis.name} {_text(value)}" for axis, value in zip(others, values, strict=True))
        area.fill_between(places, low, high, color=colour, alpha=0.15, linewidth=0)
        area.plot(places, middle, marker="o", markersize=3, color=colour, label=label or "_")
    area.set_ylabel("games won, per cent")
    area.grid(axis="y")
    if others:
        area.legend(fontsize=8, frameon=False)


def _draw_map(figure: Figure, area: Axes, axes: Sequence[Axis], points: Sequence[Point]) -> None:
    shares = np.array([100 * point.rate.estimate for point in points]).reshape([len(axis.values) for axis in axes])
    x, y = _places(area, axes[0], is_x=True), _places(area, axes[1], is_x=False)
    colours = area.pcolormesh(x, y, shares.T, shading="nearest", cmap="viridis")
    figure.colorbar(colours, label="games won, per cent")


def _places(area: Axes, axis: Axis, *, is_x: bool) -> Places:
    """Where the values of an axis lie: numbers where they are, limits side by side."""
    along = area.xaxis if is_x else area.yaxis
    along.set_label_text(axis.name)
    if not isinstance(axis.values[0], Limit):
        return [float(value) for value in axis.values]  # type: ignore[arg-type]
    places = [float(place) for place in range(len(axis.values))]
    along.set_ticks(places, [_text(value) for value in axis.values])
    return places


def _text(value: Limit | float) -> str:
    return str(value) if isinstance(value, Limit) else f"{value:.4g}"
