"""One move of a compiled player in each of many positions, in one call."""

from __future__ import annotations

from numba import int64, njit

from isolation.native.kernels.calling import (
    ADDRESS,
    BUDGET,
    CLOCK,
    DEPTH_LIMIT,
    FLAGS,
    LATE_AFTER,
    NODE_LIMIT,
    call_player,
)
from isolation.native.kernels.desk import FAILED, MOVE, NANOSECONDS, NODES, desk_at
from isolation.outcome import Reason

NO_ANSWER = -1
TIMEOUT, ERROR = int(Reason.TIMEOUT), int(Reason.ERROR)


@njit(cache=True, nogil=True)
def answer_all(low, high, own, other, seeds, player, address, answers):  # type: ignore[no-untyped-def]
    """Ask a player once in every position; the side to move has a move in each.

    Args:
        low, high: uint64[n], the blank cells.
        own, other: int64[n], the cells of the side to move and of its opponent.
        seeds: uint64[n], the moves' seeds.
        player: int64[7], the compiled player.
        address: of a desk.
        answers: (cells int16[n], failure int8[n], nodes int64[n], nanoseconds int64[n]) to fill; where the player
            was late or raised an exception, the cell is -1 and the failure the number of a `Reason`, otherwise 0.
    """
    cells, failure, nodes, nanoseconds = answers
    desk = desk_at(address)
    for i in range(len(own)):
        call_player(
            player[ADDRESS], low[i], high[i], own[i], other[i], player[DEPTH_LIMIT], player[NODE_LIMIT], player[CLOCK],
            player[BUDGET], player[FLAGS], int64(seeds[i]), int64(address),
        )  # fmt: skip
        nodes[i], nanoseconds[i] = desk[NODES], desk[NANOSECONDS]
        failure[i] = 0
        if desk[FAILED] != 0:
            failure[i] = ERROR
        elif desk[NANOSECONDS] > player[LATE_AFTER]:
            failure[i] = TIMEOUT
        cells[i] = NO_ANSWER if failure[i] else desk[MOVE]
