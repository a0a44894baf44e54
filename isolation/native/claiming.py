"""Two floods at the price of one, in compiled code: which blank cells two sets of moves claim, in turns.

A knight's move changes the colour of the cell it stands on. So cells that one side reaches with its next moves and
cells that the other reaches, if their colours differ, stay apart in one bitboard, whatever it is shifted by, and are
told apart by their colours in the end. Where both begin on the same colour, the side that comes second is a move late,
which changes nothing: it claims nothing of what the first reaches as early.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.extending import intrinsic, overload

from isolation.native import bits
from isolation.native.position import CellsType, PositionType, as_cells, neighbours


def claimed(game, first, second):
    """Return the blank cells that the first moves claim and those that the second do, as two sets.

    Both sides go on to all blank cells a knight's move away that nobody has claimed, the first before the second, until
    neither can. The cells of each set must be blank and of one colour, as moves of one player are.
    """


@intrinsic
def _light(typingctx: Any, board: Any, mask: Any) -> Any:
    """The cells of the colour that the first cell has."""
    cells = [(row, column) for row in range(board.rows) for column in range(board.columns)]
    light = sum(1 << place for place, (row, column) in enumerate(cells) if (row + column) % 2 == 0)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return ir.Constant(args[1].type, light)

    return mask(board, mask), codegen


@overload(claimed)
def _claimed(game, first, second):
    if not isinstance(game, PositionType) or not isinstance(first, CellsType) or not isinstance(second, CellsType):
        return None

    def by_one_flood(game, first, second):
        light = _light(game, first._mask)
        first_is_light = not bits.is_empty(bits.common(first._mask, light))
        second_is_light = not bits.is_empty(bits.common(second._mask, light))
        # What is reached by an odd number of moves of the side that begins, and by an even number.
        if first_is_light == second_is_light:
            odd = first._mask
            unclaimed = bits.difference(game._blank, odd)
            even = bits.common(bits.union(neighbours(game, odd), second._mask), unclaimed)
        else:
            odd = bits.union(first._mask, second._mask)
            unclaimed = bits.difference(game._blank, odd)
            even = bits.common(neighbours(game, odd), unclaimed)
        unclaimed = bits.difference(unclaimed, even)
        front = even
        while True:
            front = bits.common(neighbours(game, front), unclaimed)
            if bits.is_empty(front):
                break
            unclaimed, odd = bits.difference(unclaimed, front), bits.union(odd, front)
            front = bits.common(neighbours(game, front), unclaimed)
            unclaimed, even = bits.difference(unclaimed, front), bits.union(even, front)
        if first_is_light:
            mine = bits.union(bits.common(odd, light), bits.difference(even, light))
        else:
            mine = bits.union(bits.difference(odd, light), bits.common(even, light))
        theirs = bits.difference(bits.union(odd, even), mine)
        return as_cells(game, mine, False), as_cells(game, theirs, False)

    return by_one_flood
