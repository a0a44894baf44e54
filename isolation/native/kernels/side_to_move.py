"""Positions seen from the side to move."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from knights_isolation.isolation.native.position import on_less_cells


@intrinsic
def handed_over(typingctx: Any, position: Any, cell: Any) -> Any:
    """The position after player 0, to move, has gone to a blank cell; its opponent is player 0 now, and to move."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = cgutils.create_struct_proxy(position)(context, builder, value=args[0])
        child = on_less_cells(context, builder, position, value, args[1])
        child.cell_0, child.cell_1 = value.cell_1, args[1]
        child.turn = ir.Constant(ir.IntType(64), 0)
        return child._getvalue()

    return position(position, cell), codegen


@intrinsic
def as_seen(typingctx: Any, position: Any, side: Any) -> Any:
    """A position whose player 0 is to move, with the players named so that it is player `side`, who is to move."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = cgutils.create_struct_proxy(position)(context, builder, value=args[0])
        is_first = builder.icmp_signed("==", args[1], ir.Constant(args[1].type, 0))
        mover, other = value.cell_0, value.cell_1
        value.cell_0 = builder.select(is_first, mover, other)
        value.cell_1 = builder.select(is_first, other, mover)
        value.turn = args[1]
        return value._getvalue()

    return position(position, types.int64), codegen
