"""Territory and distances in compiled code: both players' flood fills in one pass.

A knight's move changes the colour of the cell it stands on. So the cells that one player reaches next and those that
the other does, if their colours differ, stay apart in one bitboard, whatever it is shifted by, and a step of one flood
costs as much as a step of two. Where both begin on the same colour, one of them goes a round ahead. All bitboards are
padded ones.
"""

from __future__ import annotations

from numba.extending import overload_method

from . import bitboards
from .bitboards import padded_blank, padded_light, padded_moves_from, padded_neighbours
from .position import PositionType, location_of


@overload_method(PositionType, "territory")
def _territory(game, player):
    def territory(game, player):
        light = padded_light(game)
        movers = padded_moves_from(game, location_of(game, game._turn))
        waiters = padded_moves_from(game, location_of(game, 1 - game._turn))
        movers_are_light = not bitboards.is_empty(bitboards.common(movers, light))
        waiters_are_light = not bitboards.is_empty(bitboards.common(waiters, light))
        # What is reached by an odd number of moves of the side to move, and by an even number. On the same colour the
        # other side is a move late, which changes nothing: it claims nothing of what the side to move reaches as early.
        if movers_are_light == waiters_are_light:
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
        if movers_are_light:
            claimed = bitboards.union(bitboards.common(odd, light), bitboards.difference(even, light))
        else:
            claimed = bitboards.union(bitboards.difference(odd, light), bitboards.common(even, light))
        own = bitboards.popcount(claimed)
        other = bitboards.popcount(bitboards.union(odd, even)) - own
        return (own, other) if player == game._turn else (other, own)

    return territory


@overload_method(PositionType, "distances")
def _distances(game, player):
    size = game.rows * game.columns

    def distances(game, player):
        blank, light = padded_blank(game), padded_light(game)
        front = padded_moves_from(game, location_of(game, player))
        others = padded_moves_from(game, location_of(game, 1 - player))
        # In odd rounds the first flood is on cells of its `own` colour, the second on those of the other. `odd` are the
        # cells that may still be reached in odd rounds: of one colour by one flood, of the other by the other.
        is_dark = bitboards.is_empty(bitboards.common(front, light))
        own = bitboards.difference(blank, light) if is_dark else bitboards.common(blank, light)
        odd = even = blank
        total, total_of_other, ahead, step = 0, 0, 0, 0
        if not bitboards.is_empty(bitboards.common(others, own)):
            total, ahead = bitboards.popcount(front), 1
            odd = bitboards.difference(odd, front)
            front = bitboards.common(padded_neighbours(game, front), even)
            odd, even, own = even, odd, bitboards.difference(blank, own)
        front = bitboards.union(front, others)
        # An even round is done without a look whether anything is left: a wrong guess costs as much as a round.
        while not bitboards.is_empty(front):
            step += 1
            total += (step + ahead) * bitboards.popcount(bitboards.common(front, own))
            total_of_other += step * bitboards.popcount(bitboards.difference(front, own))
            odd = bitboards.difference(odd, front)
            front = bitboards.common(padded_neighbours(game, front), even)
            step += 1
            total += (step + ahead) * bitboards.popcount(bitboards.difference(front, own))
            total_of_other += step * bitboards.popcount(bitboards.common(front, own))
            even = bitboards.difference(even, front)
            front = bitboards.common(padded_neighbours(game, front), odd)
        unreached = bitboards.union(bitboards.common(odd, own), bitboards.difference(even, own))
        unreached_by_other = bitboards.union(bitboards.difference(odd, own), bitboards.common(even, own))
        return (
            total + size * bitboards.popcount(unreached),
            total_of_other + size * bitboards.popcount(unreached_by_other),
        )

    return distances
