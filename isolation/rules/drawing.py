"""Draw a position as text, and as simple shapes, which become SVG here and other pictures in other modules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from math import hypot, isfinite, isnan
from typing import NamedTuple

from .board import Board
from .geometry import cells_of, column_name, full_mask, move_of

SIDE = 48
"""Side of a cell, in the picture's units; the knight is drawn on a grid of this size."""
KNIGHT = (
    "M13 41 L37 41 C37 30 36 22 32 16 C29 11 25 9 21 9 L18 5 L16 10 C12 13 9 19 7 25"
    " C6 28 9 31 12 29 L18 25 C20 24 23 24 25 22 C24 28 15 31 13 41 Z"
)
"""Path of a knight's head, with absolute M, L, C and Z commands."""

_MARGIN = 26  # left and above, for the labels
_EDGE = 6  # right and below
_CAPTION = 28
_LEGEND = 24
_LETTER = 0.6  # width of a letter, as a share of its size


@dataclass(frozen=True)
class Theme:
    """The colours of a board picture: any CSS colour in SVG, only #rrggbb in other formats.

    `visited` is for visited cells whose visitor is unknown, `trail_1` and `trail_2` for the others.
    """

    background: str = "#ffffff"
    open: str = "#fbfbfa"
    visited: str = "#857d70"
    trail_1: str = "#d2c9b4"
    trail_2: str = "#5b6e8b"
    grid: str = "#5d574c"
    last_move: str = "#f0c75e"
    legal: str = "#3f7d58"
    label: str = "#5d574c"
    player_1: str = "#ffffff"
    player_2: str = "#1b3050"
    number_1: str = "#37332a"
    number_2: str = "#fdfdfd"
    outline: str = "#1b1b1b"
    text: str = "#1b1b1b"
    arrow: str = "#a8325e"
    good: str = "#3b82c4"
    bad: str = "#e08a2e"


LIGHT = Theme()
DARK = Theme(
    background="#16191d",
    open="#3a4048",
    visited="#1d2125",
    trail_1="#9d998e",
    trail_2="#0e1f3d",
    grid="#565e68",
    last_move="#8a6d1f",
    legal="#7fc79b",
    label="#b4bcc6",
    player_2="#0d1116",
    number_1="#12110e",
    number_2="#b7cdec",
    outline="#c9d1d9",
    text="#f0f3f6",
    arrow="#e77aa3",
    good="#3f8fd6",
    bad="#d58531",
)


@dataclass(frozen=True)
class Annotations:
    """Optional marks in a picture, besides the pieces, the visited cells and the last move.

    Attributes:
        legal: mark every legal move with a dot.
        numbers: show on each visited cell the ply of the visit, in the visitor's colour.
        arrows: (from, to) cells.
        values: numbers on cells, coloured from bad to good for the side to move; ±inf is a win or a loss.
        players: names of the players, as a legend below the board.
        caption: a line below the board.
    """

    legal: bool = True
    numbers: bool = True
    arrows: tuple[tuple[int, int], ...] = ()
    values: Mapping[int, float] = field(default_factory=dict)
    players: tuple[str, ...] = ()
    caption: str = ""


