"""Recursion without numba's wrappers, at the price of a plain call.

Numba returns a status in place of a value, which it stores through a pointer, and clears the memory for both at every
call. So a function calls itself here by a private way in, into which LLVM puts its code, and which returns the value
in a register. An exception of the heuristic ends the search there, as NaN does.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from knights_isolation.isolation.native.layout import CHECKPOINT, GIVEN_UP, NODE_LIMIT


@intrinsic
def again(typingctx: Any, position: Any, depth: Any, ply: Any, alpha: Any, beta: Any, desk: Any) -> Any:
    """Call the function that this stands in, which takes these arguments and returns an int64, a rank."""
    return types.int64(position, depth, ply, alpha, beta, desk), _call


@intrinsic
def again_whether(typingctx: Any, position: Any, left: Any, desk: Any) -> Any:
    """Call the function that this stands in, which takes these arguments and returns an int64, 1 or 0."""
    return types.int64(position, left, desk), _call


def _call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    flat = context.get_arg_packer(signature.args).as_arguments(builder, args)
    return builder.call(_way_in(builder.function), flat, cconv="fastcc")


def _way_in(body: Any) -> Any:
    """A private function, in the module of a function made by numba, that calls it and returns its value."""
    module, name = body.module, f"{body.name}.again"
    if name in module.globals:
        return module.globals[name]
    result, exception = (pointer.type.pointee for pointer in body.args[:2])
    way_in = ir.Function(module, ir.FunctionType(result, [argument.type for argument in body.args[2:]]), name)
    way_in.linkage = "internal"
    way_in.calling_convention = "fastcc"
    way_in.attributes.add("noinline")
    builder = ir.IRBuilder(way_in.append_basic_block())
    value, raised = builder.alloca(result), builder.alloca(exception)
    status = builder.call(body, [value, raised, *way_in.args], attrs=("alwaysinline",))
    with cgutils.if_unlikely(builder, builder.icmp_signed("!=", status, ir.Constant(status.type, 0))):
        for slot, number in ((GIVEN_UP, 1), (NODE_LIMIT, 0), (CHECKPOINT, 0)):
            at = builder.gep(way_in.args[-1], [ir.Constant(ir.IntType(64), slot)])
            builder.store(ir.Constant(ir.IntType(64), number), at)
        builder.ret(ir.Constant(result, 0))
    builder.ret(builder.load(value))
    return way_in
