"""Solve many positions in one call: which of their moves win."""

from __future__ import annotations

from typing import Any

from numba import int64, uint64

from knights_isolation.isolation.native.bitboards import is_empty, lowest, popcount, without_cell
from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.kernels.placeholders import COLUMNS, ROWS
from knights_isolation.isolation.native.kernels.player_calls import int64s_at, uint64s_at
from knights_isolation.isolation.native.kernels.search.solve import MOST_REPLIES, ends, insert, lead, wins_by_territory
from knights_isolation.isolation.native.kernels.workspace import open_desk
from knights_isolation.isolation.native.layout import LINE, NODES, STOPPED
from knights_isolation.isolation.native.position import handed_over, location_of, make_position, moves_from

TO_THE_END = 1 << 20


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
def entry(
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
