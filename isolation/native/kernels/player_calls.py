"""Call a compiled player by its address, and read columns by theirs."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import int64, types
from numba.extending import intrinsic

from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.kernels.workspace import pointer_to

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
    """Call a compiled player's entry by its address."""

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
