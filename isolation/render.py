"""A position as text and as SVG."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from isolation.geometry import Move, cells_of, full_mask, move_of

if TYPE_CHECKING:
    from isolation.board import Board

OPEN, VISITED, LEGAL = "open", "visited", "legal"

_SYMBOLS = {OPEN: " ", VISITED: "░", LEGAL: "·", 1: "♘", 2: "♞"}
_ASCII_SYMBOLS = {OPEN: " ", VISITED: "#", LEGAL: ".", 1: "1", 2: "2"}
_UNICODE_LINES = ("┌───┬┐", "├───┼┤", "└───┴┘", "│")
_ASCII_LINES = ("+---++", "+---++", "+---++", "|")


_SIDE = 48  # of a cell, in SVG units; the knight is drawn on a grid of this size
_MARGIN = 26  # left and above, for the labels
_EDGE = 6  # right and below
_KNIGHT = (
    "M13 41 H37 C37 30 36 22 32 16 C29 11 25 9 21 9 L18 5 L16 10 C12 13 9 19 7 25"
    " C6 28 9 31 12 29 L18 25 C20 24 23 24 25 22 C24 28 15 31 13 41 Z"
)


@dataclass(frozen=True)
class Theme:
    """The colours of a board picture."""

    open: str = "#f3ede0"
    visited: str = "#8d8577"
    grid: str = "#5d574c"
    last_move: str = "#f0c75e"
    legal: str = "#3f7d58"
    label: str = "#5d574c"
    player_1: str = "#ffffff"
    player_2: str = "#22313f"
    outline: str = "#1b1b1b"


def to_text(board: Board, ascii_only: bool = False) -> str:
    """The position as lines of text with row and column numbers, and a last line that says how the game stands.

    Players 1 and 2 are ♘ and ♞, visited cells ░, the legal moves of the side to move ·; in plain ASCII 1, 2, # and ".".

    >>> from isolation import Board
    >>> print(to_text(Board.from_moves([0, 5], size="2x3"), ascii_only=True))
         0   1   2
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

    header = " " * (margin + 2) + "".join(f"{column:^4}" for column in range(board.width)).rstrip()
    rows = [row_line(0)]
    for row in range(1, board.height):
        rows += [rule(middle), row_line(row)]
    return "\n".join([header, rule(top), *rows, rule(bottom), standing(board)])


def standing(board: Board) -> str:
    """Who is to move, or who has won, in a sentence."""
    mover = board.active_index + 1
    if board.outcome():
        return f"Player {3 - mover} has won: player {mover} has no move."
    return f"Player {mover} to move."


def cell_contents(board: Board) -> list[int | str]:
    """What each cell shows, cell 0 first: 1 or 2 for the players' pieces, else `VISITED`, `LEGAL` or `OPEN`."""
    contents: list[int | str] = [VISITED] * (board.width * board.height)
    for cell in cells_of(board.blank):
        contents[cell] = OPEN
    for cell in board.legal_cells():
        contents[cell] = LEGAL
    for player, location in enumerate(board.locations, start=1):
        if location is not None:
            contents[location] = player
    return contents


def to_svg(board: Board, theme: Theme | None = None) -> str:
    """The position as an SVG document: visited cells, both knights, legal moves, the last move, row and column numbers.

    The picture is a list of layers, each a function from the board to SVG elements, drawn one over the other.
    """
    colours = theme or Theme()
    width, height = _MARGIN + board.width * _SIDE + _EDGE, _MARGIN + board.height * _SIDE + _EDGE
    layers = (_squares, _last_move, _grid, _labels, _legal_moves, _pieces)
    elements = [element for layer in layers for element in layer(board, colours)]
    title = f"{board.height}x{board.width} board. {standing(board)}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
            ' role="img" font-family="system-ui, sans-serif">',
            f"<title>{escape(title)}</title>",
            *elements,
            "</svg>",
        ]
    )


def _corner(board: Board, cell: int) -> Move:
    """The x and y of the upper left corner of a cell."""
    row, column = move_of(cell, board.width)
    return _MARGIN + column * _SIDE, _MARGIN + row * _SIDE


def _fill(board: Board, cell: int, colour: str, opacity: float = 1) -> str:
    x, y = _corner(board, cell)
    return f'<rect x="{x}" y="{y}" width="{_SIDE}" height="{_SIDE}" fill="{colour}" fill-opacity="{opacity}"/>'


def _squares(board: Board, theme: Theme) -> Iterable[str]:
    yield (
        f'<rect x="{_MARGIN}" y="{_MARGIN}" width="{board.width * _SIDE}" height="{board.height * _SIDE}"'
        f' fill="{theme.open}"/>'
    )
    for cell in cells_of(full_mask(board.height, board.width) & ~board.blank):
        if cell not in board.locations:
            yield _fill(board, cell, theme.visited)


def _last_move(board: Board, theme: Theme) -> Iterable[str]:
    arrival = board.locations[1 - board.active_index]
    if len(board.history) > 2:
        yield _fill(board, board.history[-3], theme.last_move, opacity=0.45)
    if arrival is not None:
        yield _fill(board, arrival, theme.last_move)


def _grid(board: Board, theme: Theme) -> Iterable[str]:
    right, bottom = _MARGIN + board.width * _SIDE, _MARGIN + board.height * _SIDE
    across = (f"M{_MARGIN} {_MARGIN + row * _SIDE}H{right}" for row in range(board.height + 1))
    down = (f"M{_MARGIN + column * _SIDE} {_MARGIN}V{bottom}" for column in range(board.width + 1))
    yield f'<path d="{"".join([*across, *down])}" fill="none" stroke="{theme.grid}" shape-rendering="crispEdges"/>'


def _labels(board: Board, theme: Theme) -> Iterable[str]:
    style = f'font-size="13" fill="{theme.label}" text-anchor="middle" dominant-baseline="central"'
    for column in range(board.width):
        yield f'<text x="{_MARGIN + column * _SIDE + _SIDE // 2}" y="{_MARGIN // 2}" {style}>{column}</text>'
    for row in range(board.height):
        yield f'<text x="{_MARGIN // 2}" y="{_MARGIN + row * _SIDE + _SIDE // 2}" {style}>{row}</text>'


def _legal_moves(board: Board, theme: Theme) -> Iterable[str]:
    for cell in board.legal_cells():
        x, y = _corner(board, cell)
        yield f'<circle cx="{x + _SIDE // 2}" cy="{y + _SIDE // 2}" r="6" fill="{theme.legal}"/>'


def _pieces(board: Board, theme: Theme) -> Iterable[str]:
    for cell, colour in zip(board.locations, (theme.player_1, theme.player_2), strict=True):
        if cell is not None:
            x, y = _corner(board, cell)
            yield (
                f'<path transform="translate({x + 2} {y})" d="{_KNIGHT}" fill="{colour}" stroke="{theme.outline}"'
                ' stroke-width="1.5" stroke-linejoin="round"/>'
            )
