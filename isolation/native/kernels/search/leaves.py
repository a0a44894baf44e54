"""Values of positions at the search horizon."""

from __future__ import annotations

from typing import Any

from knights_isolation.isolation.native.bitboards import is_empty, lowest, popcount
from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.kernels.placeholders import QUIESCENT, rank, rank_apart, score
from knights_isolation.isolation.native.kernels.workspace import count_node, give_up, unlikely
from knights_isolation.isolation.native.layout import HORIZON, NOT_A_NUMBER, PARAMETERS, WON
from knights_isolation.isolation.native.position import after, location_of, moves_from

LARGEST = 1.7976931348623157e308


@inner
def finite(value: float, desk: Any) -> float:
    """A value of the heuristic's, kept finite.

    NaN is a failure of the heuristic, as an exception is; to raise one here would slow down the search.
    """
    if value > LARGEST:
        return LARGEST
    if value < -LARGEST:
        return -LARGEST
    if value != value:
        give_up(desk)
        return 0.0
    return value


@inner
def appraise(position: Any, desk: Any) -> float:
    """The heuristic's value of an unfinished position to player 0, kept finite so that infinity means proven."""
    return finite(float(score(position, 0, desk[PARAMETERS])), desk)


@inner
def known(rank: int, desk: Any) -> int:
    """A rank; in place of NaN, a failure of the heuristic as in `finite`, any."""
    if unlikely(rank == NOT_A_NUMBER):
        give_up(desk)
        return 0
    return rank


@inner
def ranked_apart(position: Any, desk: Any) -> int:
    """The rank of an unfinished position to player 0, where few nodes of a search are: its code is that of a call."""
    return known(rank_apart(position, desk[PARAMETERS]), desk)


@inner
def horizon(position: Any, desk: Any) -> int:
    """The rank of an unfinished position to the player to move: the heuristic's, after forced replies if asked for."""
    turn = position._turn
    if QUIESCENT:
        replies = moves_from(position, location_of(position, turn))
        while popcount(replies) == 1:
            if not count_node(desk):
                return 0
            position = after(position, lowest(replies))
            replies = moves_from(position, location_of(position, position._turn))
            if is_empty(replies):
                return -WON if position._turn == turn else WON
    desk[HORIZON] = 1
    value = known(rank(position, desk[PARAMETERS]), desk)
    return value if turn == 0 else -value
