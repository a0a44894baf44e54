"""Numbers and their sums, texts, truth, equality, and values that may be missing."""

from __future__ import annotations

import operator
from typing import Any

from numba import types
from numba.core.errors import TypingError
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer, signature
from numba.typed.typedobjectutils import _nonoptional

from ..decorators import by_type, for_all_types, operation
from ..position import CellsType
from .checked_arithmetic import REFUSED, give_up, plus
from .math_functions import mathematics as math
from .numpy_functions import numbers as np
from .wide_numbers import WIDE, as_fraction


@by_type
def number(value):
    """Return float(value); None and text are refused."""
    if isinstance(value, types.Optional):
        return lambda value: float(_nonoptional(value))
    if isinstance(value, types.Boolean):
        return lambda value: 1.0 if value else 0.0
    if value == WIDE:
        return lambda value: as_fraction(value)
    if isinstance(value, types.NoneType | types.UnicodeType | types.StringLiteral):
        return None
    return lambda value: float(value)


@by_type
def text(value):
    """Return str(value), of a whole number, a truth value, a text, or a tuple of whole numbers."""
    if isinstance(value, types.Boolean | types.BooleanLiteral):
        return lambda value: "True" if value else "False"
    if isinstance(value, types.UnicodeType | types.StringLiteral):
        return lambda value: value
    if isinstance(value, types.Integer):
        return lambda value: str(value)
    if isinstance(value, types.UniTuple) and isinstance(value.dtype, types.Integer) and len(value) > 1:
        return lambda value: "(" + ", ".join([str(part) for part in value]) + ")"
    raise TypingError(f"{REFUSED}it makes a text of what is no whole number and no cell: use numbers or tuples")


@by_type
def whole(value):
    """Return a whole number itself; all else is refused."""
    if isinstance(value, types.Integer):
        return lambda value: value
    raise TypingError(f"{REFUSED}it makes a text of what is no whole number: use numbers or tuples")


@by_type
def _digits(value):
    """Return a text itself, or the digits of a whole number."""
    if isinstance(value, types.UnicodeType | types.StringLiteral):
        return lambda value: value
    if isinstance(value, types.Boolean | types.BooleanLiteral):
        return lambda value: "1" if value else "0"
    return lambda value: str(value)[1:] if value < 0 else str(value)


@by_type
def _is_negative(value):
    is_number = isinstance(value, types.Integer)
    return (lambda value: value < 0) if is_number else (lambda value: False)


@by_type
def padded(value, fill, align, sign, width):
    """Return what format makes of a whole number or text; without `align` numbers stand right and texts left."""
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


@by_type
def is_whole(value):
    """Return float(value).is_integer()."""
    if isinstance(value, types.Number):
        return lambda value: math.isfinite(value) and value == np.floor(value)
    return None


operation(operator.not_, lambda items: isinstance(items, types.Set))(lambda items: len(items) == 0)


@by_type
def truth(value):
    """Return bool(value), also of what may be None."""
    if isinstance(value, types.NoneType):
        return lambda value: False
    if isinstance(value, types.Optional):
        return lambda value: value is not None and bool(_nonoptional(value))
    return lambda value: bool(value)


@by_type
def larger(a, b):
    """Return max(a, b), of cells too."""
    if isinstance(a, types.BaseTuple):
        return lambda a, b: b if b > a else a
    return lambda a, b: max(a, b)


@by_type
def smaller(a, b):
    """Return min(a, b), of cells too."""
    if isinstance(a, types.BaseTuple):
        return lambda a, b: b if b < a else a
    return lambda a, b: min(a, b)


@for_all_types
def none_of_kind(example):
    """Return None, as a value that may also be one of the kind of the example."""
    return None if len("") == 0 else example


@for_all_types
def present(is_there, value):
    """Return a value that is there; Python computes on without one."""
    give_up(not is_there)
    return value


@by_type
def is_true_of(is_there, value):
    """Return whether there is a value and it is true."""
    if isinstance(value, types.BaseTuple):
        has_parts = len(value) > 0
        return lambda is_there, value: is_there and has_parts
    return lambda is_there, value: is_there and bool(value)


@for_all_types
def first_of(items):
    """Return the first of the items."""
    for item in items:
        return item
    raise ValueError("nothing is first")


@by_type
def add(total, compensation, value):
    """Return a running sum and its rounding error with one more value; for floats, Neumaier's summation."""
    if not isinstance(value, types.Float):
        return lambda total, compensation, value: (plus(total, value), compensation)

    def add(total, compensation, value):
        both = total + value
        if abs(total) >= abs(value):
            return both, compensation + ((total - both) + value)
        return both, compensation + ((value - both) + total)

    return add


