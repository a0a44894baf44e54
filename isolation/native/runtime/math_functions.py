"""The functions of `math` in compiled code: Python's values to the last bit, and its exceptions.

Python's own call the C library and raise where a finite argument has no finite value; so do these. LLVM takes such
calls for its own otherwise, and computes `pow(x, 0.5)` as a root, which differs in the last bit.
"""

from __future__ import annotations

import math
import sys
from functools import partial
from types import ModuleType
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from ..decorators import by_type, inner, of_float64s, offered
from .checked_arithmetic import constant_power, fail_if, give_up, negative_of, plus, times, whole_of
from .numpy_functions import array_power

_FRACTION = ir.DoubleType()
_OF_ONE = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "erf", "erfc", "exp", "exp2"]
_OF_ONE += ["expm1", "log10", "log1p", "log2", "sin", "sinh", "tan", "tanh"]
_AS_NUMBA_HAS_THEM = ["copysign", "degrees", "e", "fabs", "frexp", "gcd", "inf", "isfinite", "isinf", "isnan", "nan"]
_AS_NUMBA_HAS_THEM += ["pi", "radians", "tau"]

mathematics = ModuleType("math")
"""What generated modules take for `math`: numba knows nothing of what is not defined below."""
for _name in dir(math):
    if not _name.startswith("_"):
        setattr(mathematics, _name, object())
for _name in _AS_NUMBA_HAS_THEM:
    setattr(mathematics, _name, getattr(math, _name))
_offer = partial(offered, mathematics)


# --- instructions and the C library -------------------------------------------------------------------------------


def _instruction(name: str, arguments: int) -> Any:
    """A function of compiled code: an instruction of LLVM's on float64s."""

    def written(context: Any, builder: Any, *args: Any) -> Any:
        kind = ir.FunctionType(_FRACTION, [_FRACTION] * arguments)
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.f64"), args)

    return of_float64s(written, arguments)


_nearest, _lower, _upper, _cut = (_instruction(name, 1) for name in ("rint", "floor", "ceil", "trunc"))
_root, _fused = _instruction("sqrt", 1), _instruction("fma", 3)


def _is_finite(builder: Any, value: Any) -> Any:
    size = builder.call(builder.module.declare_intrinsic("llvm.fabs", [_FRACTION]), [value])
    return builder.fcmp_ordered("<", size, ir.Constant(_FRACTION, float("inf")))


def _of_c(name: str, arguments: int = 1) -> Any:
    """A function of compiled code: that of the C library, an exception where finite arguments give no finite value.

    NaN of arguments that are not NaN is an exception, too.
    """

    def written(context: Any, builder: Any, *args: Any) -> Any:
        kind = ir.FunctionType(_FRACTION, [_FRACTION] * arguments)
        known = builder.module.globals.get(name)
        function = ir.Function(builder.module, kind, name) if known is None else known
        for attribute in ("nobuiltin", "nounwind", "readnone"):
            function.attributes.add(attribute)
        value = builder.call(function, args)
        is_number, fits = builder.fcmp_ordered("ord", value, value), _is_finite(builder, value)
        for given in args:
            is_number = builder.or_(is_number, builder.fcmp_unordered("uno", given, given))
            fits = builder.or_(fits, builder.not_(_is_finite(builder, given)))
        fail_if(context, builder, builder.not_(builder.and_(is_number, fits)))
        return value

    return of_float64s(written, arguments)


def _are_numbers(*kinds: Any) -> bool:
    return all(isinstance(kind, types.Integer | types.Float | types.Boolean) for kind in kinds)


def _offer_of_one(name: str) -> None:
    called = _of_c(name)
    _offer(lambda x: (lambda x: called(float(x))) if _are_numbers(x) else None, name)


for _name in _OF_ONE:
    if hasattr(math, _name):
        _offer_of_one(_name)

# --- powers, roots and logarithms ---------------------------------------------------------------------------------

