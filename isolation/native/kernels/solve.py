"""Who wins: boolean alpha-beta to the end of the game, or to a given ply.

Replies after which the opponent can end the game at once are dropped, the others tried by own minus opponent mobility,
of which `mobility` knows that of all cells without a loop over them: one and a half times as fast as sorting replies.

What was measured not to pay, on 7x7: a transposition table (visited cells encode the path: 1 to 5 % of positions with
24 to 36 blank cells recur; up to a third where cells that nobody can reach are left out, which costs as much to find),
noticing that the players have been parted for good (half the nodes, at twice the cost of each, although longest paths
are remembered), ordering by territory or by cells two or three jumps away (two thirds to nine tenths of the nodes, at
the cost of the rest, also where it was given up late in the game), proof numbers above the last thirty cells (five
times the nodes), killer moves and history, a second ply put into the code of the first.
"""

from __future__ import annotations

from typing import Any

from isolation.native.bits import common, contains, drop_lowest, is_empty, lowest, union, without_cell
from isolation.native.kernels.desk import count_node, desk_at, open_desk
from isolation.native.kernels.inner import inner
from isolation.native.kernels.mobility import largest, mobility, one_more
from isolation.native.kernels.open_names import COLUMNS, ROWS
from isolation.native.kernels.recursion import again_whether
from isolation.native.kernels.stepping import handed_over
from isolation.native.layout import STOPPED
from isolation.native.position import location_of, make_position, moves_from


@inner
def ends_at_once(position: Any) -> bool:
    """Whether the side to move, which has a move, can leave the other side without one."""
    threats = moves_from(position, location_of(position, 1))
    if not is_empty(drop_lowest(threats)):
        return False
    return is_empty(threats) or contains(moves_from(position, location_of(position, 0)), lowest(threats))


@inner
def wins(position: Any, left: int, desk: Any) -> int:
    """1 if the side to move wins, and the side that makes the last of `left` more plies must have won by then, else 0.

    At least one ply must be left, the side to move must have a move, and none that ends the game at once. 0, too, once
    the limit has ended the search.
    """
    if not count_node(desk) or left == 1:
        return 0
    threats = moves_from(position, location_of(position, 1))
    onward = mobility(position)
    worth = one_more(onward, threats)
    replies = common(moves_from(position, location_of(position, 0)), union(union(onward[0], onward[1]), onward[2]))
    while not is_empty(replies):
        cell = lowest(largest(worth, replies))
        replies = without_cell(replies, cell)
        further = moves_from(position, cell)
        if is_empty(drop_lowest(further)) and not is_empty(common(further, threats)):
            continue
        if again_whether(handed_over(position, cell), left - 1, desk) == 0:
            return 1 if desk[STOPPED] == 0 else 0
    return 0


@inner
def entry(
    low: int, high: int, own: int, other: int, left: int, nodes: int, clock: int, budget: int, address: int
) -> float:
    """1.0 if the side to move, on `own`, wins, 0.0 if not; STOPPED on the desk tells if the limit kept it unknown."""
    desk = desk_at(address)
    open_desk(desk, nodes, clock, budget)
    position = make_position(ROWS, COLUMNS, low, high, own, other, 0)
    if not ends_at_once(position):
        return float(wins(position, left, desk))
    return 1.0 if count_node(desk) else 0.0
