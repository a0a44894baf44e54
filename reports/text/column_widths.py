"""Fit tables to the terminal: shorten names, wrap text, hide the last columns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

GAP = 2
"""Blanks between two columns."""
_SHORTEST_NAME = 20
_NARROWEST_PROSE = 20
_FEWEST_ALIKE = 3
"""In a table of fewer rows a column is shown though all its cells are the same."""


@dataclass(frozen=True)
class Column:
    """A column as people read it; numbers stand at its right and are never shortened."""

    title: str
    cells: tuple[str, ...]
    is_number: bool

    @property
    def width(self) -> int:
        """Of its widest line."""
        lines = [line for text in (self.title, *self.cells) for line in text.split("\n")]
        return max(map(len, lines))

    @property
    def is_prose(self) -> bool:
        """Whether it can be folded: text of several words."""
        return not self.is_number and any(" " in cell for cell in self.cells)

    @property
    def narrowest(self) -> int:
        """How narrow it can become."""
        if self.is_number:
            return self.width
        return min(self.width, max(len(self.title), _NARROWEST_PROSE if self.is_prose else _SHORTEST_NAME))


def without_constants(columns: Sequence[Column]) -> tuple[list[Column], str]:
    """The columns that say something of their rows, and what the others say of all, as a sentence or nothing.

    >>> games = Column("games", ("1,400", "1,400", "1,400"), True)
    >>> without_constants([Column("agent", ("A", "B", "C"), False), games])[1]
    'Constant columns: games: 1,400.'
    """
    if len(columns[0].cells) < _FEWEST_ALIKE:
        return list(columns), ""
    alike = [column for column in columns[1:] if len(set(column.cells)) == 1]
    if not alike:
        return list(columns), ""
    constants = "; ".join(f"{column.title}: {column.cells[0]}" for column in alike if column.cells[0])
    return [column for column in columns if column not in alike], f"Constant columns: {constants}." if constants else ""


def fit_columns(columns: Sequence[Column], width: int) -> tuple[list[Column], list[str]]:
    """The columns, narrow enough for `width`, and the titles of those that had to be left out: the last ones first.

    The first column always stays.
    """
    kept = list(columns)
    while len(kept) > 1 and total([column.narrowest for column in kept]) > width:
        kept.pop()
    left_out = [column.title for column in columns[len(kept) :]]
    return [_narrowed(column, room) for column, room in _rooms(kept, width)], left_out


def total(widths: Sequence[int]) -> int:
    """The width of a table of columns so wide.

    >>> total([5, 10])
    17
    """
    return sum(widths) + GAP * (len(widths) - 1)


def shortened(names: Sequence[str], width: int) -> list[str]:
    """Names of at most `width` characters, shortened in the middle; of more if two would look alike.

    >>> shortened(["ID_Edge_Distance_Weighted", "ID_Edge_Distance_Dynamic", "Random"], 16)
    ['ID_Edge…Weighted', 'ID_Edge…_Dynamic', 'Random']
    """
    different = list(dict.fromkeys(names))
    while True:
        for tail in sorted(range(1, max(2, width - 1)), key=lambda tail: abs(2 * tail - width)):
            short = {name: _in_the_middle(name, width, tail) for name in different}
            if len(set(short.values())) == len(different):
                return [short[name] for name in names]
        width += 1


def _in_the_middle(name: str, width: int, tail: int) -> str:
    if len(name) <= width:
        return name
    return f"{name[: width - 1 - tail]}…{name[-tail:]}"


def _rooms(columns: Sequence[Column], width: int) -> list[tuple[Column, int]]:
    """How wide each column may be: what has to be saved, the widest that can be narrower save."""
    rooms = [column.width for column in columns]
    while total(rooms) > width:
        spare = [room if room > column.narrowest else -inf for column, room in zip(columns, rooms, strict=True)]
        if max(spare) == -inf:
            break
        rooms[spare.index(max(spare))] -= 1
    return list(zip(columns, rooms, strict=True))


def _narrowed(column: Column, width: int) -> Column:
    if column.width <= width:
        return column
    if column.is_prose:
        folded = (textwrap.fill(cell, width, break_long_words=True, break_on_hyphens=False) for cell in column.cells)
        return replace(column, cells=tuple(folded))
    return replace(column, cells=tuple(shortened(column.cells, width)))