_pow, _fmod, _atan2, _log = _of_c("pow", 2), _of_c("fmod", 2), _of_c("atan2", 2), _of_c("log")

# The power function of the C library is, before it rounds, within half of the last digit and a tenth of that from the
# value. So a product or root that is nearer is what it gives.
_SURE = 0.45 * 2.0**-53
_NORMAL = 1e-290


@inner
def square(x):
    """x ** 2, a float64."""
    product = x * x
    if (_NORMAL < product < 1e300 or x == 0.0) and abs(_fused(x, x, -product)) <= _SURE * product:
        return product
    return _pow(x, 2.0)


@inner
def fraction_power(a, b):
    """a ** b, of float64s; an exception where Python raises one, or has a complex number."""
    if b == 2.0:
        return square(a)
    if b == 0.5 and a > _NORMAL:
        root = _root(a)
        if abs(_fused(root, root, -a)) <= 2.0 * _SURE * a:
            return root
    return _pow(a, b)


@inner
def _product_power(a, b):
    result = 1
    while True:
        if b & 1:
            result = times(result, a)
        b >>= 1
        if b == 0:
            return result
        a = times(a, a)


@inner
def _square_root(x):
    if x < 0.0:
        raise ValueError("math domain error")
    return _root(x)


@inner
def _logarithm(x, base):
    return _log(x) / _log(base)


@_offer
def log(x, base=None):
    """Return math.log(x, base)."""
    if not _are_numbers(x):
        return None
    if base is None or isinstance(base, types.Omitted | types.NoneType):
        return lambda x, base=None: _log(float(x))
    return lambda x, base=None: _logarithm(float(x), float(base))


_offer(lambda x: (lambda x: _square_root(float(x))) if _are_numbers(x) else None, "sqrt")
_offer(lambda x, y: (lambda x, y: _pow(float(x), float(y))) if _are_numbers(x, y) else None, "pow")
_offer(lambda x, y: (lambda x, y: _fmod(float(x), float(y))) if _are_numbers(x, y) else None, "fmod")
_offer(lambda y, x: (lambda y, x: _atan2(float(y), float(x))) if _are_numbers(x, y) else None, "atan2")


@by_type
def power(a, b):
    """Return a ** b: whole if both are, and an exception then where b is negative."""
    if isinstance(a, types.Integer | types.Boolean) and isinstance(b, types.Integer | types.Boolean):

        def power(a, b):
            give_up(b < 0)
            return _product_power(int(a), int(b))

        return power
    return _fractions_power(a, b)


@by_type
def power_of_either_sign(a, b):
    """Return a ** b as a float64, also where both are whole; an exception where it is no small whole number then."""
    if isinstance(a, types.Integer | types.Boolean) and isinstance(b, types.Integer | types.Boolean):

        def power(a, b):
            value = fraction_power(float(a), float(b))
            give_up(b >= 0 and abs(value) > 4294967296.0)
            return value

        return power
    return _fractions_power(a, b)


def _fractions_power(a, b):
    if isinstance(a, types.Array) and _are_numbers(b):
        return lambda a, b: array_power(a, b)
    return (lambda a, b: fraction_power(float(a), float(b))) if _are_numbers(a, b) else None


@partial(by_type, prefer_literal=True)
def whole_power(a, b):
    """Return a ** b for a constant whole b: whole if a is."""
    if isinstance(a, types.Integer | types.Boolean):
        return lambda a, b: constant_power(int(a), b)
    return _fractions_power(a, b)


@by_type
def squared(a):
    """Return a ** 2."""
    if isinstance(a, types.Integer | types.Boolean):
        return lambda a: times(int(a), int(a))
    if isinstance(a, types.Float):
        return lambda a: square(a)
    return (lambda a: a * a) if isinstance(a, types.Array) else lambda a: a**2


