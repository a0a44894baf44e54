"""Two floods at the price of one, in compiled code: which blank cells two sets of moves claim, in turns.

A knight's move changes the colour of the cell it stands on. So cells that one side reaches with its next moves and
cells that the other reaches, if their colours differ, stay apart in one bitboard, whatever it is shifted by, and are
told apart by their colours in the end. Where both begin on the same colour, the side that comes second is a move late,
which changes nothing: it claims nothing of what the first reaches as early.
"""

from __future__ import annotations

from numba.extending import overload

from isolation.native import bitboards
from isolation.native.padded_bitboards import (
    closed_up,
    padded_blank,
    padded_light,
    padded_moves_from,
    padded_neighbours,
)
from isolation.native.position import PositionType, as_cells, location_of


def claimed(game, first, second):
    """Return how many blank cells the first player claims and how many the second, and the set of those left.

    Both begin with their legal moves and go on to all blank cells a knight's move away that nobody has claimed, the
    first before the second, until neither can.
    """


@overload(claimed)
def _claimed(game, first, second):
    if not isinstance(game, PositionType):
        return None

    def by_one_flood(game, first, second):
        light = padded_light(game)
        movers = padded_moves_from(game, location_of(game, first))
        waiters = padded_moves_from(game, location_of(game, second))
        first_is_light = not bitboards.is_empty(bitboards.common(movers, light))
        second_is_light = not bitboards.is_empty(bitboards.common(waiters, light))
        # What is reached by an odd number of moves of the side that begins, and by an even number.
        if first_is_light == second_is_light:
            odd = movers
            left = bitboards.difference(padded_blank(game), odd)
            front = bitboards.common(bitboards.union(padded_neighbours(game, odd), waiters), left)
        else:
            odd = bitboards.union(movers, waiters)
            left = bitboards.difference(padded_blank(game), odd)
            front = bitboards.common(padded_neighbours(game, odd), left)
        even = bitboards.difference(odd, odd)
        # Steps are cheaper than looks at whether there is anything left to claim, and four are seldom too many.
        for _ in range(2):
            left, even = bitboards.difference(left, front), bitboards.union(even, front)
            front = bitboards.common(padded_neighbours(game, front), left)
            left, odd = bitboards.difference(left, front), bitboards.union(odd, front)
            front = bitboards.common(padded_neighbours(game, front), left)
        while not bitboards.is_empty(front):
            left, even = bitboards.difference(left, front), bitboards.union(even, front)
            front = bitboards.common(padded_neighbours(game, front), left)
            left, odd = bitboards.difference(left, front), bitboards.union(odd, front)
            front = bitboards.common(padded_neighbours(game, front), left)
        if first_is_light:
            mine = bitboards.union(bitboards.common(odd, light), bitboards.difference(even, light))
        else:
            mine = bitboards.union(bitboards.difference(odd, light), bitboards.common(even, light))
        count = bitboards.popcount(mine)
        others = bitboards.popcount(bitboards.union(odd, even)) - count
        return count, others, as_cells(game, closed_up(game, left), True)

    return by_one_flood
