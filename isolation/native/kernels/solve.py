"""Solver: boolean alpha-beta to the end of the game, or to a given ply.

Replies after which the opponent can end the game at once are dropped, the others tried by own minus opponent mobility,
of which `mobility` knows that of all cells without a loop over them: one and a half times as fast as sorting replies.
While many cells are blank, territory comes first: that gains nothing on 7x7, and on 8x8 two fifths of the nodes.

What was measured not to pay, on 7x7: a transposition table (visited cells encode the path: 1 to 5 % of positions with
24 to 36 blank cells recur; up to a third where cells that nobody can reach are left out, which costs as much to find),
noticing that the players have been parted for good (half the nodes, at twice the cost of each, although longest paths
are remembered), ordering by territory below some 33 blank cells or by cells two or three jumps away (two thirds to nine
tenths of the nodes, at the cost of the rest), proof numbers above the last thirty cells (five times the nodes), killer
moves and history, a second ply put into the code of the first.
"""

from __future__ import annotations

from typing import Any

from numba import int64, uint64

from knights_isolation.isolation.native.bitboards import (
    common,
    difference,
    drop_lowest,
    exclusive,
    is_empty,
    lowest,
    popcount,
    union,
    without_cell,
)
from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.kernels.placeholders import COLUMNS, ROWS
from knights_isolation.isolation.native.kernels.recursion import again_whether
from knights_isolation.isolation.native.kernels.workspace import count_node, int64s_at, open_desk, uint64s_at
from knights_isolation.isolation.native.layout import LINE, NODES, STOPPED
from knights_isolation.isolation.native.position import (
    after,
    each_step,
    handed_over,
    location_of,
    make_position,
    moves_from,
    neighbours,
)

MOST_REPLIES = 8
TO_THE_END = 1 << 20
MANY = 35
"""Blank cells above which the order of replies deserves more care than the next node costs."""


@inner
def sum_and_carry(a: Any, b: Any, c: Any) -> Any:
    """The digits of how many of three sets each cell is in: ones, twos."""
    sum_ = exclusive(a, b)
    return exclusive(sum_, c), union(common(a, b), common(sum_, c))


@inner
def mobility(position: Any) -> Any:
    """The digits of the mobility of each cell that has at most seven blank cells around it: ones, twos, fours.

    Eight blank cells are none here. What stands in the digits of cells off the board means nothing.
    """
    a, b, c, d, e, f, g, h = each_step(position)
    one_1, two_1 = sum_and_carry(a, b, c)
    one_2, two_2 = sum_and_carry(d, e, f)
    ones, two_3 = sum_and_carry(one_1, one_2, exclusive(g, h))
    two_4, four_1 = sum_and_carry(two_1, two_2, common(g, h))
    return ones, exclusive(two_3, two_4), exclusive(four_1, common(two_3, two_4))


@inner
def one_more(digits: Any, cells: Any) -> Any:
    """The digits with one added for some cells, up to seven."""
    ones, twos, fours = digits
    two, four = common(ones, cells), common(common(ones, twos), cells)
    eight = common(four, fours)
    ones, twos, fours = exclusive(ones, cells), exclusive(twos, two), union(fours, four)
    return union(ones, eight), union(twos, eight), fours


@inner
def largest(digits: Any, cells: Any) -> Any:
    """Return those of some cells, at least one, with the largest number."""
    ones, twos, fours = digits
    return among(among(among(cells, fours), twos), ones)


@inner
def among(cells: Any, wanted: Any) -> Any:
    """The cells that are wanted, or all if none are."""
    both = common(cells, wanted)
    return cells if is_empty(both) else both


@inner
def lead(position: Any, movers: Any, waiters: Any) -> int:
    """Cells that the side to move reaches before the other, minus those the other reaches first: their territories.

    Given are the cells to which either can go at once.
    """
    unclaimed = position._blank
    balance = 0
    while not (is_empty(movers) and is_empty(waiters)):
        unclaimed = difference(unclaimed, movers)
        waiters = common(waiters, unclaimed)
        unclaimed = difference(unclaimed, waiters)
        balance += popcount(movers) - popcount(waiters)
        movers = common(neighbours(position, movers), unclaimed)
        waiters = common(neighbours(position, waiters), unclaimed)
    return balance


@inner
def insert(desk: Any, row: int, count: int, key: int) -> None:
    """Put a key into its place among `count` descending ones."""
    while count > 0 and desk[row + count - 1] < key:
        desk[row + count] = desk[row + count - 1]
        count -= 1
    desk[row + count] = key


@inner
def list_replies(position: Any, row: int, desk: Any) -> int:
    """Write replies to the desk, the best by territory and mobility first, each in the low byte of a key; their number.

    Those after which the opponent can end the game at once are left out.
    """
    replies, threats = moves_from(position, location_of(position, 0)), moves_from(position, location_of(position, 1))
    count = 0
    while not is_empty(replies):
        cell = lowest(replies)
        replies = drop_lowest(replies)
        child = handed_over(position, cell)
        further = moves_from(child, cell)
        if not ends(threats, further):
            answers = without_cell(threats, cell)
            worth = popcount(further) - popcount(answers) - 2 * lead(child, answers, further)
            insert(desk, row, count, ((worth + 512) << 8) | cell)
            count += 1
    return count


