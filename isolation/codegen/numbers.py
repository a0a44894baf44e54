"""Numbers: conversions, arithmetic with Python's results and exceptions, comparisons, tables."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from hashlib import sha256
from typing import Any, NoReturn

from llvmlite import ir

from .flow import Flow
from .kinds import number_kind
from .values import (
    FLOAT,
    INT,
    LEAST,
    MOST,
    WIDE,
    Cell,
    Choice,
    Number,
    Optional,
    Signal,
    Slot,
    Static,
    UnsupportedError,
    Value,
    is_number,
    real,
    truth,
    whole,
)

OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
}  # fmt: skip
SYMBOLS: dict[Any, str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "==",
    ast.IsNot: "!=",
}  # fmt: skip
_EXACT = 1 << 53
"""Up to here every whole number is a float64."""


def is_numeric(value: Value) -> bool:
    """Return whether a value is a number, one of several numbers, or may be None instead."""
    return number_kind(value) is not None or (isinstance(value, Optional) and is_numeric(value.value))


def number(flow: Flow, value: Value) -> Number:
    """A value as a number with a signal of its own.

    Raises:
        UnsupportedError: it is none.
    """
    if isinstance(value, Number):
        return value
    if isinstance(value, Optional):
        flow.fail_if(value.signal, TypeError)
        return number(flow, value.value)
    kind = number_kind(value)
    if kind is None:
        raise UnsupportedError("arithmetic with what is no number")
    if isinstance(value, Static):
        return Number(kind.name, ir.Constant(kind.signal, value.value), kind.low, kind.high)
    assert isinstance(value, Choice)
    if kind.name == "float" and not all(float(option) == option or option != option for option in value.values):
        raise UnsupportedError("an int that no float equals, among floats")
    options = [int(option) if kind.name != "float" else float(option) for option in value.values]
    signal = look_up(flow, options, value.signal, INT if kind.name == "bool" else kind.signal)
    if kind.name == "bool":
        signal = flow.build.trunc(signal, ir.IntType(1))
    return Number(kind.name, signal, kind.low, kind.high)


def to_float(flow: Flow, value: Value) -> Signal:
    """The signal of a number as a float64, as `float` gives it."""
    if isinstance(value, Static) and is_number(value.value):
        return real(value.value)
    if isinstance(value, Choice) and number_kind(value):
        if not all(abs(option) < 1 << 1000 for option in value.values if isinstance(option, int)):
            raise UnsupportedError("an int that is too large for a float")
        return look_up(flow, [float(option) for option in value.values], value.signal, FLOAT)
    given = number(flow, value)
    if given.name == "float":
        return given.signal
    if is_wide(given):
        given = to_int(flow, given)
    return flow.build.uitofp(given.signal, FLOAT) if given.name == "bool" else flow.build.sitofp(given.signal, FLOAT)


def to_int(flow: Flow, value: Value) -> Number:
    """A whole number, or a truth value as 0 or 1.

    Raises:
        UnsupportedError: it is neither.
    """
    given = number(flow, value)
    if given.name == "float":
        raise UnsupportedError("a float where Python takes ints only")
    if is_wide(given):
        flow.give_up_if(_exceeds(flow, given))
        return Number("int", flow.build.trunc(given.signal, INT), max(given.low, LEAST), min(given.high, MOST))
    return Number("int", flow.build.zext(given.signal, INT), 0, 1) if given.name == "bool" else given


def is_wide(given: Number) -> bool:
    """Whether a number is an int in 128 bits."""
    return bool(given.signal.type == WIDE)


def _exceeds(flow: Flow, given: Number) -> Signal:
    """Whether a wide int exceeds 64 bits."""
    narrow = flow.build.sext(flow.build.trunc(given.signal, INT), WIDE)
    return flow.build.icmp_signed("!=", narrow, given.signal)


def widened(flow: Flow, given: Number) -> Number:
    """An int in 128 bits."""
    if is_wide(given):
        return given
    narrow = to_int(flow, given)
    return Number("int", flow.build.sext(narrow.signal, WIDE), narrow.low, narrow.high)


def _narrowed(flow: Flow, signal: Signal, low: int, high: int) -> Number:
    """A wide int between bounds, in 64 bits if they allow it."""
    if low >= LEAST and high <= MOST:
        return Number("int", flow.build.trunc(signal, INT), low, high)
    return Number("int", signal, low, high)


def static(flow: Flow, value: Any) -> Value:
    """A Python object as a value; the parameter that a slot stands for."""
    if not isinstance(value, Slot):
        return Static(value)
    loaded = flow.build.load(flow.build.gep(flow.parameters, [whole(value.index)]))
    if not value.is_whole:
        return Number("float", loaded)
    return Number("int", flow.build.fptosi(loaded, INT), value.low, value.high)


def look_up(flow: Flow, values: list[Any], index: Signal, kind: Any) -> Signal:
    """An element of a constant table."""
    if len({repr(value) for value in values}) == 1:
        return ir.Constant(kind, values[0])
    if len(values) == 2:
        is_first = flow.build.icmp_signed("==", index, whole(0))
        return flow.build.select(is_first, *(ir.Constant(kind, value) for value in values))
    array = ir.ArrayType(kind, len(values))
    constant = ir.Constant(array, [ir.Constant(kind, value) for value in values])
    return flow.build.load(flow.build.gep(_table(flow, constant), [whole(0), index], inbounds=True))


def _table(flow: Flow, constant: ir.Constant) -> Any:
    name = f"table.{sha256(str(constant).encode()).hexdigest()[:16]}"
    if name not in flow.module.globals:
        table = ir.GlobalVariable(flow.module, constant.type, name)
        table.initializer, table.global_constant, table.linkage = constant, True, "internal"
    return flow.module.globals[name]


def choice(flow: Flow, signal: Signal, values: list[Any]) -> Value:
    """One of several objects: known if they are the same."""
    options = tuple(map(Static, values))
    return options[0] if all(option == options[0] for option in options) else Choice(signal, options)


def lifted(flow: Flow, function: Callable[..., Any], *values: Value) -> Value | None:
    """A pure function of static values and of choices with one index, applied to every option.

    None if the values are others, or the function raises for an option.
    """
    indices = [value.signal for value in values if isinstance(value, Choice)]
    if not indices or any(index is not indices[0] for index in indices):
        return None
    if not all(isinstance(value, Static | Choice) for value in values):
        return None
    length = next(len(value.options) for value in values if isinstance(value, Choice))
    columns = [value.values if isinstance(value, Choice) else [value.value] * length for value in values]  # type: ignore[attr-defined]
    try:
        results = [function(*arguments) for arguments in zip(*columns, strict=True)]
    except Exception:
        return None
    return choice(flow, indices[0], results)


_MOST_COMBINED = 2048
"""How many combinations of arguments a function is computed for while compiling."""


def tabulated(flow: Flow, function: Callable[..., Any], *values: Value) -> Value | None:
    """A pure function of values of which each has few options, as a table; None if they have many, or it raises."""
    choices = [as_choice(flow, value) for value in values]
    if any(one is None for one in choices):
        return None
    known = lifted(flow, function, *(one for one in choices if one is not None))
    if known is not None:
        return known
    index: Signal = whole(0)
    combined: list[tuple[Any, ...]] = [()]
    seen: list[tuple[Signal, int]] = []
    for one in choices:
        assert one is not None
        earlier = next((place for signal, place in seen if isinstance(one, Choice) and signal is one.signal), None)
        if isinstance(one, Static) or earlier is not None:
            options = one.values if isinstance(one, Choice) else [one.value]
            combined = [
                (*row, (row[earlier][0], options[row[earlier][0]]) if earlier is not None else (0, options[0]))
                for row in combined
            ]
        else:
            seen.append((one.signal, len(combined[0])))
            index = flow.build.add(flow.build.mul(index, whole(len(one.options))), one.signal)
            combined = [(*row, pair) for row in combined for pair in enumerate(one.values)]
        if len(combined) > _MOST_COMBINED:
            return None
    flow.heap.spend(len(combined) // 4)
    try:
        results = [function(*(value for _, value in row)) for row in combined]
    except Exception:
        return None
    return choice(flow, index, results)


def as_choice(flow: Flow, value: Value) -> Static | Choice | None:
    """A value as one of few that are known; None if it is none."""
    if isinstance(value, Static | Choice):
        return value
    if isinstance(value, Number) and value.name == "int" and value.high - value.low < _MOST_COMBINED:
        options = tuple(map(Static, range(value.low, value.high + 1)))
        return Choice(flow.build.sub(value.signal, whole(value.low)), options)
    if isinstance(value, Number) and value.name == "bool":
        return Choice(flow.build.zext(value.signal, INT), (Static(False), Static(True)))
    if isinstance(value, Cell):
        cells = [divmod(cell, flow.columns) for cell in range(flow.rows * flow.columns)]
        return Choice(value.signal, tuple(map(Static, cells)))
    return None


# --- arithmetic


def arithmetic(flow: Flow, operation: type[ast.AST], left: Value, right: Value) -> Value:
    """What an operator gives for two numbers, at least one of which is not known."""
    known = lifted(flow, OPERATORS[operation], left, right)
    if known is not None:
        return known
    if operation is ast.Pow:
        return _power(flow, left, right)
    a, b = number(flow, left), number(flow, right)
    if operation in (ast.BitAnd, ast.BitOr, ast.BitXor) and a.name == b.name == "bool":
        return Number("bool", getattr(flow.build, _BITS[operation])(a.signal, b.signal), 0, 1)
    if operation is ast.Div:
        return _quotient(flow, left, right, a, b)
    if "float" in (a.name, b.name):
        return _of_floats(flow, operation, *_floats(flow, left, right, a, b))
    if is_wide(a) or is_wide(b) or _is_long_shift(operation, a, b):
        return _of_wide(flow, operation, a, b)
    return _OF_INTS[operation](flow, operation, to_int(flow, a), to_int(flow, b))


def _is_long_shift(operation: type[ast.AST], a: Number, b: Number) -> bool:
    """Whether a shift to the left may exceed 64 bits, but not 126."""
    is_shift = operation is ast.LShift and a.name == "int" and b.name == "int"
    return is_shift and b.low >= 0 and a.low >= 0 and MOST < a.high << min(b.high, 200) < 1 << 126


def _of_wide(flow: Flow, operation: type[ast.AST], a: Number, b: Number) -> Number:
    """An operation on ints one of which may exceed 64 bits."""
    if operation in (ast.LShift, ast.RShift):
        by = to_int(flow, b)
        if by.low < 0:
            flow.fail_if(flow.build.icmp_signed("<", by.signal, whole(0)), ValueError)
        a, most = widened(flow, a), ir.Constant(WIDE, 127)
        shift = flow.build.sext(by.signal, WIDE)
        if operation is ast.RShift:
            shift = flow.build.select(flow.build.icmp_signed(">", shift, most), most, shift)
            low, high = min(0, a.low) if a.low < 0 else 0, max(0, a.high >> max(0, by.low))
            return _narrowed(flow, flow.build.ashr(a.signal, shift), low, high)
        shifted = flow.build.shl(a.signal, shift)
        if by.high < 127 and a.low >= 0 and a.high << by.high < 1 << 126:
            return _narrowed(flow, shifted, 0, a.high << by.high)
        flow.give_up_if(flow.build.icmp_signed(">", by.signal, whole(126)))
        flow.give_up_if(flow.build.icmp_signed("!=", flow.build.ashr(shifted, shift), a.signal))
        return Number("int", shifted, 0 if a.low >= 0 else -_WIDEST, _WIDEST)
    a, b = widened(flow, a), widened(flow, b)
    if operation in _BITS:
        signal = getattr(flow.build, _BITS[operation])(a.signal, b.signal)
        if a.low >= 0 and b.low >= 0:
            top = (1 << max(a.high, b.high).bit_length()) - 1
            return _narrowed(flow, signal, 0, min(a.high, b.high) if operation is ast.BitAnd else top)
        if operation is ast.BitAnd and max(a.low, b.low) >= 0:
            return _narrowed(flow, signal, 0, a.high if a.low >= 0 else b.high)
        return Number("int", signal, -_WIDEST, _WIDEST)
    if operation not in (ast.Add, ast.Sub):
        raise UnsupportedError("an int of more than 64 bits")
    name = "add" if operation is ast.Add else "sub"
    ends = [OPERATORS[operation](x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    result = getattr(flow.build, f"s{name}_with_overflow")(a.signal, b.signal)
    flow.give_up_if(flow.build.extract_value(result, 1))
    low, high = max(min(ends), -_WIDEST), min(max(ends), _WIDEST)
    return _narrowed(flow, flow.build.extract_value(result, 0), low, high)


_WIDEST = (1 << 127) - 1


_BITS: dict[Any, str] = {ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor"}


def _floats(flow: Flow, left: Value, right: Value, a: Number, b: Number) -> list[Signal]:
    """Two numbers as float64s; ints that are none end the call."""
    return [
        to_float(flow, value if isinstance(value, Static) else exact(flow, given))
        for value, given in ((left, a), (right, b))
    ]


def exact(flow: Flow, given: Number) -> Number:
    """A number of which it is certain that it is a float64."""
    if is_wide(given):
        given = to_int(flow, given)
    if given.name == "int" and not (given.low >= -_EXACT and given.high <= _EXACT):
        shifted = flow.build.add(given.signal, whole(_EXACT))
        flow.give_up_if(flow.build.icmp_unsigned(">", shifted, whole(2 * _EXACT)))
    return given


def _quotient(flow: Flow, left: Value, right: Value, a: Number, b: Number) -> Number | Static:
    divided, by = _floats(flow, left, right, a, b)
    if isinstance(right, Static):
        if right.value == 0:
            flow.fail(ZeroDivisionError)
            return Static(None)
    elif not (b.name == "int" and (b.low > 0 or b.high < 0)):
        flow.fail_if(flow.build.fcmp_ordered("==", by, real(0)), ZeroDivisionError)
    return Number("float", flow.build.fdiv(divided, by))


def _of_floats(flow: Flow, operation: type[ast.AST], a: Signal, b: Signal) -> Number:
    build = flow.build
    if operation in (ast.Add, ast.Sub, ast.Mult):
        name = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul"}[operation]
        return Number("float", getattr(build, name)(a, b))
    if operation not in (ast.Mod, ast.FloorDiv):
        raise UnsupportedError("bits of floats")
    flow.fail_if(build.fcmp_ordered("==", b, real(0)), ZeroDivisionError)
    build, zero = flow.build, real(0)
    rest = build.frem(a, b)
    has_other_sign = build.xor(build.fcmp_ordered("<", rest, zero), build.fcmp_ordered("<", b, zero))
    is_wrong = build.and_(build.fcmp_ordered("!=", rest, zero), has_other_sign)
    signed_zero = call_math(flow, "llvm.copysign.f64", zero, b)
    if operation is ast.FloorDiv:
        quotient = build.fdiv(build.fsub(a, rest), b)
        quotient = build.select(is_wrong, build.fsub(quotient, real(1)), quotient)
        below = call_math(flow, "llvm.floor.f64", quotient)
        is_low = build.fcmp_ordered(">", build.fsub(quotient, below), real(0.5))
        nearest = build.select(is_low, build.fadd(below, real(1)), below)
        of_zero = call_math(flow, "llvm.copysign.f64", zero, build.fdiv(a, b))
        return Number("float", build.select(build.fcmp_ordered("==", quotient, zero), of_zero, nearest))
    rest = build.select(is_wrong, build.fadd(rest, b), rest)
    return Number("float", build.select(build.fcmp_ordered("==", rest, zero), signed_zero, rest))


def _sum(flow: Flow, operation: type[ast.AST], a: Number, b: Number) -> Number:
    """The sum, difference or product of two ints; what exceeds 64 bits is left to Python."""
    name = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}[operation]  # type: ignore[index]
    ends = [OPERATORS[operation](x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    low, high = min(ends), max(ends)
    if low >= LEAST and high <= MOST:
        return Number("int", getattr(flow.build, name)(a.signal, b.signal, flags=("nsw",)), low, high)
    result = getattr(flow.build, f"s{name}_with_overflow")(a.signal, b.signal)
    flow.give_up_if(flow.build.extract_value(result, 1))
    return Number("int", flow.build.extract_value(result, 0), max(low, LEAST), min(high, MOST))


def _floor(flow: Flow, operation: type[ast.AST], a: Number, b: Number) -> Number:
    """Floor division and remainder of ints."""
    if not (b.low > 0 or b.high < 0):
        flow.fail_if(flow.build.icmp_signed("==", b.signal, whole(0)), ZeroDivisionError)
    build = flow.build
    if a.low >= 0 and b.low > 0:
        if operation is ast.FloorDiv:
            return Number("int", build.udiv(a.signal, b.signal), a.low // b.high, a.high // b.low)
        return Number("int", build.urem(a.signal, b.signal), 0, min(a.high, b.high - 1))
    if a.low == LEAST and b.low <= -1 <= b.high:
        flow.give_up_if(build.icmp_signed("==", a.signal, whole(LEAST)))
        build = flow.build
    quotient, rest = build.sdiv(a.signal, b.signal), build.srem(a.signal, b.signal)
    has_other_sign = build.icmp_signed("<", build.xor(rest, b.signal), whole(0))
    is_wrong = build.and_(build.icmp_signed("!=", rest, whole(0)), has_other_sign)
    if operation is ast.FloorDiv:
        most = max(abs(a.low), abs(a.high))
        return Number("int", build.sub(quotient, build.zext(is_wrong, INT)), max(-most - 1, LEAST), min(most, MOST))
    low, high = (0, b.high - 1) if b.low > 0 else (b.low + 1, 0) if b.high < 0 else (b.low, b.high)
    return Number("int", build.add(rest, build.select(is_wrong, b.signal, whole(0))), low, high)


def _bits(flow: Flow, operation: type[ast.AST], a: Number, b: Number) -> Number:
    signal = getattr(flow.build, _BITS[operation])(a.signal, b.signal)
    if a.low >= 0 and b.low >= 0:
        most = min(a.high, b.high) if operation is ast.BitAnd else (1 << max(a.high, b.high).bit_length()) - 1
        return Number("int", signal, 0, most)
    if operation is ast.BitAnd and max(a.low, b.low) >= 0:
        return Number("int", signal, 0, a.high if a.low >= 0 else b.high)
    return Number("int", signal)


def _shift(flow: Flow, operation: type[ast.AST], a: Number, b: Number) -> Number:
    if b.low < 0:
        flow.fail_if(flow.build.icmp_signed("<", b.signal, whole(0)), ValueError)
    if operation is ast.RShift:
        by = flow.build.select(flow.build.icmp_signed(">", b.signal, whole(63)), whole(63), b.signal)
        return Number("int", flow.build.ashr(a.signal, by), min(a.low, 0), max(a.high, 0))
    if b.high > 62:
        flow.give_up_if(flow.build.icmp_signed(">", b.signal, whole(62)))
    shifted = flow.build.shl(a.signal, b.signal)
    flow.give_up_if(flow.build.icmp_signed("!=", flow.build.ashr(shifted, b.signal), a.signal))
    return Number(
        "int", shifted, min(a.low << min(b.high, 64), a.low) if a.low < 0 and b.high < 64 else LEAST if a.low < 0 else 0
    )


_OF_INTS: dict[Any, Callable[..., Number]] = {
    ast.Add: _sum, ast.Sub: _sum, ast.Mult: _sum, ast.FloorDiv: _floor, ast.Mod: _floor, ast.BitAnd: _bits,
    ast.BitOr: _bits, ast.BitXor: _bits, ast.LShift: _shift, ast.RShift: _shift,
}  # fmt: skip


def _power(flow: Flow, left: Value, right: Value) -> Value:
    base = number(flow, left)
    if isinstance(right, Static) and type(right.value) is int and 0 <= right.value <= 8 and base.name != "float":
        result: Value = Static(1)
        for _ in range(right.value):
            result = arithmetic(flow, ast.Mult, result, base) if not isinstance(result, Static) else to_int(flow, base)
        if right.value == 2 and isinstance(result, Number):
            return Number("int", result.signal, 0, max(result.high, 0))
        return result
    exponent = number(flow, right)
    if base.name != "float" and exponent.name != "float":
        table = tabulated(flow, operator.pow, left, right)
        if table is not None:
            return table
        raise UnsupportedError("a power of ints whose exponent is not known")
    x, y = _floats(flow, left, right, base, exponent)
    if not (isinstance(right, Static) and float(right.value).is_integer()):
        flow.give_up_if(flow.build.fcmp_ordered("<", x, real(0)))
    flow.fail_if(
        flow.build.and_(flow.build.fcmp_ordered("==", x, real(0)), flow.build.fcmp_ordered("<", y, real(0))),
        ZeroDivisionError,
    )
    result = call_math(flow, "pow", x, y)
    _fail_unless_finite(flow, result, [x, y])
    return Number("float", result)


def _fail_unless_finite(flow: Flow, result: Signal, arguments: list[Signal]) -> None:
    """Raise OverflowError where finite arguments give what is not finite."""
    infinite = is_not_finite(flow, result)
    for argument in arguments:
        infinite = flow.build.and_(infinite, flow.build.not_(is_not_finite(flow, argument)))
    flow.fail_if(infinite, OverflowError)


def is_not_finite(flow: Flow, signal: Signal) -> Signal:
    """Whether a float64 is infinite or no number."""
    return flow.build.fcmp_unordered("!=", flow.build.fsub(signal, signal), real(0))


def call_math(flow: Flow, name: str, *arguments: Signal) -> Signal:
    """Call a function of the C library, or one of LLVM's, of float64s."""
    function = flow.module.globals.get(name)
    if function is None:
        function = ir.Function(flow.module, ir.FunctionType(FLOAT, [FLOAT] * len(arguments)), name)
    return flow.build.call(function, arguments)


