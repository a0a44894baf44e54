"""Perft: count the move sequences of a position."""

from __future__ import annotations

import numpy as np

from ..editions.classic_board import Board
from ..search import is_compilable


def perft(board: Board, depth: int) -> list[int]:
    """Count the move sequences of exactly 1, 2, … `depth` plies; finished games do not count at later plies.

    >>> perft(Board.from_moves([24, 14]), 3)
    [8, 30, 144]

    Raises:
        ValueError: the depth is not a positive integer.
    """
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
        raise ValueError(f"the depth of perft must be a positive whole number, not {depth!r}")
    counts = np.zeros(depth, np.int64)
    _count(board, 0, counts)
    return [int(count) for count in counts]


def _count(board: Board, ply: int, counts: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
    if is_compilable(board):
        from ..compiling.specialise import native_function, pack

        below = counts[ply:]
        perft_below = native_function("perft", None, board.height, board.width)
        perft_below.call(*pack(board), len(below), below.ctypes.data)
        return
    cells = board.legal_cells()
    counts[ply] += len(cells)
    if ply + 1 < len(counts):
        for cell in cells:
            _count(board.successor(cell), ply + 1, counts)
