"""Call a compiled player by its address, or recall what a deterministic one answered before, and read columns.

The memory is a table of fixed size. A question has one slot, by a hash, and all of it is compared: an answer is that of
another question never, lost to a later one at worst.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import int64, types, uint64
from numba.extending import intrinsic

from knights_isolation.isolation.native import layout as on_desk
from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.kernels.workspace import mix, pointer_to
from knights_isolation.isolation.native.layout import ANSWER, CELLS, HIGH, LOW, SLOT, SLOTS, WHO

# A compiled player is a row of nine numbers, of which the last is its number in a memory, 0 without one.
ADDRESS, DEPTH_LIMIT, NODE_LIMIT, CLOCK, BUDGET, FLAGS, LATE_AFTER, PARAMETERS, NUMBER = range(9)
PLAYER_ROW = 9
_ARGUMENTS = [types.uint64, types.uint64, *[types.int64] * 10]

int8s_at = pointer_to(types.int8)
int16s_at = pointer_to(types.int16)
int64s_at = pointer_to(types.int64)
uint64s_at = pointer_to(types.uint64)
float64s_at = pointer_to(types.float64)


@intrinsic
def _call(
    typingctx: Any, address: Any, low: Any, high: Any, own: Any, other: Any, depth: Any, nodes: Any, clock: Any,
    budget: Any, flags: Any, seed: Any, desk: Any, parameters: Any,
) -> Any:  # fmt: skip

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = [ir.IntType(64)] * len(_ARGUMENTS)
        function = builder.inttoptr(args[0], ir.FunctionType(ir.DoubleType(), kinds).as_pointer())
        return builder.call(function, args[1:])

    return types.float64(types.int64, *_ARGUMENTS), codegen


@inner
def ask(players: Any, row: int, low: int, high: int, own: int, other: int, seed: int, address: int) -> float:
    """Ask the player whose numbers begin at `row` for a move; return the score, and write the rest on the desk."""
    return _call(
        players[row + ADDRESS], low, high, own, other, players[row + DEPTH_LIMIT], players[row + NODE_LIMIT],
        players[row + CLOCK], players[row + BUDGET], players[row + FLAGS], int64(seed), address,
        players[row + PARAMETERS],
    )  # fmt: skip


_BITS_OF_A_CELL = 7


@inner
def ask_or_recall(
    players: Any, row: int, memory: int, low: int, high: int, own: int, other: int, seed: int, address: int
) -> float:
    """`calling.ask`; a player that has a number in the memory is asked only for what is not in it.

    The answers lie on the desk either way, the nanoseconds those of the search when it was made.
    """
    who = players[row + NUMBER]
    if who == 0:
        return ask(players, row, low, high, own, other, seed, address)
    desk, numbers, scores = int64s_at(address), int64s_at(memory), float64s_at(memory)
    cells = own << _BITS_OF_A_CELL | other
    slot = SLOT * int64(mix(low ^ mix(high ^ mix(uint64(who << 2 * _BITS_OF_A_CELL | cells)))) & uint64(SLOTS - 1))
    at = slot + ANSWER
    if (
        numbers[slot + WHO] == who
        and numbers[slot + LOW] == int64(low)
        and numbers[slot + HIGH] == int64(high)
        and numbers[slot + CELLS] == cells
    ):
        desk[on_desk.FAILED] = 0
        desk[on_desk.MOVE], desk[on_desk.DEPTH], desk[on_desk.NODES] = numbers[at], numbers[at + 2], numbers[at + 3]
        desk[on_desk.NANOSECONDS], desk[on_desk.EXACT] = numbers[at + 4], numbers[at + 5]
        return scores[at + 1]
    score = ask(players, row, low, high, own, other, seed, address)
    if desk[on_desk.FAILED] == 0:
        numbers[slot + WHO], numbers[slot + CELLS] = who, cells
        numbers[slot + LOW], numbers[slot + HIGH] = int64(low), int64(high)
        numbers[at], scores[at + 1], numbers[at + 2] = desk[on_desk.MOVE], score, desk[on_desk.DEPTH]
        numbers[at + 3], numbers[at + 4] = desk[on_desk.NODES], desk[on_desk.NANOSECONDS]
        numbers[at + 5] = desk[on_desk.EXACT]
    return score
