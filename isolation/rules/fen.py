"""Parse and write FEN, as in `7/7/7/3N3/7/n6/7 w - - 0 1`.

Rows are listed from the top, separated by slashes. A number counts open cells, `*` is a visited cell, `N` is player 1's
knight and `n` player 2's. The next field is the side to move, `w` or `b`. A knight not yet placed is in hand, as in
`7/7/7/3N3/7/7/7[n] b - - 0 1`. The other fields of a chess FEN are ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .geometry import check_size, full_mask

_LONGEST = 10_000
_FIELDS = re.compile(r"([^\s\[\]]+)(?:\[([Nn]*)\])?\s+([wb])(\s+.*)?", re.DOTALL)
_SIGN = re.compile(r"\d+|.", re.DOTALL)
EXAMPLE = "7/7/7/3N3/7/n6/7 w - - 0 1"


@dataclass(frozen=True)
class FenPosition:
    """A parsed FEN: size, mask of open cells, locations of the players (None before placement), and side to move."""

    rows: int
    columns: int
    blank: int
    locations: tuple[int | None, int | None]
    active_index: int


def parse_fen(text: str) -> FenPosition:
    """Parse a FEN; the fields after the side to move and the hand are optional.

    >>> parse_fen("3/N2/*2/2n b").locations
    (3, 11)

    Raises:
        ValueError: not a FEN, or not a position of this game; the message shows what is expected.
    """
    match = _FIELDS.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if not match:
        raise ValueError(f"not a FEN: {text[:80]!r}; expected one like {EXAMPLE}")
    ranks = [_cells_of(rank) for rank in match[1].split("/")]
    if any(len(rank) != len(ranks[0]) for rank in ranks):
        raise ValueError(f"not a FEN: {text[:80]!r}: rows of different lengths")
    rows, columns = check_size(len(ranks), len(ranks[0]))
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
    blank = full_mask(rows, columns) & ~sum(1 << cell for cell, sign in enumerate(cells) if sign != ".")
    return FenPosition(rows, columns, blank, locations, active)  # type: ignore[arg-type]


def write_fen(position: FenPosition) -> str:
    """Return the FEN of a position; its counters give the number of moves after both placements.

    >>> write_fen(parse_fen("3/N2/*2/2n b"))
    '3/N2/*2/2n b - - 1 1'
    """
    count = position.rows * position.columns
    signs = ["." if position.blank >> cell & 1 else "*" for cell in range(count)]
    hand = ""
    for knight, cell in zip("Nn", position.locations, strict=True):
        if cell is None:
            hand += knight
        else:
            signs[cell] = knight
    rows = ("".join(signs[first : first + position.columns]) for first in range(0, count, position.columns))
    board = "/".join(re.sub(r"\.+", lambda run: str(len(run[0])), row) for row in rows)
    visited = count - position.blank.bit_count()
    side = "wb"[position.active_index]
    return f"{board}{f'[{hand}]' if hand else ''} {side} - - {max(0, visited - 2)} {max(1, visited // 2)}"


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
