"""The call of a compiled player, known by its address alone, from compiled code."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from isolation.native.kernels.signature import ENTRY

# A compiled player is a row of seven numbers.
ADDRESS, DEPTH_LIMIT, NODE_LIMIT, CLOCK, BUDGET, FLAGS, LATE_AFTER = range(7)


@intrinsic
def call_player(
    typingctx: Any, address: Any, low: Any, high: Any, own: Any, other: Any, depth: Any, nodes: Any, clock: Any,
    budget: Any, flags: Any, seed: Any, desk: Any,
) -> Any:  # fmt: skip
    """Call a compiled player's entry by its address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = [ir.IntType(64)] * len(ENTRY.args)
        function = builder.inttoptr(args[0], ir.FunctionType(ir.DoubleType(), kinds).as_pointer())
        return builder.call(function, args[1:])

    return types.float64(types.int64, *ENTRY.args), codegen
