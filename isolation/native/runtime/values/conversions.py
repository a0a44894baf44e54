"""Numbers, texts, truth, and values that may be missing."""

from __future__ import annotations

import operator

from numba import types
from numba.core.errors import TypingError
from numba.extending import overload
from numba.typed.typedobjectutils import _nonoptional

from knights_isolation.isolation.native.runtime.checked_arithmetic import REFUSED, give_up
from knights_isolation.isolation.native.runtime.math_functions import mathematics as math
from knights_isolation.isolation.native.runtime.numpy_functions import numbers as np
from knights_isolation.isolation.native.runtime.wide_numbers import WIDE, as_fraction


def number(value):
    """Return float(value); None and text are refused."""


@overload(number)
def _number(value):
    if isinstance(value, types.Optional):
        return lambda value: float(_nonoptional(value))
    if isinstance(value, types.Boolean):
        return lambda value: 1.0 if value else 0.0
    if value == WIDE:
        return lambda value: as_fraction(value)
    if isinstance(value, types.NoneType | types.UnicodeType | types.StringLiteral):
        return None
    return lambda value: float(value)


def text(value):
    """Return str(value), of a whole number, a truth value, a text, or a tuple of whole numbers."""


def whole(value):
    """Return a whole number itself; all else is refused."""


@overload(text)
def _text(value):
    if isinstance(value, types.Boolean | types.BooleanLiteral):
        return lambda value: "True" if value else "False"
    if isinstance(value, types.UnicodeType | types.StringLiteral):
        return lambda value: value
    if isinstance(value, types.Integer):
        return lambda value: str(value)
    if isinstance(value, types.UniTuple) and isinstance(value.dtype, types.Integer) and len(value) > 1:
        return lambda value: "(" + ", ".join([str(part) for part in value]) + ")"
    raise TypingError(f"{REFUSED}it makes a text of what is no whole number and no cell: use numbers or tuples")


@overload(whole)
def _whole(value):
    if isinstance(value, types.Integer):
        return lambda value: value
    raise TypingError(f"{REFUSED}it makes a text of what is no whole number: use numbers or tuples")


def padded(value, fill, align, sign, width):
    """Return what format makes of a whole number or text; without `align` numbers stand right and texts left."""


def _digits(value):
    """Return a text itself, or the digits of a whole number."""


def _is_negative(value):
    """Whether a value is a number below zero."""


@overload(_digits)
def _typed_digits(value):
    if isinstance(value, types.UnicodeType | types.StringLiteral):
        return lambda value: value
    if isinstance(value, types.Boolean | types.BooleanLiteral):
        return lambda value: "1" if value else "0"
    return lambda value: str(value)[1:] if value < 0 else str(value)


@overload(_is_negative)
def _typed_is_negative(value):
    is_number = isinstance(value, types.Integer)
    return (lambda value: value < 0) if is_number else (lambda value: False)


@overload(padded)
def _padded(value, fill, align, sign, width):
    is_text = isinstance(value, types.UnicodeType | types.StringLiteral)
    if not is_text and not isinstance(value, types.Integer | types.Boolean | types.BooleanLiteral):
        raise TypingError(f"{REFUSED}it formats what is no whole number and no text: write int(x), or round(x, 2)")

    def padded(value, fill, align, sign, width):
        digits = _digits(value)
        before = "-" if _is_negative(value) else sign
        missing = width - len(before) - len(digits)
        if align == "<" or (is_text and align == ""):
            return before + digits + fill * missing
        if align == "^":
            return fill * (missing // 2) + before + digits + fill * (missing - missing // 2)
        if align == "=":
            return before + fill * missing + digits
        return fill * missing + before + digits

    return padded


def is_whole(value):
    """Return float(value).is_integer()."""


@overload(is_whole)
def _is_whole(value):
    if isinstance(value, types.Number):
        return lambda value: math.isfinite(value) and value == np.floor(value)
    return None


@overload(operator.not_)
def _is_empty_set(items):
    return (lambda items: len(items) == 0) if isinstance(items, types.Set) else None


def truth(value):
    """Return bool(value), also of what may be None."""


@overload(truth)
def _truth(value):
    if isinstance(value, types.NoneType):
        return lambda value: False
    if isinstance(value, types.Optional):
        return lambda value: value is not None and bool(_nonoptional(value))
    return lambda value: bool(value)


def present(is_there, value):
    """Return a value that is there; Python computes on without one."""


def is_true_of(is_there, value):
    """Return whether there is a value and it is true."""


def larger(a, b):
    """Return max(a, b), of cells too."""


def smaller(a, b):
    """Return min(a, b), of cells too."""


@overload(larger)
def _larger(a, b):
    if isinstance(a, types.BaseTuple):
        return lambda a, b: b if b > a else a
    return lambda a, b: max(a, b)


@overload(smaller)
def _smaller(a, b):
    if isinstance(a, types.BaseTuple):
        return lambda a, b: b if b < a else a
    return lambda a, b: min(a, b)


def none_of_kind(example):
    """Return None, as a value that may also be one of the kind of the example."""


@overload(none_of_kind)
def _none_of_kind(example):
    def none_of_kind(example):
        return None if len("") == 0 else example

    return none_of_kind


def first_of(items):
    """Return the first of the items."""


@overload(present)
def _present(is_there, value):
    def present(is_there, value):
        give_up(not is_there)
        return value

    return present


@overload(is_true_of)
def _is_true_of(is_there, value):
    if isinstance(value, types.BaseTuple):
        has_parts = len(value) > 0
        return lambda is_there, value: is_there and has_parts
    return lambda is_there, value: is_there and bool(value)


@overload(first_of)
def _first_of(items):
    def first_of(items):
        for item in items:
            return item
        raise ValueError("nothing is first")

    return first_of