def negative(flow: Flow, value: Value) -> Value:
    """Minus a number."""
    known = lifted(flow, operator.neg, value)
    if known is not None:
        return known
    given = number(flow, value)
    if given.name == "float":
        return Number("float", flow.build.fneg(given.signal))
    return arithmetic(flow, ast.Sub, Static(0), given)


def absolute(flow: Flow, value: Value) -> Value:
    """The absolute value of a number."""
    known = lifted(flow, abs, value)
    if known is not None:
        return known
    given = number(flow, value)
    if given.name == "float":
        return Number("float", call_math(flow, "llvm.fabs.f64", given.signal))
    if is_wide(given) and given.low >= 0:
        return given
    given = to_int(flow, given)
    if given.low == LEAST:
        flow.give_up_if(flow.build.icmp_signed("==", given.signal, whole(LEAST)))
    is_negative = flow.build.icmp_signed("<", given.signal, whole(0))
    ends = abs(given.low), abs(given.high)
    signal = flow.build.select(is_negative, flow.build.sub(whole(0), given.signal), given.signal)
    return Number("int", signal, 0 if given.low <= 0 <= given.high else min(ends), min(max(ends), MOST))


def integral(flow: Flow, signal: Signal) -> Number:
    """A float64 cut down to an int; what exceeds 64 bits is left to Python, which raises for what is no number."""
    size = call_math(flow, "llvm.fabs.f64", signal)
    flow.give_up_if(flow.build.fcmp_unordered(">=", size, real(2.0**63)))
    return Number("int", flow.build.fptosi(signal, INT))