@inner
def _square_of_short(a, whole):
    """(a - whole) ** 2: its few digits are exact where both are small, and a has not many behind the point."""
    remainder = a - float(whole)
    if -1048576 < whole < 1048576 and abs(a) < 1048576.0 and _nearest(a * 16.0) == a * 16.0:
        return remainder * remainder
    return square(remainder)


@by_type
def squared_difference(a, b):
    """Return (a - b) ** 2."""
    if isinstance(a, types.Float) and isinstance(b, types.Integer):
        return lambda a, b: _square_of_short(a, b)
    if isinstance(a, types.Integer) and isinstance(b, types.Float):
        return lambda a, b: _square_of_short(b, a)
    if isinstance(a, types.Integer) and isinstance(b, types.Integer):
        return lambda a, b: squared(plus(a, negative_of(b)))
    return lambda a, b: squared(a - b)


# --- whole numbers of fractions -----------------------------------------------------------------------------------


def _to_whole(name: str, instruction: Any) -> None:
    def typed(x):
        if isinstance(x, types.Integer | types.Boolean):
            return lambda x: int(x)
        return (lambda x: whole_of(instruction(x))) if isinstance(x, types.Float) else None

    _offer(typed, name)


_to_whole("floor", _lower)
_to_whole("ceil", _upper)
_to_whole("trunc", _cut)


@by_type
def _int(value):
    if isinstance(value, types.Float):
        return lambda value: whole_of(_cut(value))
    if isinstance(value, types.UnicodeType | types.StringLiteral):
        return lambda value: _whole_of_text(value)
    return (lambda value: int(value)) if isinstance(value, types.Integer | types.Boolean) else None


@inner
def _whole_of_text(text):
    digits = text.strip()
    sign = -1 if digits[:1] == "-" else 1
    if digits[:1] == "-" or digits[:1] == "+":
        digits = digits[1:]
    if len(digits) == 0 or len(digits) > 18:
        raise ValueError("no whole number, or a large one")
    number = 0
    for digit in digits:
        value = ord(digit) - 48
        if value < 0 or value > 9:
            raise ValueError("no whole number")
        number = 10 * number + value
    return sign * number


@by_type
def _abs(value):
    if isinstance(value, types.Integer | types.Boolean):

        def absolute(value):
            whole = int(value)
            return negative_of(whole) if whole < 0 else whole

        return absolute
    return lambda value: abs(value)


@inner
def _to_digits(x, digits):
    """round(x, digits) of a float64: of the numbers with so many digits the nearest, of two the even one.

    x times a power of ten is a float64 and an error that is one as well, which decides what is just between two.
    """
    if x == 0.0 or not math.isfinite(x):
        return x
    if digits < 0:
        return _to_tens(x, -digits)
    tens = 10.0 ** min(digits, 22)
    product = x * tens
    if abs(product) >= 1e16:  # more digits than a float64 has
        return x
    give_up(digits > 22 or abs(product) > 2.0**51)
    error = _fused(x, tens, -product)
    rounded = _nearest(product)
    if abs(product - rounded) == 0.5 and error != 0.0:
        rounded = product + math.copysign(0.5, error)
    return rounded / tens


@inner
def _to_tens(x, zeros):
    give_up(zeros > 15 or abs(x) > 2.0**53)
    tens = 10.0**zeros
    rounded = _nearest(x / tens)
    remainder = _fused(-rounded, tens, x)
    if abs(remainder) > tens / 2.0 or (abs(remainder) == tens / 2.0 and rounded % 2.0 == 1.0):
        rounded += math.copysign(1.0, remainder)
    return rounded * tens


@by_type
def _round(value, digits=None):
    if not _are_numbers(value):
        return None
    is_whole = not isinstance(value, types.Float)
    if digits is None or isinstance(digits, types.Omitted | types.NoneType):
        if is_whole:
            return lambda value, digits=None: int(value)
        return lambda value, digits=None: whole_of(_nearest(value))
    if not isinstance(digits, types.Integer):
        return None
    if is_whole:
        return lambda value, digits=None: int(value) if digits >= 0 else whole_of(_to_digits(float(value), digits))
    return lambda value, digits=None: _to_digits(value, digits)


