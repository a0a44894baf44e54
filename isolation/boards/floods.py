"""Flood fills by knight moves over blank cells: territory and distances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ..rules.geometry import cells_of

ByCell: TypeAlias = Sequence[int] | Mapping[int, int]
"""By cell, the mask of the cells a knight's move away."""


def claimed_cells(knight: ByCell, blank: int, first: int, second: int) -> tuple[int, int]:
    """Return how many blank cells each of two players reaches before the other, if the first player moves first.

    Args:
        blank: the mask of the blank cells.
        first, second: the masks of the players' moves.
    """
    claimed_by_first = claimed_by_second = 0
    while first or second:
        blank &= ~first
        second &= blank
        blank &= ~second
        claimed_by_first += first.bit_count()
        claimed_by_second += second.bit_count()
        first, second = _next_to(knight, first) & blank, _next_to(knight, second) & blank
    return claimed_by_first, claimed_by_second


def sum_of_distances(knight: ByCell, blank: int, moves: int, out_of_reach: int) -> int:
    """Return the sum of the distances to all blank cells, in moves; an unreachable cell counts `out_of_reach`."""
    total = step = 0
    while moves:
        step += 1
        total += step * moves.bit_count()
        blank &= ~moves
        moves = _next_to(knight, moves) & blank
    return total + out_of_reach * blank.bit_count()


def _next_to(knight: ByCell, cells: int) -> int:
    reached = 0
    for cell in cells_of(cells):
        reached |= knight[cell]
    return reached
