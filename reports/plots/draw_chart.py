"""Draw charts and cards with matplotlib: as figures, as files, and as inline SVG in the page's colours."""

from __future__ import annotations

import io
import math
import re
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, cast

import matplotlib as mpl
import numpy as np
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle as RoundPatch
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path as Outline

from knights_isolation.isolation.files.atomic_write import check_output
from knights_isolation.isolation.rules import drawing
from knights_isolation.isolation.rules.classic_board import Board

from ..charts.chart import Axis, Boards, Card, Chart, Grid, Panel, Picture, Plot, RowChart, Series
from ..text.rendering import in_the_middle

_CSS = (Path(__file__).parents[1] / "templates" / "lab.css").read_text(encoding="utf-8")
COLOURS = dict(re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}),", _CSS.partition("}")[0]))
"""The pages' colours in the light theme."""

WIDTH = 7.5
ROW = 0.27
LONGEST_NAME = 44

_STYLE: dict[str, Any] = {
    "font.size": 9,
    "font.family": ["DejaVu Sans"],
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "text.color": COLOURS["ink"],
    "axes.labelcolor": COLOURS["ink"],
    "axes.edgecolor": COLOURS["soft"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": COLOURS["line"],
    "xtick.color": COLOURS["soft"],
    "ytick.color": COLOURS["soft"],
    "xtick.labelcolor": COLOURS["ink"],
    "ytick.labelcolor": COLOURS["ink"],
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "isolation",
}


@contextmanager
def style(changes: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Apply the style of all plots, to a block or by decoration.

    Names are not parsed as formulas, and may contain letters the font lacks.
    """
    with mpl.rc_context(cast(Any, {**_STYLE, **(changes or {})})), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        yield


class CellFigure(Figure):
    """A figure that a notebook shows as SVG."""

    def _repr_svg_(self) -> str:
        return to_svg(self)


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """Return an empty figure; sizes are in inches."""
    figure = CellFigure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def short(name: str, longest: int = LONGEST_NAME) -> str:
    """Shorten a name; the middle of a long one is left out, since its ends are more informative."""
    return in_the_middle(name, longest, longest - longest // 2)


def to_svg(figure: Figure) -> str:
    """Return the figure as SVG text, the same for the same data."""
    text = io.StringIO()
    with style():
        figure.savefig(text, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return text.getvalue()


def save(figure: Figure, path: Path) -> Path:
    """Write a figure as SVG or PNG, by the file's suffix.

    Raises:
        ValueError: its suffix is neither .svg nor .png, or it cannot be written.
    """
    check_output(path, (".svg", ".png"))
    if path.suffix == ".svg":
        path.write_text(to_svg(figure), encoding="utf-8")
        return path
    with style():
        figure.savefig(path, format="png", dpi=160, metadata={"Software": None})
    return path


_CELL = 0.62
_MAX_WIDTH = 20.0
_DETAILS = 5
"""Number of small boards side by side."""
_OF_SIGN = {"+": "plus", "-": "minus", "=": "amount", "0": "surface"}
"""Names of the colours of cells, by the kind of their value."""
_MARKERS = {"better": "^", "worse": "v", "equal": "s", "control": "D"}


@style()
def draw_chart(chart: Chart | None, missing: str = "No complete pairs yet.") -> Figure:
    """Draw a chart as a figure; without a chart, draw the reason."""
    if chart is None:
        figure = new_figure(0.6)
        figure.text(0.02, 0.4, missing, fontsize=10)
        return figure
    if isinstance(chart, Card):
        return draw_card(chart)
    draw: dict[type, Callable[[Any], Figure]]
    draw = {RowChart: _draw_rows, Grid: _draw_grid, Boards: _draw_boards, Plot: _draw_plot}
    figure = draw[type(chart)](chart)
    figure.suptitle(short(chart.title, 80), fontsize=11, x=0.01, ha="left")
    note = textwrap.fill(chart.note, int((12 if figure.legends else 15) * figure.get_figwidth()))
    if figure.legends:  # below the axes there is only room for one of the two
        figure.axes[0].set_xlabel(f"{figure.axes[0].get_xlabel()}\n{note}")
    else:
        figure.supxlabel(note, fontsize=8, color=COLOURS["soft"], x=0.01, ha="left")
    return figure


def draw_panel(axes: Axes, panel: Panel) -> None:
    """Draw series over two axes. Each series is a group whose id is its number, so that a page can find it."""
    _scale_x(axes, panel.x)
    axes.set_ylim(panel.y.low, panel.y.high)
    axes.set_yticks([at for at, _ in panel.y.ticks], [text for _, text in panel.y.ticks])
    axes.set_ylabel(panel.y.label)
    axes.grid()
    if panel.level is not None:
        axes.axhline(panel.level, color=COLOURS["soft"], linewidth=0.8)
    for number, series in enumerate(panel.series):
        _draw_series(axes, series).set_gid(f"series-{number}")
    points = [series for series in panel.series if series.form == "points" and series.name]
    name_points(axes, points, [series for series in panel.series if series.form == "steps"])


def colour_of(role: str) -> str:
    """Return the name of a role's colour."""
    roles = {"better": "better", "worse": "worse", "baseline": "ink", "control": "ink"}
    return f"line-{role}" if role.isdecimal() else roles.get(role, "soft")


def _draw_rows(chart: RowChart) -> Figure:
    figure = new_figure(1.4 + ROW * len(chart.rows))
    draw_rows(figure.add_subplot(), chart)
    return figure


def draw_rows(axes: Axes, chart: RowChart) -> None:
    """Draw rows over their axis, with names at the left and values at the right."""
    _scale_x(axes, chart.axis)
    axes.grid(axis="x")
    if chart.zero is not None:
        axes.axvline(chart.zero, color=COLOURS["soft"], linewidth=1)
    for y, row in enumerate(chart.rows):
        colour = COLOURS[colour_of(row.role)]
        low, high = np.clip((row.low, row.high), chart.axis.low, chart.axis.high)
        is_luck = row.role == "control"
        axes.plot((low, high), (y, y), ":" if is_luck else "-", color=colour, linewidth=1 if row.inner else 2 + is_luck)
        if row.inner:
            axes.plot(np.clip(row.inner, chart.axis.low, chart.axis.high), (y, y), color=colour, linewidth=4, alpha=0.5)
        for end, edge, marker in ((row.low, low, "<"), (row.high, high, ">")):
            if np.isinf(end):
                axes.plot(edge, y, marker, color=colour, markersize=7)
        axes.plot(row.value, y, _MARKERS.get(row.role, "o"), color=COLOURS["ink"], markersize=5)
        text = f"{row.text}  {row.role}" if row.role else row.text
        axes.annotate(text, (1.01, y), xycoords=("axes fraction", "data"), va="center", fontsize=8.5, color=colour)
    _name_rows(axes, [row.name for row in chart.rows])
    axes.spines["left"].set_visible(False)


def _draw_grid(grid: Grid) -> Figure:
    width = min(max(5.5, 3.6 + _CELL * len(grid.columns)), _MAX_WIDTH)
    columns = [short(name) for name in grid.ranks or grid.columns]
    longest = max(map(len, columns))
    figure = new_figure(1.7 + 0.3 * len(grid.rows) + (0.06 * longest if longest > 7 else 0), width)
    axes = figure.add_subplot()
    _draw_cells(axes, grid, "auto", min(8.0, 72 * (width - 3) / len(grid.columns) / 3))
    rows = [name for name, _ in grid.rows]
    _name_rows(axes, [f"{rank}  {name}" for rank, name in zip(grid.ranks, rows, strict=True)] if grid.ranks else rows)
    if grid.ranks:
        axes.xaxis.tick_top()
    if longest > 7:
        axes.set_xticks(range(len(columns)), columns, rotation=40, ha="right", rotation_mode="anchor")
    else:
        axes.set_xticks(range(len(columns)), columns)
    axes.tick_params(length=0)
    return figure


def _draw_boards(chart: Boards) -> Figure:
    columns, rows = len(chart.boards), -(-len(chart.details) // _DETAILS)
    ratio = min(len(chart.boards[0].rows) / len(chart.boards[0].columns), 1.6)
    heights = 0.9 + (3.4 if columns > 1 else 4.2) * ratio, 0.4 + 1.6 * rows * ratio
    figure = new_figure(sum(heights) if rows else heights[0], WIDTH if columns > 1 or rows else 5.2)
    top: Figure | SubFigure = figure
    if rows:
        parts = figure.subfigures(2, 1, height_ratios=heights, squeeze=False)
        top = parts[0, 0]
        _draw_details(parts[1, 0], chart, rows)
    for axes, grid in zip(top.subplots(1, columns, squeeze=False).flat, chart.boards, strict=True):
        _draw_cells(axes, grid, "equal", 9 if len(grid.columns) <= 9 else 6.5)
        axes.set_title(grid.title, fontsize=9)
        axes.set_xticks(range(len(grid.columns)), grid.columns)
        axes.set_yticks(range(len(grid.rows)), [name for name, _ in grid.rows])
        axes.tick_params(length=0)
    return figure


def _draw_details(part: SubFigure, chart: Boards, rows: int) -> None:
    part.suptitle(chart.legend, fontsize=9, x=0.01, ha="left")
    grid_of_axes = part.subplots(rows, _DETAILS, squeeze=False)
    for axes, grid in zip(grid_of_axes.flat, chart.details, strict=False):
        _draw_cells(axes, grid, "equal", 7)
        axes.set_title(grid.title, fontsize=8)
    for axes in grid_of_axes.flat:
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[:].set_visible(False)


def _draw_cells(axes: Axes, grid: Grid, aspect: Literal["equal", "auto"], size: float) -> None:
    colours = {sign: np.array(to_rgb(COLOURS[name])) for sign, name in _OF_SIGN.items()}
    paper = np.array(to_rgb(COLOURS["surface"]))
    share = np.array([[[0.01 * abs(cell.strength)] for cell in cells] for _, cells in grid.rows])
    full = np.array([[colours[cell.sign] for cell in cells] for _, cells in grid.rows])
    axes.imshow(paper + share * (full - paper), aspect=aspect)
    axes.hlines(np.arange(-0.5, share.shape[0]), -0.5, share.shape[1] - 0.5, COLOURS["line"], linewidth=0.6)
    axes.vlines(np.arange(-0.5, share.shape[1]), -0.5, share.shape[0] - 0.5, COLOURS["line"], linewidth=0.6)
    for y, (_, cells) in enumerate(grid.rows):
        for x, cell in enumerate(cells):
            if cell.text:
                axes.text(x, y, cell.text, ha="center", va="center", fontsize=size)
    axes.spines[:].set_visible(False)


def _draw_plot(plot: Plot) -> Figure:
    columns = min(3, len(plot.panels))
    rows = -(-len(plot.panels) // columns)
    figure = new_figure(4.6 if len(plot.panels) == 1 else 1.2 + 1.8 * rows)
    has_one_x = len({panel.x for panel in plot.panels}) == 1
    for number, axes in enumerate(figure.subplots(rows, columns, sharey=True, squeeze=False).flat):
        if number >= len(plot.panels):
            axes.set_axis_off()
            continue
        panel = plot.panels[number]
        draw_panel(axes, panel)
        axes.set_title("" if panel.title == plot.title else short(panel.title, 26), fontsize=8)
        if rows * columns > 1:
            axes.set_ylabel("")
            figure.supylabel(panel.y.label, fontsize=9)
        if has_one_x and number + columns < len(plot.panels):
            axes.set_xlabel("")
            axes.tick_params(labelbottom=False)
    legend = plot.panels[0].legend
    if len(legend) > 1:
        # an invisible first letter, since names that begin with _ would be left out
        lines = [Line2D([], [], color=COLOURS[colour_of(role)], marker="o", markersize=4) for role, _ in legend]
        names = [f"\u200b{short(name)}" for _, name in legend]
        is_long = len(legend) > 9
        place: Any = "outside right upper" if is_long else "outside lower left"
        figure.legend(lines, names, loc=place, ncols=1 if is_long else 2, fontsize=8, frameon=False)
    return figure


def _draw_series(axes: Axes, series: Series) -> Line2D:
    colour, is_faint, is_points = COLOURS[colour_of(series.role)], series.role == "other", series.form == "points"
    if series.form == "steps":
        (line,) = axes.step(series.x, series.y, "--", where="post", color=COLOURS["ink"], linewidth=1, zorder=1)
        return line
    if series.form == "band":
        axes.fill_between(series.x, series.low, series.high, color=colour, alpha=0.25, linewidth=0)
    elif series.low:
        axes.vlines(series.x, series.low, series.high, color=colour, linewidth=0.9, alpha=0.6)
    (line,) = axes.plot(
        series.x,
        series.y,
        linestyle="none" if is_points else ":" if series.role == "chance" else "-",
        marker="" if (is_faint and not is_points) or (series.form == "band" and len(series.x) > 30) else "o",
        markersize=6 if is_points else 4,
        color=colour,
        linewidth=1 if is_faint else 1.6,
        alpha=0.5 if is_faint else 1,
        clip_on=series.form == "band",
        url=series.link or None,
    )
    return line


def _scale_x(axes: Axes, axis: Axis) -> None:
    if axis.is_log:
        axes.set_xscale("log")
    axes.set_xlim(axis.low, axis.high)
    axes.set_xticks([at for at, _ in axis.ticks], [text for _, text in axis.ticks])
    axes.minorticks_off()
    axes.set_xlabel(axis.label)


def _name_rows(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), [short(name) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)


def inline_svg(panel: Panel, key: str, *, is_small: bool = False) -> Markup:
    """Return a panel as an SVG element whose ids begin with `key`; small ones are placed side by side."""
    with style({"font.size": 11 if is_small else 10.5, "xtick.major.size": 0, "ytick.major.size": 0}):
        figure = new_figure(2.0, 3.6) if is_small else new_figure(3.3, 5.2)
        draw_panel(figure.add_subplot(), panel)
        figure.patch.set_visible(False)
        figure.axes[0].patch.set_visible(False)
        svg = to_svg(figure)
    return Markup(_adapt(svg[svg.index("<svg") :], panel, key))


def _adapt(svg: str, panel: Panel, key: str) -> str:
    size = re.search(r'viewBox="([^"]+)"', svg)
    assert size is not None
    role = "group" if any(series.link for series in panel.series) else "img"
    label = escape(f"{panel.title}: {panel.y.label}, by {panel.x.label}")
    svg = f'<svg class="plot" viewBox="{size[1]}" role="{role}" aria-label="{label}">' + svg[svg.index(">") + 1 :]
    svg = re.sub(r"<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(id="|url\(#|href="#)([a-z][0-9a-f]{10})', rf"\1{key}-\2", svg)
    for name, colour in COLOURS.items():
        svg = svg.replace(f": {colour}", f": var(--{name})")
    svg = re.sub(r" font-family: [^;\"]+;", "", svg)
    svg = re.sub(r' transform="rotate\(-0 [^"]+', ' transform="', svg).replace(' transform=""', "")
    svg = re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", re.sub(r"\s*\n\s*", " ", svg))
    for number, series in enumerate(panel.series):
        tooltip = escape(series.tooltip or series.name)
        svg = svg.replace(
            f'<g id="series-{number}">', f'<g data-agent="{escape(series.name)}"><title>{tooltip}</title>'
        )
        link = escape(series.link)
        svg = svg.replace(f'<a xlink:href="{link}" target="_blank">', f'<a href="{link}" aria-label="{tooltip}">')
    return re.sub(r'<g id="[\w.]+"', "<g", re.sub(r'<g id="[\w.]+"/>', "", svg))


_POINT = 5.0
_NEAR = 7.0
_DISTANCES = (_NEAR, 12.0, 18.0, 25.0, 33.0, 42.0, 52.0, 63.0, 75.0, 90.0, 110.0, 135.0)
_ANGLES = sorted((math.pi * turn / 12 for turn in range(24)), key=lambda angle: abs(math.sin(angle)))
"""Directions of a label from its point, right and left before others."""
_CROSSING = 18.0
"""Points of distance that a place costs for each line its label covers, and for each point or name its line crosses."""
_LONGEST = 28

Box = tuple[float, float, float, float]
"""Left, bottom, right and top in pixels."""


def name_points(axes: Axes, points: Sequence[Series], stairs: Sequence[Series] = ()) -> None:
    """Write the names of single points; what has no room stays without a name.

    Names overlap neither each other nor points. They cover intervals, `stairs` and leader lines, and their own lines
    cross points and names, only where a free place would be far away.
    """
    if not points:
        return
    axes.figure.draw_without_rendering()  # type: ignore[union-attr]
    unit = axes.figure.dpi / 72
    places = [axes.transData.transform((point.x[0], point.y[0])) for point in points]
    taken = [_around(place, _POINT * unit) for place in places]
    lines = [bar for point in points for bar in _bars(axes, point, unit)]
    lines += [edge for line in stairs for edge in _edges(axes, line, unit)]
    for point, place, dot in zip(points, places, taken[:], strict=True):
        label = axes.annotate(short(point.name, _LONGEST), (point.x[0], point.y[0]), (0, 0),
                              textcoords="offset points", ha="center", va="center")  # fmt: skip
        best, least = None, math.inf
        for distance, box in _candidates(place, label.get_window_extent().size, unit):
            if distance >= least:
                break
            is_inside = axes.bbox.contains(*box[:2]) and axes.bbox.contains(*box[2:])
            if is_inside and not any(_overlap(box, other) for other in taken):
                leader = _leader(box, place, unit)
                crossed = sum(_overlap(box, line) for line in lines)
                crossed += sum(any(_overlap(other, part) for part in leader) for other in taken if other != dot)
                if distance + _CROSSING * crossed < least:
                    best, least = box, distance + _CROSSING * crossed
        if best is None:
            label.remove()
            continue
        leader = _leader(best, place, unit)
        taken.append(best)
        lines += leader
        label.set_position((np.add(best[:2], best[2:]) / 2 - place) / unit)
        if leader:
            arrow = {"arrowstyle": "-", "color": COLOURS["soft"], "linewidth": 0.7, "shrinkA": 0, "shrinkB": 4}
            end = (np.clip(place, best[:2], best[2:]) - place) / unit
            axes.annotate("", label.xy, end, textcoords="offset points", arrowprops=arrow)


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _around(place: Any, size: float) -> Box:
    x, y = map(float, place)
    return x - size, y - size, x + size, y + size


def _bars(axes: Axes, point: Series, unit: float) -> Iterator[Box]:
    for ends in zip(point.low, point.high, strict=True):
        (x, bottom), (_, top) = axes.transData.transform([(point.x[0], end) for end in ends]).tolist()
        yield x - unit, bottom, x + unit, top


def _edges(axes: Axes, stairs: Series, unit: float) -> Iterator[Box]:
    corners = axes.transData.transform(list(zip(stairs.x, stairs.y, strict=True))).tolist()
    for (left, height), (right, next_height) in pairwise(corners):
        yield left, height - unit, right, height + unit
        yield right - unit, min(height, next_height), right + unit, max(height, next_height)


def _candidates(place: Any, size: Any, unit: float) -> Iterator[tuple[float, Box]]:
    x, y = map(float, place)
    width, height = map(float, size)
    for distance in _DISTANCES:
        for angle in _ANGLES:
            middle_x = x + math.cos(angle) * (distance * unit + width / 2)
            middle_y = y + math.sin(angle) * (distance * unit + height / 2)
            yield distance, (middle_x - width / 2, middle_y - height / 2, middle_x + width / 2, middle_y + height / 2)


def _leader(box: Box, place: Any, unit: float) -> list[Box]:
    """Return small boxes along the leader line from a label to its point; none where the label is near."""
    end = np.clip(place, box[:2], box[2:])
    length = math.dist(end, place)
    if length <= 1.2 * _NEAR * unit:
        return []
    steps = math.ceil(length / (2 * unit))
    return [_around(end + step / steps * (place - end), unit) for step in range(1, steps)]


_WIDTH = 11.0
_CODES = {"M": Outline.MOVETO, "L": Outline.LINETO, "C": Outline.CURVE4, "Z": Outline.CLOSEPOLY}


@style()
def draw_card(card: Card) -> Figure:
    """Draw a card, with the finding above and the games below the forest."""
    forest = 1.3 + ROW * len(card.rows.rows)
    figure = new_figure(forest + (3.6 if card.pictures else 0), _WIDTH)
    top: Figure | SubFigure = figure
    if card.pictures:
        parts = figure.subfigures(2, 1, height_ratios=(forest, 3.6), squeeze=False)
        top = parts[0, 0]
        below = parts[1, 0].subplots(1, len(card.pictures), squeeze=False)
        for axes, picture in zip(below.flat, card.pictures, strict=True):
            _draw_picture(axes, picture)
    draw_rows(top.add_subplot(), card.rows)
    figure.suptitle(short(card.title, 80), fontsize=15, fontweight="bold", x=0.01, ha="left")
    figure.supxlabel(card.note, fontsize=8, color=COLOURS["soft"], x=0.01, ha="left")
    return figure


def _draw_picture(axes: Axes, picture: Picture) -> None:
    board, marks = Board.from_moves(picture.moves, picture.size), drawing.Annotations(legal=False)
    width, height = drawing.extent(board, marks)
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title(picture.caption, fontsize=9, loc="left")
    for shape in drawing.draw(board, marks=marks):
        _paint(axes, shape)


def _paint(axes: Axes, shape: drawing.Shape) -> None:
    match shape:
        case drawing.Rect(x, y, width, height, fill, opacity):
            axes.add_patch(Rectangle((x, y), width, height, color=fill, alpha=opacity, linewidth=0))
        case drawing.Line(x1, y1, x2, y2, stroke):
            axes.plot((x1, x2), (y1, y2), color=stroke, linewidth=0.6)
        case drawing.Circle(x, y, radius, fill):
            axes.add_patch(RoundPatch((x, y), radius, color=fill))
        case drawing.Text(x, y, text, size, fill):
            axes.text(x, y, text, fontsize=size / 2.2, color=fill, ha="center", va="center")
        case drawing.Outline(x, y, path, fill, stroke, opacity):
            edge = stroke or "none"
            axes.add_patch(PathPatch(_path(path, x, y), facecolor=fill, edgecolor=edge, alpha=opacity, zorder=3))


def _path(text: str, x: float, y: float) -> Outline:
    """Return a path of absolute M, L, C and Z, moved by (x, y)."""
    points: list[tuple[float, float]] = []
    codes: list[int] = []
    for letter, numbers in re.findall(r"([MLCZ])([^MLCZ]*)", text):
        values = [float(number) for number in numbers.split()]
        corners = list(zip(values[::2], values[1::2], strict=True)) or [(0.0, 0.0)]
        points += [(x + px, y + py) for px, py in corners]
        codes += [int(_CODES[letter])] * len(corners)
    return Outline(points, codes)