class Rect(NamedTuple):
    """A filled rectangle."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    opacity: float = 1


class Line(NamedTuple):
    """A thin horizontal or vertical line."""

    x1: float
    y1: float
    x2: float
    y2: float
    stroke: str


class Circle(NamedTuple):
    """A filled circle."""

    x: float
    y: float
    radius: float
    fill: str


class Text(NamedTuple):
    """A text centred at a point."""

    x: float
    y: float
    text: str
    size: float
    fill: str


class Outline(NamedTuple):
    """A closed path with absolute M, L, C and Z commands, moved by (x, y); an empty `stroke` draws no outline."""

    x: float
    y: float
    path: str
    fill: str
    stroke: str = ""
    opacity: float = 1


Shape = Rect | Line | Circle | Text | Outline


def extent(board: Board, marks: Annotations) -> tuple[int, int]:
    """Return the width and height of the picture."""
    below = (_CAPTION if marks.caption else 0) + (_LEGEND if marks.players else 0)
    return _MARGIN + board.width * SIDE + _EDGE, _MARGIN + board.height * SIDE + _EDGE + below


def draw(board: Board, theme: Theme = LIGHT, marks: Annotations | None = None) -> list[Shape]:
    """Return the shapes of a picture, bottom layer first."""
    marks = marks or Annotations()
    width, height = extent(board, marks)
    board_layers = (_squares, _last_move, _heat, _grid, _labels, _legal_moves, _numbers, _pieces, _values, _arrows)
    layers = (*board_layers, _legend, _caption)
    return [Rect(0, 0, width, height, theme.background), *(s for layer in layers for s in layer(board, theme, marks))]


def format_value(value: float) -> str:
    """Format a value to fit in a cell.

    >>> [format_value(value) for value in (3.0, -0.25, 12345.6, float("inf"), -1e300)]
    ['3', '−0.25', '12346', 'win', '−1e+300']
    """
    if not isfinite(value):
        return "?" if isnan(value) else "win" if value > 0 else "loss"
    text = f"{value:.0f}" if 1000 <= abs(value) < 100_000 else f"{value:.3g}"
    return text.replace("-", "−", 1)


def strength(value: float, values: Mapping[int, float]) -> float:
    """Return the colour strength of a value, −1 to 1: its ratio to the largest finite one; ±1 for a win or a loss."""
    if isnan(value):
        return 0.0
    if not isfinite(value):
        return 1.0 if value > 0 else -1.0
    largest = max(abs(other) for other in values.values() if isfinite(other))
    return value / largest if largest else 0.0


def _corner(board: Board, cell: int) -> tuple[int, int]:
    row, column = move_of(cell, board.width)
    return _MARGIN + column * SIDE, _MARGIN + row * SIDE


def _centre(board: Board, cell: int) -> tuple[int, int]:
    x, y = _corner(board, cell)
    return x + SIDE // 2, y + SIDE // 2


def _filled(board: Board, cell: int, colour: str, opacity: float = 1) -> Rect:
    return Rect(*_corner(board, cell), SIDE, SIDE, colour, opacity)


def _squares(board: Board, theme: Theme, marks: Annotations) -> Iterator[Shape]:
    yield Rect(_MARGIN, _MARGIN, board.width * SIDE, board.height * SIDE, theme.open)
    trails = {cell: (theme.trail_1, theme.trail_2)[ply % 2] for ply, cell in enumerate(board.history)}
    for cell in cells_of(full_mask(board.height, board.width) & ~board.blank):
        if cell not in board.locations:
            yield _filled(board, cell, trails.get(cell, theme.visited))


def _last_move(board: Board, theme: Theme, marks: Annotations) -> Iterator[Shape]:
    arrival = board.locations[1 - board.active_index]
    if len(board.history) > 2:
        yield _filled(board, board.history[-3], theme.last_move, opacity=0.45)
    if arrival is not None:
        yield _filled(board, arrival, theme.last_move)


def _heat(board: Board, theme: Theme, marks: Annotations) -> Iterator[Shape]:
    for cell, value in marks.values.items():
        share = strength(value, marks.values)
        yield _filled(board, cell, theme.good if share > 0 else theme.bad, opacity=round(0.08 + 0.62 * abs(share), 3))


def _grid(board: Board, theme: Theme, marks: Annotations) -> Iterator[Shape]:
    right, bottom = _MARGIN + board.width * SIDE, _MARGIN + board.height * SIDE
    for row in range(board.height + 1):
        yield Line(_MARGIN, _MARGIN + row * SIDE, right, _MARGIN + row * SIDE, theme.grid)
    for column in range(board.width + 1):
        yield Line(_MARGIN + column * SIDE, _MARGIN, _MARGIN + column * SIDE, bottom, theme.grid)


def _labels(board: Board, theme: Theme, marks: Annotations) -> Iterator[Shape]:
    for column in range(board.width):
        yield Text(_MARGIN + column * SIDE + SIDE // 2, _MARGIN // 2, column_name(column), 14, theme.label)
    for row in range(board.height):
        yield Text(_MARGIN // 2, _MARGIN + row * SIDE + SIDE // 2, str(row), 14, theme.label)


def _legal_moves(board: Board, theme: Theme, marks: Annotations) -> Iterator[Shape]:
    for cell in board.legal_cells() if marks.legal else ():
        if cell not in marks.values:
            yield Circle(*_centre(board, cell), 6, theme.legal)


def _numbers(board: Board, theme: Theme, marks: Annotations) -> Iterator[Shape]:
    for ply, cell in enumerate(board.history if marks.numbers else (), start=1):
        if cell not in board.locations:
            colour = theme.number_1 if ply % 2 else theme.number_2
            yield Text(*_centre(board, cell), str(ply), 18, colour)


def _pieces(board: Board, theme: Theme, marks: Annotations) -> Iterator[Shape]:
    for cell, colour in zip(board.locations, (theme.player_1, theme.player_2), strict=True):
        if cell is not None:
            x, y = _corner(board, cell)
            yield Outline(x + 2, y, KNIGHT, colour, theme.outline)


def _values(board: Board, theme: Theme, marks: Annotations) -> Iterator[Shape]:
    for cell, value in marks.values.items():
        text = format_value(value)
        yield Text(*_centre(board, cell), text, 15 if len(text) < 6 else 11, theme.text)


def _arrows(board: Board, theme: Theme, marks: Annotations) -> Iterator[Shape]:
    for start, end in marks.arrows:
        if start != end:
            yield Outline(0, 0, _arrow(_centre(board, start), _centre(board, end)), theme.arrow, opacity=0.85)


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    """Return the outline of an arrow, which starts a little off the cell's centre to keep its contents legible."""
    (x1, y1), (x2, y2) = start, end
    length = hypot(x2 - x1, y2 - y1)
    along, across = ((x2 - x1) / length, (y2 - y1) / length), ((y1 - y2) / length, (x2 - x1) / length)
    corners = [(14, -3), (length - 28, -3), (length - 28, -10), (length - 12, 0), (length - 28, 10), (length - 28, 3)]
    points = [
        f"{x1 + far * along[0] + side * across[0]:.1f} {y1 + far * along[1] + side * across[1]:.1f}"
        for far, side in [*corners, (14, 3)]
    ]
    return f"M{points[0]} " + " ".join(f"L{point}" for point in points[1:]) + " Z"


