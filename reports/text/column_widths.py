"""Fit tables to the terminal: shorten names, wrap text, hide columns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

GAP = 2
"""Spaces between two columns."""
_SHORTEST_NAME = 16
_NARROWEST_PROSE = 14
_FEWEST_ALIKE = 3  # minimum number of rows for hiding a column because all its cells are equal


@dataclass(frozen=True)
class Column:
    """A displayed column; numbers are right-aligned and never shortened.

    Attributes:
        title: its heading.
        cells: its texts, one per row.
        is_number: whether it contains numbers.
        is_exact: whether users copy its texts, such as names of runs, so that they must not be shortened.
        is_kept: whether it contains the answer, and is never hidden.
    """

    title: str
    cells: tuple[str, ...]
    is_number: bool
    is_exact: bool = False
    is_kept: bool = False

    @property
    def width(self) -> int:
        """Width of its widest line."""
        lines = [line for text in (self.title, *self.cells) for line in text.split("\n")]
        return max(map(len, lines))

    @property
    def is_prose(self) -> bool:
        """Return whether it can be wrapped: text of several words."""
        return not self.is_number and any(" " in cell for cell in self.cells)

    @property
    def narrowest(self) -> int:
        """Minimum width."""
        if self.is_number or self.is_exact:
            return self.width
        return min(self.width, max(len(self.title), _NARROWEST_PROSE if self.is_prose else _SHORTEST_NAME))


def without_constants(columns: Sequence[Column]) -> tuple[list[Column], str]:
    """Return the columns whose cells differ, and a sentence with the values of the constant ones, or nothing.

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
    """Return the columns, fitted to `width`, and the titles of those that had to be hidden.

    The last are hidden first, but never the first column or those that are kept.

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
    """Return the total width of a table, given the widths of its columns.

    >>> total([5, 10])
    17
    """
    return sum(widths) + GAP * (len(widths) - 1)


def shortened(names: Sequence[str], width: int) -> list[str]:
    """Shorten names to `width` characters by cutting the middle; to more if two would become equal.

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
    # the widest columns that can be narrowed are narrowed first
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