@inner
def _to_digits_of_numpy(x, digits):
    tens = 10.0 ** abs(digits)
    return _nearest(x * tens) / tens if digits >= 0 else _nearest(x / tens) * tens


@by_type
def _round_of_numpy(value, digits=None):
    if not isinstance(value, types.Float) or not isinstance(digits, types.Integer):
        return _round(value, digits)
    return lambda value, digits=None: _to_digits_of_numpy(value, digits)


@by_type
def _round_of_either(value, digits=None):
    """Return round(value, digits), where NumPy rounds its numbers alike."""
    if not isinstance(value, types.Float) or not isinstance(digits, types.Integer):
        return _round(value, digits)

    def rounded(value, digits=None):
        rounded = _to_digits(value, digits)
        give_up(rounded != _to_digits_of_numpy(value, digits))
        return rounded

    return rounded


# --- distances ----------------------------------------------------------------------------------------------------

_SPLIT = 134217729.0


@inner
def _split(x):
    high = x * _SPLIT - (x * _SPLIT - x)
    return high, x - high


@inner
def _length_in_three_parts(values, scale):
    """The length of a vector times a scale, as Python 3.11 computes it (`vector_norm` in mathmodule.c)."""
    total, first, second, third = 1.0, 0.0, 0.0, 0.0
    for value in values:
        high, low = _split(value * scale)
        both = total + high * high
        first += (total - both) + high * high
        total = both + 2.0 * high * low
        second += (both - total) + 2.0 * high * low
        third += low * low
    length = math.sqrt(total - 1.0 + (first + second + third))
    high, low = _split(length)
    both = total - high * high
    first += (total - both) - high * high
    total = both - 2.0 * high * low
    second += (both - total) - 2.0 * high * low
    both = total - low * low
    third += (total - both) - low * low
    remainder = both - 1.0 + (first + second + third)
    return length + remainder / (2.0 * length)


@inner
def _length_in_two_parts(values, scale):
    """The length of a vector times a scale, as Python computes it from 3.12 on."""
    total, first, second = 1.0, 0.0, 0.0
    for value in values:
        scaled = value * scale
        product = scaled * scaled
        both = total + product
        first += _fused(scaled, scaled, -product)
        second += (total - both) + product
        total = both
    length = math.sqrt(total - 1.0 + (first + second))
    product = -length * length
    both = total + product
    first += _fused(-length, length, -product)
    second += (total - both) + product
    remainder = both - 1.0 + (first + second)
    return length + remainder / (2.0 * length)


_scaled_length = _length_in_two_parts if sys.version_info >= (3, 12) else _length_in_three_parts


@inner
def _length(values):
    largest, has_nan = 0.0, False
    for value in values:
        largest = max(largest, abs(value)) if value == value else largest
        has_nan = has_nan or value != value
    if largest == math.inf:
        return math.inf
    if has_nan:
        return math.nan
    if largest == 0.0 or len(values) == 1:
        return largest
    _, exponent = math.frexp(largest)
    give_up(abs(exponent) > 1000)
    return _scaled_length(values, 2.0**-exponent) / 2.0**-exponent


_offer(lambda x, y: (lambda x, y: _length((float(x), float(y)))) if _are_numbers(x, y) else None, "hypot")


@by_type
def distance(a, b):
    """Return math.dist(a, b)."""
    if isinstance(a, types.UniTuple) and isinstance(b, types.UniTuple) and len(a) == len(b) == 2:
        return lambda a, b: _length((float(a[0] - b[0]), float(a[1] - b[1])))

    def distance(a, b):
        if len(a) != len(b):
            raise ValueError("both points must have the same number of dimensions")
        return _length([float(a[index] - b[index]) for index in range(len(a))])

    return distance