def round_to(flow: Flow, value: Value, digits: Value) -> Value:
    """A float64 rounded to so many decimals, the nearest to what it is exactly; ties are left to Python."""
    if isinstance(digits, Static) and digits.value is None:
        raise UnsupportedError("round without digits")
    given = number(flow, value)
    if given.name != "float":
        return given if isinstance(digits, Static) and digits.value >= 0 else _unsupported("digits before the point")
    if not (isinstance(digits, Static) and type(digits.value) is int and 0 <= digits.value <= 15):
        raise UnsupportedError("round to a number of digits that is not known")
    scale, build = real(10.0**digits.value), flow.build
    near = call_math(flow, "llvm.rint.f64", build.fmul(given.signal, scale))
    flow.give_up_if(build.fcmp_unordered(">=", call_math(flow, "llvm.fabs.f64", near), real(_EXACT)))
    build = flow.build
    rest = call_math(flow, "llvm.fma.f64", given.signal, scale, build.fneg(near))
    flow.give_up_if(build.fcmp_ordered("==", call_math(flow, "llvm.fabs.f64", rest), real(0.5)))
    build = flow.build
    up = build.select(build.fcmp_ordered(">", rest, real(0.5)), real(1), real(0))
    down = build.select(build.fcmp_ordered("<", rest, real(-0.5)), real(1), real(0))
    rounded = build.fdiv(build.fsub(build.fadd(near, up), down), scale)
    return Number("float", call_math(flow, "llvm.copysign.f64", rounded, given.signal))


