"""The lines that a search expects from many positions, in one call."""

from __future__ import annotations

from numba import int64

from isolation.native.kernels.calling import float64s_at, int16s_at, int64s_at, uint64s_at
from isolation.native.kernels.desk import desk_at, open_desk
from isolation.native.kernels.inner import inner
from isolation.native.kernels.open_names import COLUMNS, ROWS, think
from isolation.native.layout import BEST_LENGTH, BEST_LINE, DEPTH, EXACT, FAILED, GIVEN_UP, MAX_PLY, PARAMETERS
from isolation.native.position import make_position


@inner
def entry(
    low: int, high: int, own: int, other: int, count: int, depth: int, nodes: int, address: int, parameters: int,
    scores: int, lengths: int, lines: int,
) -> float:  # fmt: skip
    """Search from every position, in each of which the side to move has a move and the other has just moved.

    The heuristic is asked for the side that has just moved, as in a search that began before that move. All arguments
    but `count`, the number of positions, and `depth`, 0 for a limit of nodes, are addresses. Given are the blank cells
    in two words (uint64), the cells of the side to move and of the other, the most nodes (int64), a desk, and the
    heuristic's parameters (float64). To be filled are the score to the side to move (float64), the plies of the line
    (int64; 0 if nothing was finished), and its cells (int16[count, MAX_PLY]). A failure ends the call as FAILED.
    """
    low_, high_, nodes_ = uint64s_at(int64(low)), uint64s_at(int64(high)), int64s_at(nodes)
    own_, other_, lengths_ = int64s_at(own), int64s_at(other), int64s_at(lengths)
    scores_, lines_, desk = float64s_at(scores), int16s_at(lines), desk_at(address)
    desk[PARAMETERS] = parameters
    for i in range(count):
        desk[FAILED] = 1
        desk[DEPTH] = 0
        desk[EXACT] = 0
        desk[BEST_LENGTH] = 0
        open_desk(desk, nodes_[i], int64(-1), int64(0))
        scores_[i] = think(
            make_position(ROWS, COLUMNS, low_[i], high_[i], other_[i], own_[i], 1), depth, int64(0), desk
        )
        desk[FAILED] = desk[GIVEN_UP]
        if desk[FAILED] != 0:
            break
        lengths_[i] = desk[BEST_LENGTH] if desk[DEPTH] > 0 else 0
        for ply in range(lengths_[i]):
            lines_[i * MAX_PLY + ply] = desk[BEST_LINE + ply]
    return 0.0
