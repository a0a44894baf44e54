"""Evaluate many positions with a compiled heuristic in one call."""

from __future__ import annotations

from numba import int64

from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.kernels.placeholders import COLUMNS, ROWS, score
from knights_isolation.isolation.native.kernels.player_calls import float64s_at, int64s_at, uint64s_at
from knights_isolation.isolation.native.kernels.workspace import desk_at
from knights_isolation.isolation.native.layout import FAILED
from knights_isolation.isolation.native.position import make_position


@inner
def entry(
    low: int, high: int, cells_0: int, cells_1: int, turns: int, players: int, count: int, address: int,
    parameters: int, values: int,
) -> float:  # fmt: skip
    """The heuristic's value of every position to a player; an exception ends the call and stays on the desk as FAILED.

    All arguments but `count`, the number of positions, are addresses. Given are the blank cells in two words (uint64),
    the players' cells, whose turn it is, and whom to value it for (int64), a desk, and the heuristic's parameters
    (float64). To be filled are the values (float64).
    """
    low_, high_, values_ = uint64s_at(int64(low)), uint64s_at(int64(high)), float64s_at(values)
    own_, other_, turns_, players_ = int64s_at(cells_0), int64s_at(cells_1), int64s_at(turns), int64s_at(players)
    desk = desk_at(address)
    desk[FAILED] = 1
    for i in range(count):
        position = make_position(ROWS, COLUMNS, low_[i], high_[i], own_[i], other_[i], turns_[i])
        values_[i] = float(score(position, players_[i], parameters))
    desk[FAILED] = 0
    return 0.0