def length_of_vector(flow: Flow, sides: list[Signal]) -> Signal:
    """What `math.hypot` gives, as CPython computes it from 3.10 on: `vector_norm` in `mathmodule.c`."""
    build, one = flow.build, real(1)
    sides = [call_math(flow, "llvm.fabs.f64", side) for side in sides]
    longest = sides[0]
    for side in sides[1:]:
        longest = build.select(build.fcmp_ordered(">", side, longest), side, longest)
    is_usual = build.and_(build.fcmp_ordered(">", longest, real(1e-300)), build.fcmp_ordered("<", longest, real(1e300)))
    flow.give_up_if(flow.build.not_(build.or_(is_usual, build.fcmp_ordered("==", longest, real(0)))))
    build = flow.build
    exponent = build.and_(build.bitcast(longest, INT), whole(0x7FF << 52))
    scale = build.bitcast(build.sub(whole(2045 << 52), exponent), FLOAT)
    total, first, second = one, real(0), real(0)

    def add_square(a: Signal, b: Signal) -> None:
        nonlocal total, first, second
        high = build.fmul(a, b)
        low = call_math(flow, "llvm.fma.f64", a, b, build.fneg(high))
        after = build.fadd(total, high)
        first = build.fadd(first, low)
        second = build.fadd(second, build.fadd(build.fsub(total, after), high))
        total = after

    for side in sides:
        scaled = build.fmul(side, scale)
        add_square(scaled, scaled)
    root = call_math(flow, "llvm.sqrt.f64", build.fadd(build.fsub(total, one), build.fadd(first, second)))
    add_square(build.fneg(root), root)
    rest = build.fadd(build.fsub(total, one), build.fadd(first, second))
    root = build.fadd(root, build.fdiv(rest, build.fmul(real(2), root)))
    is_none = build.fcmp_ordered("==", longest, real(0))
    return build.select(is_none, real(0), build.fdiv(root, scale))


