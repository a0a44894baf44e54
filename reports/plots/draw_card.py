"""Draw the card of a run: forest on the left, games on the right."""

from __future__ import annotations

import re

from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import Circle as RoundPatch
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path

from knights_isolation.isolation.boards.drawing import (
    Annotations,
    Circle,
    Line,
    Outline,
    Rect,
    Shape,
    Text,
    draw,
    extent,
)
from knights_isolation.isolation.editions.classic_board import Board

from ..charts.chart import Card, Picture
from .draw_chart import draw_rows
from .style import COLOURS, ROW, new_figure, short, style

_WIDTH = 11.0
_CODES = {"M": Path.MOVETO, "L": Path.LINETO, "C": Path.CURVE4, "Z": Path.CLOSEPOLY}


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
    board, marks = Board.from_moves(picture.moves, picture.size), Annotations(legal=False)
    width, height = extent(board, marks)
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title(picture.caption, fontsize=9, loc="left")
    for shape in draw(board, marks=marks):
        _paint(axes, shape)


def _paint(axes: Axes, shape: Shape) -> None:
    match shape:
        case Rect(x, y, width, height, fill, opacity):
            axes.add_patch(Rectangle((x, y), width, height, color=fill, alpha=opacity, linewidth=0))
        case Line(x1, y1, x2, y2, stroke):
            axes.plot((x1, x2), (y1, y2), color=stroke, linewidth=0.6)
        case Circle(x, y, radius, fill):
            axes.add_patch(RoundPatch((x, y), radius, color=fill))
        case Text(x, y, text, size, fill):
            axes.text(x, y, text, fontsize=size / 2.2, color=fill, ha="center", va="center")
        case Outline(x, y, path, fill, stroke, opacity):
            edge = stroke or "none"
            axes.add_patch(PathPatch(_path(path, x, y), facecolor=fill, edgecolor=edge, alpha=opacity, zorder=3))


def _path(text: str, x: float, y: float) -> Path:
    """Return a path of absolute M, L, C and Z, moved by (x, y)."""
    points: list[tuple[float, float]] = []
    codes: list[int] = []
    for letter, numbers in re.findall(r"([MLCZ])([^MLCZ]*)", text):
        values = [float(number) for number in numbers.split()]
        corners = list(zip(values[::2], values[1::2], strict=True)) or [(0.0, 0.0)]
        points += [(x + px, y + py) for px, py in corners]
        codes += [int(_CODES[letter])] * len(corners)
    return Path(points, codes)
