"""The board as a map: how good first placements are, what refutes them, and where games go."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from experiments.log import read_table
from experiments.solving import BoardSummary
from experiments.verdicts.effort import list_chunks
from experiments.verdicts.findings import Findings
from isolation.geometry import canonical_opening, move_of, parse_size
from isolation.notation import cell_name, column_name
from reports.plots.grids import write_cells
from reports.plots.style import BLACK, BLUE, DIVERGING, ORANGE, SEQUENTIAL, new_figure, no_data, styled

_FEWEST = 5
_TWO = ListedColormap([ORANGE, BLUE])


@styled
def draw_placements(findings: Findings) -> Figure:
    """For both players, the share of games won by cell of the first placement; cells of fewer than five games blank."""
    size = _commonest_size(findings)
    title = "Games won by first placement, in per cent"
    if size is None:
        return no_data(title, "No games yet.")
    won, played = np.zeros((2, size[0] * size[1])), np.zeros((2, size[0] * size[1]))
    for moves, winner in _moves(findings, size):
        for player, cells in enumerate(moves):
            kept = cells >= 0
            played[player] += np.bincount(cells[kept], minlength=played.shape[1])
            won[player] += np.bincount(cells[kept], winner[kept] == player + 1, minlength=won.shape[1])
    with np.errstate(invalid="ignore"):
        shares = np.where(played >= _FEWEST, 100 * won / played, np.nan)
    figure = new_figure(0.9 + 3.4 * min(size[0] / size[1], 1.6))
    axes = figure.subplots(1, 2)
    for player, name in enumerate(("placed first", "placed second")):
        _draw_map(axes[player], shares[player].reshape(size), (0, 100), DIVERGING)
        axes[player].set_title(f"By the player that {name}", fontsize=9)
    figure.suptitle(title, fontsize=11, x=0.01, ha="left")
    return figure


@styled
def draw_visits(findings: Findings) -> Figure:
    """The share of games in which somebody stood on a cell."""
    size = _commonest_size(findings)
    title = "Games in which a cell was visited, in per cent"
    if size is None:
        return no_data(title, "No games yet.")
    visits = np.zeros(size[0] * size[1])
    games = 0
    for source in findings.sources:
        table = read_table(source.info.path, ["rows", "columns", "moves"])
        same = pc.and_(pc.equal(table["rows"], size[0]), pc.equal(table["columns"], size[1]))
        table = table.filter(same)
        games += len(table)
        for _, cells in list_chunks(table, "moves"):
            visits += np.bincount(cells.astype(np.int64), minlength=visits.size)[: visits.size]
    figure = new_figure(0.8 + 4.2 * min(size[0] / size[1], 1.6), 5.2)
    axes = figure.add_subplot()
    _draw_map(axes, 100 * visits.reshape(size) / games, (0, 100), SEQUENTIAL)
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


def _commonest_size(findings: Findings) -> tuple[int, int] | None:
    """Rows and columns of the board most games were played on."""
    if not len(findings.games):
        return None
    rows, columns = divmod(int(findings.games["size"].mode().iloc[0]), 1000)
    return rows, columns


def _moves(
    findings: Findings, size: tuple[int, int]
) -> Iterator[tuple[list[npt.NDArray[np.int64]], npt.NDArray[np.int8]]]:
    """For each part of the log, the first placements of both players (−1 where there is none), and the winners."""
    for source in findings.sources:
        table = read_table(source.info.path, ["rows", "columns", "moves", "winner"])
        same = pc.and_(pc.equal(table["rows"], size[0]), pc.equal(table["columns"], size[1]))
        table = table.filter(same)
        winner = table["winner"].to_numpy()
        first = 0
        for offsets, cells in list_chunks(table, "moves"):
            lengths = np.diff(offsets)
            values = np.append(cells.astype(np.int64), [-1, -1])
            placements = [np.where(lengths > place, values[offsets[:-1] + place], -1) for place in (0, 1)]
            yield placements, winner[first : first + lengths.size]
            first += lengths.size