def _unsupported(reason: str) -> NoReturn:
    raise UnsupportedError(reason)


# --- comparisons


def compare_numbers(flow: Flow, operation: type[ast.AST], left: Value, right: Value) -> Value:
    """A comparison of two numbers, at least one of which is not known."""
    known = lifted(flow, OPERATORS[operation], left, right)
    if known is not None:
        return known
    a, b = number(flow, left), number(flow, right)
    if "float" in (a.name, b.name):
        x, y = _floats(flow, left, right, a, b)
        compare = flow.build.fcmp_unordered if operation in (ast.NotEq, ast.IsNot) else flow.build.fcmp_ordered
        return Number("bool", compare(SYMBOLS[operation], x, y), 0, 1)
    are_wide = is_wide(a) or is_wide(b)
    a, b = (widened(flow, given) if are_wide else to_int(flow, given) for given in (a, b))
    decided = _decided(operation, a, b)
    if decided is not None:
        return Static(decided)
    return Number("bool", flow.build.icmp_signed(SYMBOLS[operation], a.signal, b.signal), 0, 1)


def _decided(operation: type[ast.AST], a: Number, b: Number) -> bool | None:
    """The result of a comparison that ranges decide; None if they do not."""
    if operation in (ast.Lt, ast.GtE) and (a.high < b.low or a.low >= b.high):
        return (a.high < b.low) == (operation is ast.Lt)
    if operation in (ast.Gt, ast.LtE) and (a.low > b.high or a.high <= b.low):
        return (a.low > b.high) == (operation is ast.Gt)
    if operation in (ast.Eq, ast.NotEq) and (a.high < b.low or a.low > b.high):
        return operation is ast.NotEq
    return None


def truth_of_number(flow: Flow, given: Number) -> Signal:
    """Whether a number is not 0, as one bit."""
    if given.name == "bool":
        return given.signal
    if given.name == "float":
        return flow.build.fcmp_unordered("!=", given.signal, real(0))
    return flow.build.icmp_signed("!=", given.signal, ir.Constant(given.signal.type, 0))


def as_bit(value: Signal | Static) -> Signal:
    """A truth value as one bit."""
    return truth(bool(value.value)) if isinstance(value, Static) else value
