"""Principal variations of many positions in one call."""

from __future__ import annotations

from numba import int64

from knights_isolation.isolation.native import layout as on_desk
from knights_isolation.isolation.native.bitboards import popcount
from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.kernels.placeholders import COLUMNS, ROWS, descend, worth_of
from knights_isolation.isolation.native.kernels.player_calls import float64s_at, int16s_at, int64s_at, uint64s_at
from knights_isolation.isolation.native.kernels.workspace import desk_at, open_desk
from knights_isolation.isolation.native.layout import MAX_PLY, WON
from knights_isolation.isolation.native.position import make_position


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
    desk[on_desk.PARAMETERS] = parameters
    for i in range(count):
        desk[on_desk.FAILED] = 1
        open_desk(desk, nodes_[i], int64(-1), int64(0))
        position = make_position(ROWS, COLUMNS, low_[i], high_[i], own_[i], other_[i], 0)
        scores_[i], lengths_[i] = 0.0, 0
        deepest = depth if depth > 0 else popcount(position._blank)
        for plies in range(depth if depth > 0 else 1, deepest + 1):
            desk[on_desk.HORIZON] = 0
            value = descend(position, plies, int64(0), -WON, WON, desk)
            if desk[on_desk.STOPPED] != 0 or desk[on_desk.GIVEN_UP] != 0:
                break
            scores_[i], lengths_[i] = worth_of(value), desk[on_desk.LENGTH + 1]
            for ply in range(lengths_[i]):
                lines_[i * MAX_PLY + ply] = desk[on_desk.LINE + MAX_PLY + ply]
            if desk[on_desk.HORIZON] == 0 or abs(value) == WON:
                break
        desk[on_desk.FAILED] = desk[on_desk.GIVEN_UP]
        if desk[on_desk.FAILED] != 0:
            break
    return 0.0
