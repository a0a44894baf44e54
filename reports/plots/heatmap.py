"""Tables as colours: contenders by opponent, and the drawing of such grids."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from experiments.inference.standings import matchups, standings
from experiments.statistics.run_results import RunResults
from reports.plots.style import SEQUENTIAL, label_rows, new_figure, no_data, short, styled

_CELL = 0.62


@styled
def draw_heatmap(findings: RunResults) -> Figure:
    """Win rate in per cent of each measured agent against each opponent, the best agent on top."""
    title = "Win rate by opponent, in per cent"
    order = [standing.agent for standing in standings(findings.pairs)]
    agents = [name for name in order if name in findings.measured]
    rates = {
        name: {matchup.opponent: matchup.rate.estimate for matchup in matchups(findings.pairs, name)} for name in agents
    }
    opponents = [name for name in reversed(order) if any(name in row for row in rates.values())]
    values = np.array([[rates[name].get(other, np.nan) for other in opponents] for name in agents])
    if not values.size or np.isnan(values).all():
        return no_data(title)
    figure = new_figure(
        1.7 + 0.3 * len(agents) + 0.06 * max(len(short(name)) for name in opponents), grid_width(opponents)
    )
    axes = figure.add_subplot()
    draw_grid(axes, 100 * values, agents, opponents, _round_ends(100 * values))
    axes.set_title(title)
    return figure


def _round_ends(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    """The tens around all values, so that colours tell apart what is there."""
    low, high = np.nanmin(values), np.nanmax(values)
    return float(min(np.floor(low / 10) * 10, 90)), float(max(np.ceil(high / 10) * 10, np.floor(low / 10) * 10 + 10))


def grid_width(columns: Sequence[str]) -> float:
    """Inches for a grid of so many columns, beside long names."""
    return max(5.5, 3.6 + _CELL * len(columns))


def draw_grid(
    axes: Axes,
    values: npt.NDArray[np.float64],
    rows: Sequence[str],
    columns: Sequence[str],
    ends: tuple[float, float],
    colours: str = SEQUENTIAL,
    form: str = "{:.0f}",
) -> AxesImage:
    """A table as coloured cells with their numbers; NaN is blank."""
    image = axes.imshow(values, cmap=colours, vmin=ends[0], vmax=ends[1], aspect="auto")
    write_cells(axes, image, values, form)
    label_rows(axes, rows)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    steep = max((len(name) for name in columns), default=0) > 7
    axes.set_xticks(
        range(len(columns)),
        [short(name) for name in columns],
        rotation=40 if steep else 0,
        ha="right" if steep else "center",
        rotation_mode="anchor" if steep else None,
    )
    axes.tick_params(axis="x", length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    return image


def write_cells(axes: Axes, image: AxesImage, values: npt.NDArray[np.float64], form: str, size: float = 8) -> None:
    """The number in each cell, in black or white, whichever is read better on the cell's colour."""
    colours = image.to_rgba(values)
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            red, green, blue, _ = colours[row, column]
            is_light = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5
            text = form.format(value)
            axes.text(
                column, row, text, ha="center", va="center", fontsize=size, color="black" if is_light else "white"
            )
