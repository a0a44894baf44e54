"""Bitboards in compiled code: a set of cells as one integer of 64 or 128 bits, passed by value.

Bit `cell` stands for the cell with that row-major number. Everything here is an LLVM intrinsic, so that a set costs
what an integer costs, on boards of up to 128 cells.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model


class BitboardType(types.Type):
    """The numba type of a set of cells held in an integer of `width` bits."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Bitboard{width}")


@register_model(BitboardType)
class _BitboardModel(models.PrimitiveModel):
    def __init__(self, manager: Any, bitboard: BitboardType) -> None:
        super().__init__(manager, bitboard, ir.IntType(bitboard.width))


def bitboard_for(cells: int) -> BitboardType:
    """The narrowest bitboard that holds `cells` cells, at most `MOST_COMPILED_CELLS`."""
    return BitboardType(64 if cells <= 64 else 128)


def widen(builder: ir.IRBuilder, cell: ir.Value, width: int) -> ir.Value:
    """An int64 cell number as an integer of `width` bits."""
    return builder.zext(cell, ir.IntType(width)) if width > 64 else cell


def narrow(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """A count or cell number of a bitboard's width as an int64."""
    return builder.trunc(value, ir.IntType(64)) if value.type.width > 64 else value


def single(builder: ir.IRBuilder, cell: ir.Value, width: int) -> ir.Value:
    """The set of one cell."""
    return builder.shl(ir.Constant(ir.IntType(width), 1), widen(builder, cell, width))


def count_bits(builder: ir.IRBuilder, bits: ir.Value) -> ir.Value:
    """How many cells a set holds, as an int64."""
    return narrow(builder, builder.ctpop(bits))


def lowest_bit(builder: ir.IRBuilder, bits: ir.Value) -> ir.Value:
    """The lowest cell of a set that is not empty, as an int64."""
    return narrow(builder, builder.cttz(bits, ir.Constant(ir.IntType(1), 1)))


def without_lowest_bit(builder: ir.IRBuilder, bits: ir.Value) -> ir.Value:
    """A set that is not empty, less its lowest cell."""
    return builder.and_(bits, builder.sub(bits, ir.Constant(bits.type, 1)))


def constant_table(builder: Any, name: str, width: int, values: tuple[int, ...]) -> Any:
    """A constant array of the module under construction; one per name, so that equal loads are seen to be equal."""
    module = builder.module
    if name in module.globals:
        return module.globals[name]
    array = ir.ArrayType(ir.IntType(width), len(values))
    table = ir.GlobalVariable(module, array, name)
    table.initializer = ir.Constant(array, list(values))
    table.global_constant = True
    table.linkage = "linkonce_odr"
    return table


def look_up(builder: Any, table: Any, index: Any) -> Any:
    """Return an element of a constant array; the index must be valid."""
    return builder.load(builder.gep(table, [ir.Constant(ir.IntType(64), 0), index], inbounds=True))


@intrinsic
def popcount(typingctx: Any, bits: Any) -> Any:
    """How many cells the set holds."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return count_bits(builder, args[0])

    return types.int64(bits), codegen


@intrinsic
def lowest(typingctx: Any, bits: Any) -> Any:
    """The lowest cell of a set that is not empty."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return lowest_bit(builder, args[0])

    return types.int64(bits), codegen


@intrinsic
def drop_lowest(typingctx: Any, bits: Any) -> Any:
    """The set less its lowest cell."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return without_lowest_bit(builder, args[0])

    return bits(bits), codegen


@intrinsic
def is_empty(typingctx: Any, bits: Any) -> Any:
    """Whether the set holds no cell."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.icmp_unsigned("==", args[0], ir.Constant(args[0].type, 0))

    return types.boolean(bits), codegen


@intrinsic
def common(typingctx: Any, a: Any, b: Any) -> Any:
    """The cells in both sets."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.and_(*args)

    return a(a, b), codegen


@intrinsic
def union(typingctx: Any, a: Any, b: Any) -> Any:
    """The cells in either set."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.or_(*args)

    return a(a, b), codegen


@intrinsic
def difference(typingctx: Any, a: Any, b: Any) -> Any:
    """The cells of the first set that are not in the second."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.and_(args[0], builder.not_(args[1]))

    return a(a, b), codegen


@intrinsic
def exclusive(typingctx: Any, a: Any, b: Any) -> Any:
    """The cells in one of two sets, but not in both."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.xor(*args)

    return a(a, b), codegen


@intrinsic
def contains(typingctx: Any, bits: Any, cell: Any) -> Any:
    """Whether the set holds the cell."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bit = single(builder, args[1], bits.width)
        return builder.icmp_unsigned("!=", builder.and_(args[0], bit), ir.Constant(bit.type, 0))

    return types.boolean(bits, types.int64), codegen


@intrinsic
def with_cell(typingctx: Any, bits: Any, cell: Any) -> Any:
    """The set with one more cell."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.or_(args[0], single(builder, args[1], bits.width))

    return bits(bits, types.int64), codegen


@intrinsic
def without_cell(typingctx: Any, bits: Any, cell: Any) -> Any:
    """The set with one cell less."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.and_(args[0], builder.not_(single(builder, args[1], bits.width)))

    return bits(bits, types.int64), codegen