def _legend(board: Board, theme: Theme, marks: Annotations) -> Iterator[Shape]:
    width, _ = extent(board, marks)
    top, share = _MARGIN + board.height * SIDE + _EDGE, width / max(1, len(marks.players))
    for number, (name, trail) in enumerate(zip(marks.players, (theme.trail_1, theme.trail_2), strict=False)):
        left, size = number * share + _EDGE, min(13.0, (share - 30) / (_LETTER * max(1, len(name))))
        yield Rect(left, top + 5, 14, 14, trail)
        yield Text(left + 22 + _LETTER * size * len(name) / 2, top + 12, name, round(size, 1), theme.text)


def _caption(board: Board, theme: Theme, marks: Annotations) -> Iterator[Shape]:
    if marks.caption:
        width, height = extent(board, marks)
        # Captions longer than the board are set in a smaller size.
        size = min(14.0, round(width / (_LETTER * len(marks.caption)), 1))
        yield Text(width / 2, height - _CAPTION / 2 - 2, marks.caption, size, theme.label)


_UNICODE = (" ░·♘♞", "┌───┬┐", "├───┼┤", "└───┴┘", "│")
_ASCII = (" #.12", "+---++", "+---++", "+---++", "|")
"""Signs of open cells, visited ones, legal moves and both players; lines above, between and below rows; the wall."""