@inner
def ends(replies: Any, threats: Any) -> bool:
    """Whether going to one of the replies leaves an opponent that threatens to go to these cells without a move."""
    return is_empty(drop_lowest(threats)) and (is_empty(threats) or not is_empty(common(replies, threats)))


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
        # As in `ends`, but `further` is known not to be empty here, and to ask costs a sixth of the speed.
        if is_empty(drop_lowest(further)) and not is_empty(common(further, threats)):
            continue
        if again_whether(handed_over(position, cell), left - 1, desk) == 0:
            return 1 if desk[STOPPED] == 0 else 0
    return 0


@inner
def wins_by_territory(position: Any, left: int, desk: Any) -> int:
    """`wins`, choosing replies with more care while many cells are blank."""
    blank = popcount(position._blank)
    if blank <= MANY:
        return wins(position, left, desk)
    if not count_node(desk) or left == 1:
        return 0
    row = LINE + blank * MOST_REPLIES
    for i in range(list_replies(position, row, desk)):
        if again_whether(handed_over(position, desk[row + i] & 255), left - 1, desk) == 0:
            return 1 if desk[STOPPED] == 0 else 0
    return 0


@inner
def solve(
    low: int, high: int, own: int, other: int, left: int, nodes: int, clock: int, budget: int, address: int
) -> float:
    """1.0 if the side to move, on `own`, wins, 0.0 if not; STOPPED on the desk tells if the limit kept it unknown."""
    desk = int64s_at(address)
    open_desk(desk, nodes, clock, budget)
    position = make_position(ROWS, COLUMNS, low, high, own, other, 0)
    if not ends(moves_from(position, own), moves_from(position, other)):
        return float(wins_by_territory(position, left, desk))
    return 1.0 if count_node(desk) else 0.0


@inner
def add_cell(words: Any, i: int, cell: int) -> None:
    """Add a cell to the i-th set of two words."""
    words[2 * i + (cell >> 6)] |= uint64(1) << uint64(cell & 63)


@inner
def decide_at_once(position: Any, i: int, row: int, winning: Any, desk: Any) -> int:
    """Note the moves that win at once, and list those to be searched as keys, the best first; return their number."""
    replies = moves_from(position, location_of(position, 0))
    count = 0
    while not is_empty(replies):
        cell = lowest(replies)
        replies = without_cell(replies, cell)
        child = handed_over(position, cell)
        answers, further = moves_from(child, location_of(child, 0)), moves_from(child, cell)
        if is_empty(answers):
            add_cell(winning, i, cell)
        elif not ends(answers, further):
            worth = popcount(further) - popcount(answers) - 2 * lead(child, answers, further)
            insert(desk, row, count, ((worth + 512) << 8) | cell)
            count += 1
    return count


@inner
def solve_many(
    low: int, high: int, own: int, other: int, count: int, nodes: int, clock: int, budget: int, address: int,
    winning: int, undecided: int, spent: int,
) -> float:  # fmt: skip
    """Solve positions, each within a limit of nodes and of nanoseconds on a clock (-1: no time limit).

    Given are the addresses of the blank cells in two words (uint64), of the cells of the side to move and of its
    opponent (int64), and of a desk. To be filled are the moves that win and those that the limit left undecided, in two
    words each (uint64, zero before), and the positions visited (int64).
    """
    low_, high_, own_, other_ = uint64s_at(int64(low)), uint64s_at(int64(high)), int64s_at(own), int64s_at(other)
    desk, winning_, undecided_, spent_ = (
        int64s_at(address),
        uint64s_at(winning),
        uint64s_at(undecided),
        int64s_at(spent),
    )
    for i in range(count):
        open_desk(desk, nodes, clock, budget)
        position = make_position(ROWS, COLUMNS, low_[i], high_[i], own_[i], other_[i], 0)
        row = LINE + popcount(position._blank) * MOST_REPLIES
        for j in range(decide_at_once(position, i, row, winning_, desk)):
            cell = desk[row + j] & 255
            is_lost = wins_by_territory(handed_over(position, cell), TO_THE_END, desk) == 0
            if desk[STOPPED] != 0:
                add_cell(undecided_, i, cell)
            elif is_lost:
                add_cell(winning_, i, cell)
        spent_[i] = desk[NODES]
    return 0.0


@inner
def count_lines(position: Any, ply: int, depth: int, counts: Any) -> int:
    """Add the number of sequences of ply + 1 to `depth` moves below a position."""
    replies = moves_from(position, location_of(position, position._turn))
    counts[ply] += popcount(replies)
    if ply + 1 < depth:
        while not is_empty(replies):
            cell = lowest(replies)
            replies = drop_lowest(replies)
            count_lines(after(position, cell), ply + 1, depth, counts)
    return 0


@inner
def perft(low: int, high: int, cell_0: int, cell_1: int, turn: int, depth: int, address: int) -> float:
    """Add to counts[d - 1], at `address`, the number of sequences of d moves, for d up to `depth`."""
    position = make_position(ROWS, COLUMNS, low, high, cell_0, cell_1, turn)
    count_lines(position, int64(0), depth, int64s_at(address))
    return 0.0
