"""Who wins: boolean alpha-beta to the end of the game, or to a given ply.

Replies after which the opponent can end the game at once are dropped, the others tried by own minus opponent mobility.
What was measured not to pay: a transposition table (visited cells encode the path: positions hardly recur), noticing
that the players have been parted for good (half the nodes, at twice the cost of each), ordering by territory or by
cells two jumps away (two thirds and nine tenths of the nodes, at the cost of the rest, also where it was given up late
in the game), killer moves and history, a second ply put into the code of the first; handing replies down won 3 %.
"""

from __future__ import annotations

from typing import Any

from numba import int64

from isolation.native.bits import common, contains, drop_lowest, is_empty, lowest, popcount, without_cell
from isolation.native.kernels.desk import count_node, desk_at, open_desk
from isolation.native.kernels.inner import inner
from isolation.native.kernels.open_names import COLUMNS, ROWS
from isolation.native.kernels.stepping import handed_over
from isolation.native.layout import LINE, STOPPED
from isolation.native.position import location_of, make_position, moves_from

MOST_REPLIES = 8


@inner
def insert(desk: Any, row: int, count: int, key: int) -> None:
    """Put a key into its place among `count` descending ones."""
    while count > 0 and desk[row + count - 1] < key:
        desk[row + count] = desk[row + count - 1]
        count -= 1
    desk[row + count] = key


@inner
def list_replies(position: Any, row: int, desk: Any) -> int:
    """Write the replies worth trying to the desk, the best first, each in the low byte of a key; returns how many."""
    threats = moves_from(position, location_of(position, 1))
    replies = moves_from(position, location_of(position, 0))
    count = 0
    while not is_empty(replies):
        cell = lowest(replies)
        replies = drop_lowest(replies)
        further = moves_from(position, cell)
        answers = without_cell(threats, cell)
        mobility = popcount(further)
        if mobility == 0 or (mobility == 1 and not is_empty(common(further, answers))):
            continue
        insert(desk, row, count, ((mobility - popcount(answers) + 256) << 8) | cell)
        count += 1
    return count


@inner
def wins(position: Any, left: int, ply: int, desk: Any) -> bool:
    """Whether the side to move wins, if the side that makes the last of `left` more plies must have won by then.

    At least one ply must be left, and the side to move must have a move. False, too, once the limit has ended the
    search.
    """
    if not count_node(desk):
        return False
    threats = moves_from(position, location_of(position, 1))
    if is_empty(drop_lowest(threats)):
        replies = moves_from(position, location_of(position, 0))
        if is_empty(threats) or contains(replies, lowest(threats)):
            return True
    if left == 1:
        return False
    row = LINE + ply * MOST_REPLIES
    for i in range(list_replies(position, row, desk)):
        if not wins(handed_over(position, desk[row + i] & 255), left - 1, ply + 1, desk):
            return desk[STOPPED] == 0
    return False


@inner
def entry(
    low: int, high: int, own: int, other: int, left: int, nodes: int, clock: int, budget: int, address: int
) -> float:
    """1.0 if the side to move, on `own`, wins, 0.0 if not; STOPPED on the desk tells if the limit kept it unknown."""
    desk = desk_at(address)
    open_desk(desk, nodes, clock, budget)
    return 1.0 if wins(make_position(ROWS, COLUMNS, low, high, own, other, 0), left, int64(0), desk) else 0.0