def to_text(board: Board, ascii_only: bool = False) -> str:
    """Return the position as text, with column letters, row numbers, and the game's status in the last line.

    Players 1 and 2 are ♘ and ♞, visited cells ░, legal moves of the side to move ·; in plain ASCII 1, 2, # and ".".

    >>> from knights_isolation.isolation import Board
    >>> print(to_text(Board.from_moves([0, 5], size="2x3"), ascii_only=True))
         a   b   c
       +---+---+---+
     0 | 1 |   |   |
       +---+---+---+
     1 |   |   | 2 |
       +---+---+---+
    Player 2 has won: player 1 has no move.
    """
    signs, top, middle, bottom, wall = _ASCII if ascii_only else _UNICODE
    contents, columns = _contents(board, signs), board.width
    margin = len(str(board.height - 1)) + 1

    def rule(line: str) -> str:
        return " " * (margin + 1) + line[0] + line[4].join([line[1:4]] * columns) + line[5]

    lines = [" " * (margin + 2) + "".join(f"{column_name(column):^4}" for column in range(columns)).rstrip()]
    for row in range(board.height):
        cells = contents[row * columns : (row + 1) * columns]
        lines += [rule(middle if row else top), f"{row:>{margin}} {wall} {f' {wall} '.join(cells)} {wall}"]
    return "\n".join([*lines, rule(bottom), standing(board)])


def standing(board: Board) -> str:
    """Return a sentence that says who is to move or who has won."""
    mover = board.active_index + 1
    if board.outcome():
        return f"Player {3 - mover} has won: player {mover} has no move."
    return f"Player {mover} to move."


def _contents(board: Board, signs: str) -> list[str]:
    """Return each cell's sign, of those for open cells, visited ones, legal moves and both players."""
    is_open, visited, legal, *players = list(signs)
    contents = [is_open if board.blank >> cell & 1 else visited for cell in range(board.width * board.height)]
    for cell in board.legal_cells():
        contents[cell] = legal
    for location, sign in zip(board.locations, players, strict=True):
        if location is not None:
            contents[location] = sign
    return contents


def to_svg(board: Board, theme: Theme | None = None, marks: Annotations | None = None) -> str:
    """Return the position as an SVG document; `marks` selects optional marks."""
    marks = marks or Annotations()
    width, height = extent(board, marks)
    title = f"{board.height}x{board.width} board. {standing(board)}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
            ' role="img" font-family="system-ui, sans-serif">',
            f"<title>{escape(title, quote=False)}</title>",
            *(_element(shape) for shape in draw(board, theme or Theme(), marks)),
            "</svg>",
        ]
    )


def _element(shape: Shape) -> str:
    match shape:
        case Rect(x, y, width, height, fill, opacity):
            return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{escape(fill)}"{_opacity(opacity)}/>'
        case Line(x1, y1, x2, y2, stroke):
            return f'<path d="M{x1} {y1}L{x2} {y2}" stroke="{escape(stroke)}" shape-rendering="crispEdges"/>'
        case Circle(x, y, radius, fill):
            return f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{escape(fill)}"/>'
        case Text(x, y, text, size, fill):
            return (
                f'<text x="{x}" y="{y}" font-size="{size}" fill="{escape(fill)}" text-anchor="middle"'
                f' dominant-baseline="central">{escape(text, quote=False)}</text>'
            )
        case Outline(x, y, path, fill, stroke, opacity):
            line = f' stroke="{escape(stroke)}" stroke-width="1.5" stroke-linejoin="round"' if stroke else ""
            at = f' transform="translate({x} {y})"' if x or y else ""
            return f'<path{at} d="{path}" fill="{escape(fill)}"{line}{_opacity(opacity)}/>'


def _opacity(opacity: float) -> str:
    return "" if opacity == 1 else f' fill-opacity="{opacity}"'
