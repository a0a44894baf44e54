"""The heuristic as kernels call it: an external function, linked later."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from knights_isolation.isolation.native.layout import RANK, SCORE, WORTH

PARAMETERS = types.CPointer(types.float64)
"""What the parameters of a heuristic are to compiled code: numbers one after another."""


@intrinsic  # type: ignore[untyped-decorator]
def linked_score(typingctx: Any, position: Any, player: Any, address: Any) -> Any:
    """The worth of a position to a player under the parameters at an address; the heuristic's exceptions go on."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _call(context, builder, SCORE, signature, args)

    return types.float64(position, types.int64, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def linked_rank(typingctx: Any, position: Any, address: Any) -> Any:
    """The rank of the worth of a position that is not finished to player 0, and so on."""
    return _ranked(position)


@intrinsic  # type: ignore[untyped-decorator]
def linked_rank_apart(typingctx: Any, position: Any, address: Any) -> Any:
    """`linked_rank`, where it is called so rarely that LLVM need not put the heuristic's code there."""
    return _ranked(position, "noinline")


@intrinsic  # type: ignore[untyped-decorator]
def linked_worth(typingctx: Any, rank: Any) -> Any:
    """The value that a rank stands for, infinite for won and lost."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.DoubleType(), [ir.IntType(64)])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, WORTH), args)

    return types.float64(types.int64), codegen


def _ranked(position: Any, *attributes: str) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first = ir.Constant(ir.IntType(64), 0)
        return _call(context, builder, RANK, signature, (args[0], first, args[1]), *attributes)

    return types.int64(position, types.int64), codegen


def _call(context: Any, builder: Any, symbol: str, signature: Any, args: Any, *attributes: str) -> Any:
    """Call a function of a position, a player and parameters, whose exceptions go on."""
    convention = context.call_conv
    result, taken = signature.return_type, (signature.args[0], types.int64, PARAMETERS)
    function = cgutils.get_or_insert_function(builder.module, convention.get_function_type(result, taken), symbol)
    given = [*args[:2], builder.inttoptr(args[2], context.get_value_type(PARAMETERS))]
    status, value = convention.call_function(builder, function, result, taken, given, attributes)
    with cgutils.if_unlikely(builder, status.is_error):
        convention.return_status_propagate(builder, status)
    return value
