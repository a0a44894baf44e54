"""Cells, knight moves, symmetries and positions, in plain ints and as text.

A *cell* is a row-major int ``row * columns + column``. A *move* is the classic ``(row, column)`` tuple. A *mask* is an
int that represents a set of cells: bit ``cell`` is set for each of them.

As text, cells are named as in d3: columns by letters from the left, rows from the top. Rows count from 0, as in the
classic (row, column) tuples: on 7x7 `d3` is (3, 3), and `c4` is (4, 2). Columns after z are aa, ab, …, as in a
spreadsheet. Programs that play Joust call cells squares, and count ranks from 1 at the bottom, as in chess: on 7x7 the
cell `d3` is their square `d4`. Only `square_name` and `parse_square` convert between the two.

A FEN, such as `7/7/7/3N3/7/n6/7 w - - 0 1`, lists rows from the top, separated by slashes. A number counts open cells,
`*` is a visited cell, `N` is player 1's knight and `n` player 2's. The next field is the side to move, `w` or `b`. A
knight not yet placed is in hand, as in `7/7/7/3N3/7/7/7[n] b - - 0 1`. The other fields of a chess FEN are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product

from .game import USUAL_SIZE, check_size

Move = tuple[int, int]


KNIGHT_STEPS: tuple[Move, ...] = ((-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1))
"""(row, column) steps of a knight, in the classic order, which visits targets in ascending row-major order."""


def cell_of(move: Move, columns: int) -> int:
    """Return the row-major cell of a (row, column) move."""
    return move[0] * columns + move[1]


def move_of(cell: int, columns: int) -> Move:
    """Return the (row, column) move of a row-major cell."""
    return divmod(cell, columns)


def full_mask(rows: int, columns: int) -> int:
    """Return the mask of all cells of the board."""
    return (1 << rows * columns) - 1


def cells_of(mask: int) -> Iterator[int]:
    """Yield the cells of a mask in ascending order."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def knight_mask(cell: int, rows: int, columns: int) -> int:
    """Return the mask of the cells a knight's move away from `cell`."""
    row, column = move_of(cell, columns)
    return sum(
        1 << (row + down) * columns + column + right
        for down, right in KNIGHT_STEPS
        if 0 <= row + down < rows and 0 <= column + right < columns
    )


@lru_cache(maxsize=64)
def knight_masks(rows: int, columns: int) -> tuple[int, ...]:
    """Return, for each cell, the mask of the cells a knight's move away."""
    return tuple(knight_mask(cell, rows, columns) for cell in range(rows * columns))


@lru_cache(maxsize=64)
def column_masks(rows: int, columns: int) -> tuple[int, ...]:
    """Return, for each column, the mask of its cells."""
    first = sum(1 << row * columns for row in range(rows))
    return tuple(first << column for column in range(columns))


@lru_cache(maxsize=64)
def symmetries(rows: int, columns: int) -> tuple[tuple[int, ...], ...]:
    """Return the symmetries of the board, identity first: 8 of a square, 4 of a rectangle.

    Each is a permutation: `symmetry[cell]` is the image of `cell`. On boards with a side of 1 some are equal.
    """
    moves = list(product(range(rows), range(columns)))
    axes = [moves, [(column, row) for row, column in moves]] if rows == columns else [moves]
    # A coordinate is kept by |0 - x|, and mirrored by |last - x|.
    return tuple(
        tuple(cell_of((abs(down - row), abs(across - column)), columns) for row, column in image)
        for image, down, across in product(axes, (0, rows - 1), (0, columns - 1))
    )


def canonical_opening(cells: Sequence[int], rows: int, columns: int) -> tuple[int, ...]:
    """Return the lexicographically smallest image of a sequence of cells under the board's symmetries.

    Two openings are the same up to symmetry exactly when their canonical forms are equal.

    >>> canonical_opening([48, 6], 7, 7)
    (0, 6)
    """
    return min(tuple(symmetry[cell] for cell in cells) for symmetry in symmetries(rows, columns))