@by_type
def rest_of(start):
    """Return the rounding error of a start: NaN for a whole number, to which Python adds the first float plainly."""
    rest = 0.0 if isinstance(start, types.Float) else math.nan
    return lambda start: rest


@by_type
def add_from(total, compensation, value):
    """Return what `add` does, of a sum that may start from a whole number."""
    if not isinstance(value, types.Float):
        return lambda total, compensation, value: add(total, compensation, value)

    def add_from(total, compensation, value):
        if math.isnan(compensation):
            return total + value, 0.0
        return add(total, compensation, value)

    return add_from


@by_type
def added(total, compensation):
    """Return the sum."""
    if not isinstance(total, types.Float):
        return lambda total, compensation: total
    return lambda total, compensation: (
        total + compensation if compensation != 0.0 and math.isfinite(compensation) else total
    )


_READ = "static_getitem"


@infer
class _PartOfOptional(AbstractTemplate):
    """The type of a part, written by its number, of a tuple that may be None."""

    key = _READ

    def generic(self, args: Any, kws: Any) -> Any:
        """Return the signature that reads the part; None for anything else."""
        whole, place = args
        if not isinstance(whole, types.Optional) or not isinstance(whole.type, types.BaseTuple):
            return None
        read = self.context.resolve_static_getitem(whole.type, place)
        return None if read is None else signature(read.return_type, *args)


@lower_builtin(_READ, types.Optional, types.IntegerLiteral)
@lower_builtin(_READ, types.Optional, types.SliceLiteral)
def _read_part(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Read the part; None raises an exception, as in Python."""
    optional, place = sig.args
    whole = context.cast(builder, args[0], optional, optional.type)
    read = context.get_function(_READ, signature(sig.return_type, optional.type, place))
    return read(builder, (whole, args[1]))


LONGEST_UNROLLED = 12
_EXACT = 2.0**53
"""Up to here sums of whole float64s are exact, in whatever order they are made."""


_TEXTS = (types.UnicodeType, types.StringLiteral)


def _equal_part_by_part(length):
    if length == 1:
        return lambda a, b: equal(a[0], b[0])
    return lambda a, b: equal(a[0], b[0]) and equal(a[1:], b[1:])


@by_type
def equal(a, b):
    """Return whether two values are equal; a tuple never equals a list."""
    if isinstance(a, types.Optional) or isinstance(b, types.Optional):
        return _equal_if_there
    tuples = isinstance(a, types.BaseTuple) + isinstance(b, types.BaseTuple)
    texts = isinstance(a, _TEXTS) + isinstance(b, _TEXTS)
    if tuples == 1 or texts == 1 or (tuples == 2 and len(a) != len(b)):
        return lambda a, b: False
    if isinstance(a, types.Tuple) or isinstance(b, types.Tuple):
        return _equal_part_by_part(len(a))
    return lambda a, b: a == b


def _equal_if_there(a, b):
    """Whether two values of which one may be None are equal: numba's own comparison raises an exception for None."""
    if a is None or b is None:
        return a is None and b is None
    return equal(_there(a), _there(b))


@by_type
def _there(value):
    """Return a value that is not None as one that cannot be."""
    is_optional = isinstance(value, types.Optional)
    return (lambda value: _nonoptional(value)) if is_optional else (lambda value: value)


def _is_collection(kind):
    return isinstance(kind, CellsType | types.BaseTuple | types.List | types.Set)


def _is_collection_and_number(a, b):
    return (_is_collection(a) and isinstance(b, types.Number)) or (isinstance(a, types.Number) and _is_collection(b))


operation(operator.eq, _is_collection_and_number)(lambda a, b: False)
operation(operator.ne, _is_collection_and_number)(lambda a, b: True)


@by_type
def contains(items, element):
    """Return whether the element is among the items."""
    if isinstance(element, types.Optional):
        return lambda items, element: element is not None and contains(items, _nonoptional(element))
    if isinstance(items, types.BaseTuple):
        if len(items) == 0:
            return lambda items, element: False
        if isinstance(items, types.UniTuple) and len(items) > LONGEST_UNROLLED:
            return _contains_by_search
        return lambda items, element: equal(items[0], element) or contains(items[1:], element)
    if isinstance(items, types.List):
        return _contains_by_search
    return lambda items, element: element in items


def _contains_by_search(items, element):
    for item in items:  # noqa: SIM110
        if equal(item, element):
            return True
    return False
