"""Bitboards in compiled code: a set of cells as one integer of 64 or 128 bits, passed by value.

Bit `cell` stands for the cell with that row-major number. Everything here is an LLVM intrinsic, so that a set costs
what an integer costs, on boards of up to 128 cells.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import models, register_model

from .decorators import instructions


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


def _of_bits(typed: Any, written: Any) -> Any:
    return instructions(typed, lambda context, builder, *given: written(builder, *given))


def _of_two(written: Any) -> Any:
    return _of_bits(lambda a, b: a(a, b), written)


def _of_cell(written: Any) -> Any:
    """A set changed by the set of one cell."""
    return _of_bits(
        lambda bits, cell: bits(bits, types.int64),
        lambda builder, bits, cell: written(builder, bits, single(builder, cell, bits.type.width)),
    )


def _is_any(builder: Any, sign: str, bits: Any) -> Any:
    return builder.icmp_unsigned(sign, bits, ir.Constant(bits.type, 0))


popcount = _of_bits(lambda bits: types.int64(bits), count_bits)
"""How many cells the set holds."""
lowest = _of_bits(lambda bits: types.int64(bits), lowest_bit)
"""The lowest cell of a set that is not empty."""
drop_lowest = _of_bits(lambda bits: bits(bits), without_lowest_bit)
"""The set less its lowest cell."""
is_empty = _of_bits(lambda bits: types.boolean(bits), lambda builder, bits: _is_any(builder, "==", bits))
"""Whether the set holds no cell."""
common = _of_two(lambda builder, a, b: builder.and_(a, b))
"""The cells in both sets."""
union = _of_two(lambda builder, a, b: builder.or_(a, b))
"""The cells in either set."""
difference = _of_two(lambda builder, a, b: builder.and_(a, builder.not_(b)))
"""The cells of the first set that are not in the second."""
exclusive = _of_two(lambda builder, a, b: builder.xor(a, b))
"""The cells in one of two sets, but not in both."""
contains = _of_bits(
    lambda bits, cell: types.boolean(bits, types.int64),
    lambda builder, bits, cell: _is_any(builder, "!=", builder.and_(bits, single(builder, cell, bits.type.width))),
)
"""Whether the set holds the cell."""
with_cell = _of_cell(lambda builder, bits, cell: builder.or_(bits, cell))
"""The set with one more cell."""
without_cell = _of_cell(lambda builder, bits, cell: builder.and_(bits, builder.not_(cell)))
"""The set with one cell less."""