_NAME = re.compile(r"([a-z]+)\s*(\d+)", re.ASCII | re.IGNORECASE)
_TUPLE = re.compile(r"\(?\s*(\d+)\s*,\s*(\d+)\s*\)?", re.ASCII)


def column_name(column: int) -> str:
    """Return the letters of a column.

    >>> [column_name(column) for column in (0, 6, 25, 26, 701, 702)]
    ['a', 'g', 'z', 'aa', 'zz', 'aaa']
    """
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(ord("a") + letter) + letters
    return letters


def cell_name(cell: int, columns: int) -> str:
    """Return the name of a cell on a board with `columns` columns.

    >>> cell_name(24, 7)
    'd3'
    """
    row, column = move_of(cell, columns)
    return f"{column_name(column)}{row}"


def parse_cell(text: str, rows: int, columns: int) -> int:
    """Parse a cell name like `d3` or a (row, column) pair like `3,3`. Raises ValueError if it is no cell of the board.

    >>> parse_cell("c4", 7, 7), parse_cell("4,2", 7, 7), parse_cell("(4, 2)", 7, 7)
    (30, 30, 30)
    """
    text = text.strip()
    if name := _NAME.fullmatch(text):
        row, column = int(name[2]), _column_of(name[1])
    elif pair := _TUPLE.fullmatch(text):
        row, column = int(pair[1]), int(pair[2])
    else:
        raise ValueError(f"{text!r} is not a cell: expected a column and a row like d3, or row,column like 3,3")
    if not (row < rows and column < columns):
        last = cell_name(rows * columns - 1, columns)
        raise ValueError(f"{text} is not on the {rows}x{columns} board (cells a0 to {last})")
    return cell_of((row, column), columns)


def square_name(cell: int, rows: int, columns: int) -> str:
    """Return a cell's name in programs that play Joust: its column, and its rank from 1 at the bottom.

    >>> square_name(24, 7, 7), square_name(14, 7, 7)
    ('d4', 'a5')
    """
    row, column = move_of(cell, columns)
    return f"{column_name(column)}{rows - row}"


def parse_square(text: str, rows: int, columns: int) -> int:
    """Parse the name of a square in programs that play Joust. Raises ValueError if it is no square of the board.

    >>> parse_square("a5", 7, 7)
    14
    """
    if not (name := _NAME.fullmatch(text)):
        raise ValueError(f"{text!r} is not a square: expected a column and a rank like d4")
    row, column = rows - int(name[2]), _column_of(name[1])
    if not (0 <= row < rows and column < columns):
        last = square_name(columns - 1, rows, columns)
        raise ValueError(f"square {text} is not on the {rows}x{columns} board (squares a1 to {last})")
    return cell_of((row, column), columns)


def parse_moves(text: str, size: tuple[int, int] = USUAL_SIZE) -> list[int]:
    """Parse a list of moves: cell names like `d3,a2` or cell numbers like `24,14`, separated by commas or spaces.

    >>> parse_moves("d3 a2"), parse_moves("24,14")
    ([24, 14], [24, 14])

    Raises:
        ValueError: a word is not a cell; the message names it. The moves' legality is not checked.
    """
    return [_parse_word(word, *size) for word in words(text)]


def format_moves(cells: Sequence[int], columns: int) -> str:
    """Format moves as in d3,a2, which `parse_moves` can read."""
    return ",".join(cell_name(cell, columns) for cell in cells)


def words(text: str) -> list[str]:
    """Split a text at commas and spaces."""
    return [word for word in re.split(r"[\s,]+", text) if word]


def _parse_word(word: str, rows: int, columns: int) -> int:
    if not (word.isascii() and word.isdecimal()):
        if not _NAME.fullmatch(word):
            raise ValueError(f"{word!r} is not a cell: expected moves like d3,a2, or cell numbers like 24,14")
        return parse_cell(word, rows, columns)
    if int(word) >= rows * columns:
        raise ValueError(f"cell {word} is not on the {rows}x{columns} board (cells 0 to {rows * columns - 1})")
    return int(word)


