"""One compiled player's moves in many positions in one call."""

from __future__ import annotations

from numba import int64

from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.kernels import player_calls
from knights_isolation.isolation.native.kernels.player_calls import int8s_at, int16s_at, int64s_at, uint64s_at
from knights_isolation.isolation.native.layout import FAILED, MOVE, NANOSECONDS, NODES
from knights_isolation.isolation.rules.outcome import Reason

NO_ANSWER = -1
TIMEOUT, ERROR = int(Reason.TIMEOUT), int(Reason.ERROR)


@inner
def entry(
    low: int, high: int, own: int, other: int, seeds: int, count: int, player: int, address: int,
    cells: int, failure: int, nodes: int, nanoseconds: int,
) -> float:  # fmt: skip
    """Ask a player once in every position, in each of which the side to move has a move.

    All arguments but `count`, the number of positions, are addresses. Given are the blank cells in two words (uint64),
    the cells of the side to move and of its opponent (int64), the moves' seeds (uint64), the player (int64[9]), and a
    desk. To be filled are the move (int16), the number of a `Reason` where the player was late or raised an exception,
    and the move is -1, otherwise 0 (int8), nodes and nanoseconds (int64).
    """
    low_, high_, seeds_ = uint64s_at(int64(low)), uint64s_at(int64(high)), uint64s_at(seeds)
    own_, other_, player_, desk = int64s_at(own), int64s_at(other), int64s_at(player), int64s_at(address)
    cells_, failure_ = int16s_at(cells), int8s_at(failure)
    nodes_, nanoseconds_ = int64s_at(nodes), int64s_at(nanoseconds)
    for i in range(count):
        player_calls.ask(player_, 0, low_[i], high_[i], own_[i], other_[i], seeds_[i], address)
        nodes_[i], nanoseconds_[i] = desk[NODES], desk[NANOSECONDS]
        why = 0
        if desk[FAILED] != 0:
            why = ERROR
        elif desk[NANOSECONDS] > player_[player_calls.LATE_AFTER]:
            why = TIMEOUT
        failure_[i] = why
        cells_[i] = NO_ANSWER if why != 0 else desk[MOVE]
    return 0.0
