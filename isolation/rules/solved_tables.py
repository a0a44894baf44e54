"""Shipped tables: the winner of every placement pair of the solved boards.

`data/solved.json` maps a size ROWSxCOLUMNS, rows not above columns, to a hexadecimal number. Its bit
`cell_1 * cells + cell_2` is set if player 1, on `cell_1` and to move after both placements, wins against player 2 on
`cell_2`. `benchmarks/make_solved_tables.py` writes it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from ..files.received import read_shipped
from .game import Size, parse_size

FILE = Path(__file__).parents[1] / "data" / "solved.json"


def pair_is_won(rows: int, columns: int, mover: int, other: int) -> bool | None:
    """Return whether the player on `mover`, to move right after both placements, wins; None if the board is not solved.

    >>> pair_is_won(7, 7, 24, 0)
    True
    """
    if rows > columns:
        mover, other = (cell % columns * rows + cell // columns for cell in (mover, other))
        rows, columns = columns, rows
    table = _tables().get(Size(rows, columns))
    return None if table is None else bool(table >> (mover * rows * columns + other) & 1)


def is_covered(rows: int, columns: int) -> bool:
    """Return whether boards of this size, in either orientation, are in the tables."""
    return Size(*sorted((rows, columns))) in _tables()


def covered_sizes() -> tuple[Size, ...]:
    """Return the sizes in the tables, rows not above columns, in the order of the file."""
    return tuple(_tables())


@cache
def _tables() -> dict[Size, int]:
    return {parse_size(size): int(table, 16) for size, table in json.loads(read_shipped(FILE)).items()}
