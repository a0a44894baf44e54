"""Fit tables to the terminal: shorten names, wrap text, hide columns."""

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
    """A column as people read it; numbers are right-aligned and never shortened.

    Attributes:
        title: its heading.
        cells: its texts, one a row.
        is_number: whether it holds numbers.
        is_exact: whether its texts are copied by people, such as names of runs, and must not be shortened.
        is_kept: whether it holds the answer, and is never left out.
    """

    title: str
    cells: tuple[str, ...]
    is_number: bool
    is_exact: bool = False
    is_kept: bool = False

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
        if self.is_number or self.is_exact:
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
    alike = [column for column in columns[1:] if len(set(column.cells)) == 1 and not column.is_kept]
    if not alike:
        return list(columns), ""
    constants = "; ".join(f"{column.title}: {column.cells[0]}" for column in alike if column.cells[0])
    return [column for column in columns if column not in alike], f"Constant columns: {constants}." if constants else ""


def fit_columns(columns: Sequence[Column], width: int) -> tuple[list[Column], list[str]]:
    """The columns, narrow enough for `width`, and the titles of those that had to be left out.

    The last are given up first; never the first column, nor those that are kept.

    >>> agent, cost, verdict = (Column(name, ("x" * 9,), True) for name in ("agent", "cost", "verdict"))
    >>> fit_columns([agent, cost, replace(verdict, is_kept=True)], 20)[1]
    ['cost']
    """
    kept = list(columns)
    while total([column.narrowest for column in kept]) > width:
        spare = [index for index, column in enumerate(kept) if index and not column.is_kept]
        if not spare:
            break
        del kept[spare[-1]]
    left_out = [column.title for column in columns if not any(column is other for other in kept)]
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
    if column.width <= width or column.is_exact:
        return column
    if column.is_prose:
        folded = (textwrap.fill(cell, width, break_long_words=True, break_on_hyphens=False) for cell in column.cells)
        return replace(column, cells=tuple(folded))
    return replace(column, cells=tuple(shortened(column.cells, width)))
