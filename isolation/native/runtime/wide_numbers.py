"""Whole numbers of 256 bits in compiled code: boards of the third edition, and what is shifted out of them.

They are signed and combine with 64-bit ones, which become wide. Where a result might not fit, compiled code gives up
and Python computes on, as with 64 bits.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.typeconv import Conversion
from numba.extending import intrinsic, lower_cast, models, overload, overload_attribute, overload_method, register_model

from ...rules.third_edition import to_state_cell
from ..decorators import always, instructions, operation
from .checked_arithmetic import as_exact, fail_if, give_up_if, multiply, shift_right, with_overflow
from .third_state import StateType

_BITS = 256
_WIDE, _WHOLE, _BIT = ir.IntType(_BITS), ir.IntType(64), ir.IntType(1)


class WideType(types.Type):
    """The numba type of a wide whole number."""

    def __init__(self) -> None:
        super().__init__(name=f"Int{_BITS}")

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        """Every whole number is a wide one."""
        return Conversion.safe if isinstance(other, types.Integer | types.Boolean) else None

    def unify(self, typingctx: Any, other: Any) -> Any:
        """A variable that is wide once is wide always."""
        return self if isinstance(other, types.Integer | types.Boolean) else None


WIDE = WideType()


@register_model(WideType)
class _WideModel(models.PrimitiveModel):
    def __init__(self, manager: Any, wide: WideType) -> None:
        super().__init__(manager, wide, _WIDE)


@lower_cast(types.Integer, WideType)
@lower_cast(types.IntegerLiteral, WideType)
@lower_cast(types.Boolean, WideType)
def _widened(context: Any, builder: Any, from_type: Any, to_type: Any, value: Any) -> Any:
    return builder.sext(context.cast(builder, value, from_type, types.int64), _WIDE)


def _narrowed(context: Any, builder: Any, value: Any) -> Any:
    """The int64 that equals a wide number."""
    narrow = builder.trunc(value, _WHOLE)
    give_up_if(context, builder, builder.icmp_signed("!=", builder.sext(narrow, _WIDE), value))
    return narrow


# --- operators ----------------------------------------------------------------------------------------------------


def _multiply(context: Any, builder: Any, a: Any, b: Any) -> Any:
    return builder.sext(multiply(context, builder, *(_narrowed(context, builder, side) for side in (a, b))), _WIDE)


def _shift_left(context: Any, builder: Any, a: Any, b: Any) -> Any:
    fail_if(context, builder, builder.icmp_signed("<", b, ir.Constant(_WIDE, 0)))
    give_up_if(context, builder, builder.icmp_signed(">", b, ir.Constant(_WIDE, _BITS - 1)))
    shifted = builder.shl(a, b)
    give_up_if(context, builder, builder.icmp_signed("!=", builder.ashr(shifted, b), a))
    return shifted


_COMPUTED: dict[Any, Callable[..., Any]] = {
    operator.or_: lambda context, builder, a, b: builder.or_(a, b),
    operator.and_: lambda context, builder, a, b: builder.and_(a, b),
    operator.xor: lambda context, builder, a, b: builder.xor(a, b),
    operator.add: with_overflow("sadd", _WIDE),
    operator.sub: with_overflow("ssub", _WIDE),
    operator.mul: _multiply,
    operator.lshift: _shift_left,
    operator.rshift: shift_right,
}
_COMPARED = {
    **{operator.eq: "==", operator.ne: "!=", operator.lt: "<", operator.le: "<="},
    **{operator.gt: ">", operator.ge: ">="},
}


def _are_wide(a: Any, b: Any) -> bool:
    return WIDE in (a, b) and all(side == WIDE or isinstance(side, types.Integer | types.Boolean) for side in (a, b))


def _define(symbol: Any, result: Any, compute: Callable[..., Any]) -> None:
    computed = instructions(lambda a, b: result(WIDE, WIDE), compute)

    operation(symbol, _are_wide)(lambda a, b: computed(a, b))


_IN_PLACE = {symbol: getattr(operator, f"i{symbol.__name__}".rstrip("_")) for symbol in (*_COMPUTED, operator.truediv)}
for _symbol, _compute in _COMPUTED.items():
    for _either in (_symbol, _IN_PLACE[_symbol]):
        _define(_either, WIDE, _compute)
for _symbol, _sign in _COMPARED.items():
    _define(_symbol, types.boolean, lambda context, builder, a, b, sign=_sign: builder.icmp_signed(sign, a, b))


wide = instructions(lambda value: WIDE(WIDE), lambda context, builder, value: value)
"""A whole number as a wide one."""
_inverted = instructions(lambda value: WIDE(WIDE), lambda context, builder, value: builder.not_(value))


def _magnitude(builder: Any, value: Any) -> Any:
    is_negative = builder.icmp_signed("<", value, ir.Constant(_WIDE, 0))
    return builder.select(is_negative, builder.neg(value), value)


def _count_ones(context: Any, builder: Any, value: Any) -> Any:
    return builder.trunc(builder.ctpop(_magnitude(builder, value)), _WHOLE)


def _count_bits(context: Any, builder: Any, value: Any) -> Any:
    unset = builder.trunc(builder.ctlz(_magnitude(builder, value), ir.Constant(_BIT, 0)), _WHOLE)
    return builder.sub(ir.Constant(_WHOLE, _BITS), unset)


def _exact_fraction(context: Any, builder: Any, value: Any) -> Any:
    return as_exact(context, builder, _narrowed(context, builder, value))


_ones = instructions(lambda value: types.int64(WIDE), _count_ones)
"""The number of set bits in the absolute value of a wide number."""
_length = instructions(lambda value: types.int64(WIDE), _count_bits)
"""The number of bits of the absolute value of a wide number."""
narrowed = instructions(lambda value: types.int64(WIDE), _narrowed)
"""The int64 that equals a wide number."""
as_fraction = instructions(lambda value: types.float64(WIDE), _exact_fraction)
"""The float64 that equals a wide number."""


def _is_wide(value):
    return value == WIDE


operation(operator.invert, _is_wide)(lambda value: _inverted(value))
operation(operator.neg, _is_wide)(lambda value: wide(0) - value)
operation(bool, _is_wide)(lambda value: value != wide(0))
overload_method(WideType, "bit_count")(always(lambda value: _ones(value)))
overload_method(WideType, "bit_length")(always(lambda value: _length(value)))


def _with_fractions(symbol: Any, written: Any) -> None:
    @overload(written)
    def typed(a, b):
        if a == WIDE and isinstance(b, types.Float):
            return lambda a, b: symbol(as_fraction(a), b)
        if b == WIDE and isinstance(a, types.Float):
            return lambda a, b: symbol(a, as_fraction(b))
        return None


for _symbol in (operator.add, operator.sub, operator.mul, operator.truediv, *_COMPARED):
    _with_fractions(_symbol, _symbol)
    if _symbol in _IN_PLACE:
        _with_fractions(_symbol, _IN_PLACE[_symbol])


operation(operator.truediv, _are_wide)(lambda a, b: as_fraction(a) / as_fraction(b))


@overload(operator.floordiv)
def _whole_quotient(a, b):
    if not _are_wide(a, b):
        return None
    if b == WIDE:
        return lambda a, b: wide(narrowed(a) // narrowed(b))

    def whole_quotient(a, b):
        if b > 0 and b & (b - 1) == 0:  # a power of two: a may have all its bits
            places = 0
            while b > 1:
                b >>= 1
                places += 1
            return a >> places
        return wide(narrowed(a) // b)

    return whole_quotient


@overload(operator.mod)
def _remainder(a, b):
    if not _are_wide(a, b):
        return None
    if b == WIDE:
        return lambda a, b: narrowed(a) % narrowed(b)

    def remainder(a, b):
        if b > 0 and b & (b - 1) == 0:
            return narrowed(a & (b - 1))
        return narrowed(a) % b

    return remainder


# --- where they come from -----------------------------------------------------------------------------------------


@intrinsic(prefer_literal=True)
def wide_number(typingctx: Any, digits: Any) -> Any:
    """The wide number of these hexadecimal digits, a constant."""
    value = int(digits.literal_value, 16)
    return WIDE(digits), lambda context, builder, signature, args: ir.Constant(_WIDE, value)


@intrinsic
def _board_of(typingctx: Any, state: Any, blank: Any) -> Any:
    """The edition's number of a board: its rows, of 13 bits each, from the last to the first and from right to left."""
    rows, columns = state.rows, state.columns

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = args[1].type
        reverse = builder.module.declare_intrinsic("llvm.bitreverse", [kind])
        turned = builder.lshr(builder.call(reverse, [args[1]]), ir.Constant(kind, kind.width - rows * columns))
        board: Any = ir.Constant(_WIDE, 0)
        for row in range(rows):
            first = ir.Constant(kind, (rows - 1 - row) * columns)
            cells = builder.and_(builder.lshr(turned, first), ir.Constant(kind, (1 << columns) - 1))
            lowest = to_state_cell(row, columns - 1, rows, columns)
            board = builder.or_(board, builder.shl(builder.zext(cells, _WIDE), ir.Constant(_WIDE, lowest)))
        return board

    return WIDE(state, blank), codegen


overload_attribute(StateType, "board")(always(lambda state: _board_of(state, state._position._blank)))
