"""Render a position as text and as SVG."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ..rules.geometry import cells_of
from ..rules.notation import column_name
from .drawing import Annotations, Circle, Line, Outline, Rect, Shape, Text, Theme, draw, extent

if TYPE_CHECKING:
    from .board import Board

OPEN, VISITED, LEGAL = "open", "visited", "legal"

_SYMBOLS = {OPEN: " ", VISITED: "░", LEGAL: "·", 1: "♘", 2: "♞"}
_ASCII_SYMBOLS = {OPEN: " ", VISITED: "#", LEGAL: ".", 1: "1", 2: "2"}
_UNICODE_LINES = ("┌───┬┐", "├───┼┤", "└───┴┘", "│")
_ASCII_LINES = ("+---++", "+---++", "+---++", "|")


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
    symbols = _ASCII_SYMBOLS if ascii_only else _SYMBOLS
    top, middle, bottom, wall = _ASCII_LINES if ascii_only else _UNICODE_LINES
    contents = cell_contents(board)
    margin = len(str(board.height - 1)) + 1

    def row_line(row: int) -> str:
        cells = contents[row * board.width : (row + 1) * board.width]
        return f"{row:>{margin}} {wall}" + "".join(f" {symbols[content]} {wall}" for content in cells)

    def rule(line: str) -> str:
        return " " * (margin + 1) + line[0] + line[4].join([line[1:4]] * board.width) + line[5]

    header = " " * (margin + 2) + "".join(f"{column_name(column):^4}" for column in range(board.width)).rstrip()
    rows = [row_line(0)]
    for row in range(1, board.height):
        rows += [rule(middle), row_line(row)]
    return "\n".join([header, rule(top), *rows, rule(bottom), standing(board)])


def standing(board: Board) -> str:
    """Return a sentence that says who is to move or who has won."""
    mover = board.active_index + 1
    if board.outcome():
        return f"Player {3 - mover} has won: player {mover} has no move."
    return f"Player {mover} to move."


def cell_contents(board: Board) -> list[int | str]:
    """Return what each cell contains, cell 0 first: 1 or 2 for a player's piece, else `VISITED`, `LEGAL` or `OPEN`."""
    contents: list[int | str] = [VISITED] * (board.width * board.height)
    for cell in cells_of(board.blank):
        contents[cell] = OPEN
    for cell in board.legal_cells():
        contents[cell] = LEGAL
    for player, location in enumerate(board.locations, start=1):
        if location is not None:
            contents[location] = player
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
