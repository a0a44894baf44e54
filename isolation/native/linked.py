"""The heuristic as compiled kernels call it: a function that is linked in later."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from isolation.native.layout import RANK, SCORE, WORTH

PARAMETERS = types.CPointer(types.float64)
"""What the parameters of a heuristic are to compiled code: numbers one after another."""


@intrinsic  # type: ignore[untyped-decorator]
def linked_score(typingctx: Any, position: Any, player: Any, address: Any) -> Any:
    """The worth of a position to a player under the parameters at an address; the heuristic's exceptions go on."""
    return _call(SCORE, types.float64, position)


@intrinsic  # type: ignore[untyped-decorator]
def linked_rank(typingctx: Any, position: Any, player: Any, address: Any) -> Any:
    """The rank of what `linked_score` gives for a position that is not finished."""
    return _call(RANK, types.int64, position)


@intrinsic  # type: ignore[untyped-decorator]
def linked_rank_apart(typingctx: Any, position: Any, player: Any, address: Any) -> Any:
    """`linked_rank`, where it is called so rarely that LLVM need not put the heuristic's code there."""
    return _call(RANK, types.int64, position, "noinline")


@intrinsic  # type: ignore[untyped-decorator]
def linked_worth(typingctx: Any, rank: Any) -> Any:
    """The value that a rank stands for, infinite for won and lost."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.DoubleType(), [ir.IntType(64)])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, WORTH), args)

    return types.float64(types.int64), codegen


def _call(symbol: str, result: Any, position: Any, *attributes: str) -> Any:
    signature = result(position, types.int64, types.int64)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        convention = context.call_conv
        taken = (position, types.int64, PARAMETERS)
        kind = convention.get_function_type(signature.return_type, taken)
        function = cgutils.get_or_insert_function(builder.module, kind, symbol)
        given = [*args[:2], builder.inttoptr(args[2], context.get_value_type(PARAMETERS))]
        status, value = convention.call_function(builder, function, signature.return_type, taken, given, attributes)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return value

    return signature, codegen
