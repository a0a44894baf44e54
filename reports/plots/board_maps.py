"""The board as a map: how good first placements are, what refutes them, and where games go."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from experiments.exact.board_solving import BoardSummary
from experiments.statistics.first_placements import FEWEST, commonest_size, placements, visits
from experiments.statistics.run_results import RunResults
from isolation.rules.geometry import canonical_opening, move_of, parse_size
from isolation.rules.notation import cell_name, column_name
from reports.plots.heatmap import write_cells
from reports.plots.style import BLACK, BLUE, DIVERGING, GREY, ORANGE, SEQUENTIAL, new_figure, no_data, styled

_TWO = ListedColormap([ORANGE, BLUE])


@styled
def draw_placements(findings: RunResults) -> Figure:
    """For both players, the share of games won by first placement, alike cells alike; of too few openings blank."""
    size = commonest_size(findings)
    title = "Games won by first placement, in per cent"
    if size is None:
        return no_data(title, "No games yet.")
    shares = np.full((2, size[0] * size[1]), np.nan)
    for placement in placements(findings):
        if placement.openings >= FEWEST:
            shares[0 if placement.placed_first else 1, list(placement.cells)] = 100 * placement.rate.estimate
    figure = new_figure(1.1 + 3.4 * min(size[0] / size[1], 1.6))
    axes = figure.subplots(1, 2)
    for player, name in enumerate(("placed first", "placed second")):
        _draw_map(axes[player], shares[player].reshape(size), (0, 100), DIVERGING)
        axes[player].set_title(f"By the player that {name}", fontsize=9)
    figure.suptitle(title, fontsize=11, x=0.01, ha="left")
    note = f"cells that are alike by symmetry together; blank: fewer than {FEWEST} openings"
    figure.supxlabel(note, fontsize=8, color=GREY, x=0.01, ha="left")
    return figure


@styled
def draw_visits(findings: RunResults) -> Figure:
    """The share of games in which somebody stood on a cell."""
    size = commonest_size(findings)
    title = "Games in which a cell was visited, in per cent"
    shares = visits(findings)
    if size is None or shares is None:
        return no_data(title, "No games yet.")
    figure = new_figure(0.8 + 4.2 * min(size[0] / size[1], 1.6), 5.2)
    axes = figure.add_subplot()
    _draw_map(axes, 100 * shares.reshape(size), (0, 100), SEQUENTIAL)
    axes.set_title(title)
    return figure


@styled
def draw_refutations(summary: BoardSummary) -> Figure:
    """How many replies refute each first cell; and, for every first cell up to symmetry, which."""
    rows, columns = parse_size(summary.size)
    counts = np.array([len(cells) for cells in summary.refutations], float)
    firsts = [cell for cell in range(rows * columns) if canonical_opening([cell], rows, columns) == (cell,)]
    across = min(5, len(firsts))
    down = -(-len(firsts) // across)
    ratio = min(rows / columns, 2.0)
    figure = new_figure(1.1 + 4.2 * ratio + 1.75 * down * ratio)
    parts = figure.subfigures(2, 1, height_ratios=[4.2, 0.2 + 1.75 * down], squeeze=False)
    top, bottom = parts[0, 0], parts[1, 0]
    axes = top.add_subplot()
    image = axes.imshow(
        counts.reshape(rows, columns), cmap=SEQUENTIAL, vmin=counts.min() - 1, vmax=max(counts.max(), counts.min() + 1)
    )
    write_cells(axes, image, counts.reshape(rows, columns), "{:.0f}", 9 if max(rows, columns) <= 9 else 6.5)
    _name_cells(axes, rows, columns)
    top.suptitle(f"Replies that refute a first placement, {summary.size}", fontsize=11, x=0.01, ha="left")
    legend = "First placement (dot) and replies: player 2 wins (blue), player 1 wins (orange)"
    bottom.suptitle(legend, fontsize=9, x=0.01, ha="left")
    for place, small in zip(firsts, np.ravel(bottom.subplots(down, across, squeeze=False)), strict=False):
        _draw_replies(small, summary, place, rows, columns)
    for empty in np.ravel(bottom.axes)[len(firsts) :]:
        empty.set_axis_off()
    return figure


def _draw_replies(axes: Axes, summary: BoardSummary, first: int, rows: int, columns: int) -> None:
    """A small board: the first cell as a dot, replies after which player 2 wins in blue, the others in orange."""
    winners = summary.winners[first].astype(float)
    winners[first] = np.nan
    axes.imshow(np.where(winners == 0, np.nan, winners).reshape(rows, columns), cmap=_TWO, vmin=1, vmax=2)
    row, column = move_of(first, columns)
    axes.plot(column, row, "o", color=BLACK, markersize=5)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(f"{cell_name(first, columns)}: {len(summary.refutations[first])}", fontsize=8)
    for side in axes.spines.values():
        side.set_visible(False)


def _draw_map(axes: Axes, values: npt.NDArray[np.float64], ends: tuple[float, float], colours: str) -> None:
    """A board; columns and rows are named as everywhere."""
    rows, columns = values.shape
    axes.set_facecolor("#f0f0f0")
    image = axes.imshow(values, cmap=colours, vmin=ends[0], vmax=ends[1])
    write_cells(axes, image, values, "{:.0f}", 9 if max(rows, columns) <= 9 else 6.5)
    _name_cells(axes, rows, columns)


def _name_cells(axes: Axes, rows: int, columns: int) -> None:
    axes.set_xticks(range(columns), [column_name(column) for column in range(columns)])
    axes.set_yticks(range(rows), [str(row) for row in range(rows)])
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
