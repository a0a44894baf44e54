"""Cell names such as d3: columns by letters from the left, rows by numbers from the top.

Rows count from 0, as in the classic (row, column) tuples: on 7x7 `d3` is (3, 3), and `c4` is (4, 2). Columns after z
are aa, ab, …, as in a spreadsheet.

Programs that play Joust call cells squares, and count ranks from 1 at the bottom, as in chess: on 7x7 the cell `d3` is
their square `d4`. Only `square_name` and `parse_square` convert between the two.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .geometry import cell_of, move_of, parse_size

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
    """Parse a cell name like `d3` or a (row, column) pair like `3,3`.

    >>> parse_cell("c4", 7, 7), parse_cell("4,2", 7, 7), parse_cell("(4, 2)", 7, 7)
    (30, 30, 30)

    Raises:
        ValueError: the text is neither of these, or the cell is not on the board.
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
    """Parse the name of a square in programs that play Joust.

    >>> parse_square("a5", 7, 7)
    14

    Raises:
        ValueError: the text is not a square, or the square is not on the board.
    """
    name = _NAME.fullmatch(text)
    if not name:
        raise ValueError(f"{text!r} is not a square: expected a column and a rank like d4")
    row, column = rows - int(name[2]), _column_of(name[1])
    if not (0 <= row < rows and column < columns):
        last = square_name(columns - 1, rows, columns)
        raise ValueError(f"square {text} is not on the {rows}x{columns} board (squares a1 to {last})")
    return cell_of((row, column), columns)


def parse_moves(text: str, size: str = "7x7") -> list[int]:
    """Parse a list of moves: cell names like `d3,a2` or cell numbers like `24,14`, separated by commas or spaces.

    >>> parse_moves("d3 a2"), parse_moves("24,14")
    ([24, 14], [24, 14])

    Raises:
        ValueError: a word is not a cell; the message names it. The moves' legality is not checked.
    """
    rows, columns = parse_size(size)
    return [_parse_word(word, rows, columns) for word in words(text)]


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
