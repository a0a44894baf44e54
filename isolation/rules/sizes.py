"""Board sizes: (rows, columns), and as text ROWSxCOLUMNS, which is parsed where it comes in."""

from __future__ import annotations

import re
from operator import index
from typing import NamedTuple


class Size(NamedTuple):
    """A board's size. As text it is ROWSxCOLUMNS, which `parse_size` can read.

    >>> f"{Size(9, 11)}"
    '9x11'
    """

    rows: int
    columns: int

    def __str__(self) -> str:
        return f"{self.rows}x{self.columns}"

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.rows * self.columns


USUAL_SIZE = Size(7, 7)


SizeLike = str | tuple[int, int]
"""A size as people give it."""


MOST_COMPILED_CELLS = 128
"""Largest board supported by compiled code, which represents a set of cells as an integer of at most 128 bits."""


MOST_CELLS = 32_767
"""Largest board: logs store cells in 16 bits."""


_TOO_LARGE = f"too large: a board has at most {MOST_CELLS:,} cells"


_MOST_DIGITS = 9


_LONGEST_SHOWN = 60


def parse_size(text: str) -> Size:
    """Parse a size written ROWSxCOLUMNS.

    >>> parse_size("9x11")
    Size(rows=9, columns=11)

    Raises:
        ValueError: the text does not have that form, or a side is below 1.
    """
    match = re.fullmatch(r"\s*([+-]?\d+)\s*[xX×]\s*([+-]?\d+)\s*", text, re.ASCII) if isinstance(text, str) else None
    if match is None:
        shown = repr(text)
        shown = shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"
        raise ValueError(f"a board size must be ROWSxCOLUMNS, such as 7x7, not {shown}")
    if max(map(len, match.groups())) > _MOST_DIGITS:
        raise ValueError(_TOO_LARGE)
    return check_size(int(match[1]), int(match[2]))


def size_of(given: SizeLike) -> Size:
    """Return the size that a caller gave as text or as (rows, columns); for functions that people call.

    Raises:
        ValueError: there is no board of this size.
    """
    return check_size(*given) if isinstance(given, tuple) and len(given) == 2 else parse_size(given)


def check_size(rows: int, columns: int) -> Size:
    """Check a size; its sides become plain ints.

    Raises:
        ValueError: a side is not an integer or is below 1, or there are more than `MOST_CELLS` cells.
    """
    if any(isinstance(side, bool) or not hasattr(side, "__index__") for side in (rows, columns)):
        raise ValueError(f"rows and columns must be whole numbers, not {rows!r} and {columns!r}")
    if rows < 1 or columns < 1:
        raise ValueError(f"a board must have at least 1 row and 1 column, not {rows} x {columns}")
    if rows * columns > MOST_CELLS:
        raise ValueError(_TOO_LARGE)
    return Size(index(rows), index(columns))