def _column_of(letters: str) -> int:
    column = 0
    for letter in letters.lower():
        column = 26 * column + ord(letter) - ord("a") + 1
    return column - 1


_LONGEST = 10_000
_FIELDS = re.compile(r"([^\s\[\]]+)(?:\[([Nn]*)\])?\s+([wb])(\s+.*)?", re.DOTALL)
_SIGN = re.compile(r"\d+|.", re.DOTALL)
EXAMPLE = "7/7/7/3N3/7/n6/7 w - - 0 1"


Locations = tuple[int | None, int | None]
"""The cells of player 1 and player 2, None before placement."""
Position = tuple[int, int, int, Locations, int]
"""Rows, columns, mask of open cells, locations, and the index (0 or 1) of the player to move."""


def parse_fen(text: str) -> Position:
    """Parse a FEN; the fields after the side to move and the hand are optional.

    >>> parse_fen("3/N2/*2/2n b")
    (4, 3, 1975, (3, 11), 1)

    Raises:
        ValueError: not a FEN, or not a position of this game; the message shows what is expected.
    """
    match = _FIELDS.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if not match:
        raise ValueError(f"not a FEN: {text[:80]!r}; expected one like {EXAMPLE}")
    ranks = [_cells_of(rank) for rank in match[1].split("/")]
    if any(len(rank) != len(ranks[0]) for rank in ranks):
        raise ValueError(f"not a FEN: {text[:80]!r}: rows of different lengths")
    size = check_size(len(ranks), len(ranks[0]))
    cells = "".join(ranks)
    if cells.count("N") > 1 or cells.count("n") > 1:
        raise ValueError(f"not a FEN: {text[:80]!r}: each player must have one knight, N or n")
    locations = tuple(cells.index(knight) if knight in cells else None for knight in "Nn")
    missing = "".join(knight for knight in "Nn" if knight not in cells)
    if match[2] and "".join(sorted(match[2])) != missing:
        there = missing or "none"
        raise ValueError(f"not a FEN: {text[:80]!r}: knights in hand must be those not on the board, here {there}")
    active = "wb".index(match[3])
    if None in locations and (locations[1] is not None or active != (locations[0] is not None)):
        raise ValueError(f"not a FEN: {text[:80]!r}: player 1 (N) places first, then player 2 (n)")
    blank = full_mask(*size) & ~sum(1 << cell for cell, sign in enumerate(cells) if sign != ".")
    return *size, blank, locations, active  # type: ignore[return-value]


def write_fen(position: Position) -> str:
    """Return the FEN of a position; its counters give the number of moves after both placements.

    >>> write_fen(parse_fen("3/N2/*2/2n b"))
    '3/N2/*2/2n b - - 1 1'
    """
    rows, columns, blank, locations, active = position
    count, hand = rows * columns, ""
    signs = ["." if blank >> cell & 1 else "*" for cell in range(count)]
    for knight, cell in zip("Nn", locations, strict=True):
        if cell is None:
            hand += knight
        else:
            signs[cell] = knight
    ranks = ("".join(signs[first : first + columns]) for first in range(0, count, columns))
    board = "/".join(re.sub(r"\.+", lambda run: str(len(run[0])), rank) for rank in ranks)
    visited = count - blank.bit_count()
    return f"{board}{f'[{hand}]' if hand else ''} {'wb'[active]} - - {max(0, visited - 2)} {max(1, visited // 2)}"


def _cells_of(rank: str) -> str:
    """Expand a row of a FEN to one character per cell, `.` for open cells."""
    cells = ""
    for sign in _SIGN.findall(rank):
        if sign.isascii() and sign.isdecimal():
            if len(sign) > 4 or len(cells) > _LONGEST:
                raise ValueError(f"not a FEN: {sign[:20]} cells in a row are more than any board has")
            cells += "." * int(sign)
        elif sign in "Nn*":
            cells += sign
        else:
            raise ValueError(f"not a FEN: {sign!r} in it is neither a number of open cells nor N, n or *")
    if not cells:
        raise ValueError(f"not a FEN: a row has no cells; expected one like {EXAMPLE}")
    return cells
