"""NumPy functions in compiled code, by NumPy's own inner loops.

NumPy's logarithms, exponentials and the like differ from those of the C library in the last digit, and from processor
to processor; its sums are made in pairs. So compiled code calls the very loops that NumPy has chosen for this
processor: `np.log` is such a loop over one number, `np.sum` that of `np.add`.

The last digit of a product of vectors or matrices depends on the order in which the processor's kernels add up, and
that on the sizes and on how the arrays lie in memory: there, too, compiled code gives NumPy's own loop what NumPy gives
it.
"""

from __future__ import annotations

from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from ..decorators import by_type, inner, of_float64s, offered
from .checked_arithmetic import REFUSED
from .numpy_loops import LOOP

_OF_ONE = ["arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cbrt", "cos", "cosh", "exp", "exp2", "expm1"]
_OF_ONE += ["log", "log10", "log1p", "log2", "sin", "sinh", "tan", "tanh"]
_OF_TWO = ("arctan2", "hypot")
BYTES = 8


class _Numbers(ModuleType):
    """NumPy as generated modules see it, with the replacements made here."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


numbers = _Numbers("numpy")
offer = partial(offered, numbers)
"""Give `numbers` a function."""


# --- loops --------------------------------------------------------------------------------------------------------


def call_loop(builder: Any, name: str, sizes: list[Any], given: list[Any], steps: list[Any]) -> None:
    """Call a loop: on addresses, with the sizes of what it runs over, and how many bytes lie between two of each."""
    whole, pointer = ir.IntType(64), ir.IntType(8).as_pointer()

    def listed(values: list[Any], kind: Any) -> Any:
        array = cgutils.alloca_once(builder, kind, size=len(values))
        for index, value in enumerate(values):
            builder.store(value, builder.gep(array, [ir.Constant(whole, index)]))
        return array

    symbol = f"{LOOP}{name}"
    pointers = builder.module.globals.get(symbol) or ir.GlobalVariable(builder.module, ir.ArrayType(pointer, 2), symbol)
    kind = ir.FunctionType(ir.VoidType(), [pointer.as_pointer(), whole.as_pointer(), whole.as_pointer(), pointer])
    zero = ir.Constant(ir.IntType(32), 0)
    function, data = (
        builder.load(builder.gep(pointers, [zero, ir.Constant(ir.IntType(32), index)])) for index in (0, 1)
    )
    builder.call(
        builder.bitcast(function, kind.as_pointer()),
        [
            listed([builder.bitcast(address, pointer) for address in given], pointer),
            listed(sizes, whole),
            listed(steps, whole),
            data,
        ],
    )


def _looped(name: str, arguments: int) -> Any:
    """A function of compiled code of float64s: NumPy's, by its loop."""

    def written(context: Any, builder: Any, *args: Any) -> Any:
        fraction, whole = ir.DoubleType(), ir.IntType(64)
        result = cgutils.alloca_once(builder, fraction)
        given = [cgutils.alloca_once_value(builder, value) for value in args]
        step, none = ir.Constant(whole, BYTES), ir.Constant(whole, 0)
        steps = [step, *[none] * (len(args) - 1), step]  # a loop looks whether its second argument stays the same
        call_loop(builder, name, [ir.Constant(whole, 1)], [*given, result], steps)
        return builder.load(result)

    return of_float64s(written, arguments)


@intrinsic
def _sum(typingctx: Any, values: Any) -> Any:
    """The sum of a contiguous array of float64s, made in pairs."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = make_array(signature.args[0])(context, builder, args[0])
        whole = ir.IntType(64)
        total = cgutils.alloca_once_value(builder, ir.Constant(ir.DoubleType(), -0.0))
        none, step = ir.Constant(whole, 0), ir.Constant(whole, BYTES)
        call_loop(builder, "add", [array.nitems], [total, array.data, total], [none, step, none])
        return builder.load(total)

    return types.float64(values), codegen


# --- functions ----------------------------------------------------------------------------------------------------


def is_number(kind: Any) -> bool:
    """Whether a type is one of numbers."""
    return isinstance(kind, types.Integer | types.Float | types.Boolean)


def _is_of_fractions(kind: Any) -> bool:
    return isinstance(kind, types.Array) and isinstance(kind.dtype, types.Float)


def _offer_loop_of_one(name: str) -> None:
    called = _looped(name, 1)

    def typed(x):
        if is_number(x):
            return lambda x: called(float(x))
        if not isinstance(x, types.Array):
            return None

        def of_array(x):
            values = np.empty(x.size, np.float64)
            for index, value in enumerate(x.flat):
                values[index] = called(float(value))
            return values.reshape(x.shape)

        return of_array

    offer(typed, name)


def _offer_loop_of_two(name: str) -> None:
    called = _looped(name, 2)
    offer(lambda x, y: (lambda x, y: called(float(x), float(y))) if is_number(x) and is_number(y) else None, name)


for _name in _OF_ONE:
    _offer_loop_of_one(_name)
for _name in _OF_TWO:
    _offer_loop_of_two(_name)
_power = _looped("power", 2)


@offer
def power(x, y):
    """Return numpy.power(x, y)."""
    if is_number(x) and is_number(y):
        if isinstance(x, types.Float) or isinstance(y, types.Float):
            return lambda x, y: _power(float(x), float(y))
        return lambda x, y: np.power(x, y)
    return _typed_power_of_each(x, y, _power) if isinstance(x, types.Array) and is_number(y) else None


def _typed_power_of_each(x, y, power_of_fraction):
    if not isinstance(x.dtype, types.Float) and not isinstance(y, types.Float):
        return _whole_array_power

    def array_power(x, y):
        values = np.empty(x.size, np.float64)
        for index, value in enumerate(x.flat):
            values[index] = power_of_fraction(float(value), float(y))
        return values.reshape(x.shape)

    return array_power


def _whole_array_power(x, y):
    if y < 0:
        raise ValueError("Integers to negative integer powers are not allowed.")
    return x**y


@inner
def _power_of_operator(x, y):
    """x ** y of a float64 in an array: NumPy's operator computes some powers by other loops."""
    if y == -1.0:
        return 1.0 / x if x != 0.0 else np.copysign(np.inf, x)
    if y == 0.5:
        return np.sqrt(x)
    return _power(x, y)


@by_type
def array_power(x, y):
    """Return x ** y of an array and a number."""
    of_fractions = isinstance(x.dtype, types.Float)
    return _typed_power_of_each(x, y, _power_of_operator if of_fractions else _power)


@by_type
def in_memory_order(values):
    """Return the elements of an array in the order in which NumPy runs over them: as they lie in memory."""
    if values.ndim != 2 or values.layout == "C":
        return lambda values: np.ascontiguousarray(values).ravel()

    def in_memory_order(values):
        by_column = abs(values.strides[0]) < abs(values.strides[1])
        return np.ascontiguousarray(values.T if by_column else values).ravel()

    return in_memory_order


@inner
def _total(values):
    return _sum(in_memory_order(values))


@offer
def sum(a, axis=None):
    """Return numpy.sum(a, axis)."""
    if not isinstance(axis, types.Omitted | types.NoneType) and axis is not None:
        return lambda a, axis=None: sum_along(a, axis)
    if is_number(a):
        return lambda a, axis=None: a
    if _is_of_fractions(a):
        return lambda a, axis=None: _total(a)
    return lambda a, axis=None: np.sum(a)


@offer
def trace(a):
    """Return numpy.trace(a)."""
    if not isinstance(a, types.Array) or a.ndim != 2:
        return None
    return (lambda a: _total(np.diag(a))) if _is_of_fractions(a) else (lambda a: np.diag(a).sum())


@by_type
def sum_along(a, axis):
    """Return numpy.sum(a, axis), of an array."""
    if not isinstance(a, types.Array):
        return None
    if not isinstance(a.dtype, types.Float):
        return lambda a, axis: np.sum(a, axis)
    if a.ndim == 1:
        return lambda a, axis: _total(a) if axis in (0, -1) else np.sum(a, axis)
    if a.ndim > 2 or a.layout != "C":
        raise TypingError(f"{REFUSED}it adds fractions along an axis of an array that is transposed or has three axes")
    return lambda a, axis: _total_of_rows(a, axis) if axis in (1, -1) else _total_of_columns(a, axis)


@inner
def _total_of_rows(a, axis):
    totals = np.empty(a.shape[0], np.float64)
    for row in range(a.shape[0]):
        totals[row] = _total(a[row])
    return totals


@inner
def _total_of_columns(a, axis):
    """The sum of each column, made row by row; a single column lies in memory as a row does."""
    if axis not in (0, -2):
        raise ValueError("axis is out of bounds")
    totals = np.zeros(a.shape[1], np.float64)
    if a.shape[1] == 1:
        totals[0] = _total(a[:, 0])
    else:
        for row in a:
            totals += row
    return totals


@offer
def pad(array, pad_width, mode="constant", constant_values=0):
    """Return numpy.pad of as many cells on all sides, filled with one number."""
    is_plain = isinstance(array, types.Array) and array.ndim in (1, 2) and isinstance(pad_width, types.Integer)
    named = getattr(mode, "value", mode) if isinstance(mode, types.Omitted) else getattr(mode, "literal_value", mode)
    if not is_plain or named != "constant":
        raise TypingError(
            f"{REFUSED}it calls numpy.pad otherwise than by one width and number: write np.full, and a slice"
        )
    if array.ndim == 1:

        def pad_line(array, pad_width, mode="constant", constant_values=0):
            padded = np.full(len(array) + 2 * pad_width, constant_values).astype(array.dtype)
            padded[pad_width : pad_width + len(array)] = array
            return padded

        return pad_line

    def pad(array, pad_width, mode="constant", constant_values=0):
        rows, columns = array.shape
        padded = np.full((rows + 2 * pad_width, columns + 2 * pad_width), constant_values).astype(array.dtype)
        padded[pad_width : pad_width + rows, pad_width : pad_width + columns] = array
        return padded

    return pad


@offer
def mean(a):
    """Return numpy.mean(a)."""
    if is_number(a):
        return lambda a: float(a)
    if not isinstance(a, types.Array):
        return None

    def mean(a):
        return _total(in_memory_order(a).astype(np.float64)) / a.size if a.size else np.nan

    return mean


@offer
def var(a):
    """Return numpy.var(a)."""
    if not isinstance(a, types.Array):
        return None

    def var(a):
        if a.size == 0:
            return np.nan
        elements = in_memory_order(a)
        deviations = elements - _total(elements.astype(np.float64)) / a.size
        return _total(deviations * deviations) / a.size

    return var


@offer
def std(a):
    """Return numpy.std(a)."""
    return (lambda a: np.sqrt(var(a))) if isinstance(a, types.Array) else None


@intrinsic
def _dot(typingctx: Any, a: Any, b: Any) -> Any:
    """The sum of the products of two contiguous arrays of float64s of one length."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        arrays = [make_array(kind)(context, builder, value) for kind, value in zip(signature.args, args, strict=True)]
        whole = ir.IntType(64)
        total = cgutils.alloca_once_value(builder, ir.Constant(ir.DoubleType(), 0.0))
        none, step = ir.Constant(whole, 0), ir.Constant(whole, BYTES)
        addresses = [*(array.data for array in arrays), total]
        sizes = [ir.Constant(whole, 1), arrays[0].nitems]
        call_loop(builder, "vecdot", sizes, addresses, [none, none, none, step, step])
        return builder.load(total)

    return types.float64(a, b), codegen


@intrinsic
def _multiply(typingctx: Any, a: Any, b: Any, product: Any, sizes: Any, steps: Any) -> Any:
    """Put the product of two arrays of float64s into a third: of so many rows, sums of so many terms, and columns.

    `steps` are the bytes between two rows and two columns of each array.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args[:3]
        arrays = [make_array(kind)(context, builder, value) for kind, value in zip(kinds, args[:3], strict=True)]
        whole = ir.IntType(64)
        outer = [ir.Constant(whole, 1), *cgutils.unpack_tuple(builder, args[3])]
        none = [ir.Constant(whole, 0)] * 3
        addresses = [array.data for array in arrays]
        call_loop(builder, "matmul", outer, addresses, [*none, *cgutils.unpack_tuple(builder, args[4])])
        return context.get_dummy_value()

    return types.none(a, b, product, sizes, steps), codegen


@inner
def fraction_dot(a, b):
    """numpy.dot of two arrays of float64s with one axis."""
    if len(a) != len(b):
        raise ValueError("shapes not aligned")
    return _dot(np.ascontiguousarray(a), np.ascontiguousarray(b))


@inner
def _rows_by_columns(a, b):
    rows, terms, columns = a.shape[0], a.shape[1], b.shape[1]
    if terms != b.shape[0]:
        raise ValueError("shapes not aligned")
    product = np.empty((rows, columns))
    sizes = (np.int64(rows), np.int64(terms), np.int64(columns))
    steps = (*_steps(a), *_steps(b), *_steps(product))
    _multiply(a, b, product, sizes, steps)
    return product


@inner
def _steps(matrix):
    """The bytes between two rows, and between two columns: NumPy passes 0 where there is one."""
    return (
        np.int64(matrix.strides[0] if matrix.shape[0] != 1 else 0),
        np.int64(matrix.strides[1] if matrix.shape[1] != 1 else 0),
    )


@inner
def _whole_rows_by_columns(a, b):
    if a.shape[1] != b.shape[0]:
        raise ValueError("shapes not aligned")
    product = np.zeros((a.shape[0], b.shape[1]), np.int64)
    for row in range(a.shape[0]):
        for column in range(b.shape[1]):
            for term in range(a.shape[1]):
                product[row, column] += a[row, term] * b[term, column]
    return product


@by_type
def _as_fractions(values):
    if isinstance(values.dtype, types.Float):
        return lambda values: values
    return lambda values: values.astype(np.float64)


@offer
def matmul(a, b):
    """Return numpy.matmul(a, b)."""
    if not all(isinstance(kind, types.Array) and kind.ndim in (1, 2) for kind in (a, b)):
        return None
    are_whole = [isinstance(kind.dtype, types.Integer) for kind in (a, b)]
    if not all(whole or isinstance(kind.dtype, types.Float) for whole, kind in zip(are_whole, (a, b), strict=True)):
        return None
    if all(are_whole):
        multiplied_wholes = _of_axes(a.ndim, b.ndim, _whole_rows_by_columns)
        return lambda a, b: multiplied_wholes(a, b)
    if a.ndim == b.ndim == 1 and a.layout == b.layout == "C":
        return lambda a, b: fraction_dot(_as_fractions(a), _as_fractions(b))
    multiplied = _of_axes(a.ndim, b.ndim, _rows_by_columns)
    return lambda a, b: multiplied(_as_fractions(a), _as_fractions(b))


def _of_axes(left, right, multiplied):
    """How arrays of one or two axes are multiplied: one with one axis stands for a row, or for a column."""
    if left == right == 1:
        return inner(lambda a, b: multiplied(np.expand_dims(a, 0), np.expand_dims(b, 1))[0, 0])
    if left == 1:
        return inner(lambda a, b: multiplied(np.expand_dims(a, 0), b)[0])
    if right == 1:
        return inner(lambda a, b: multiplied(a, np.expand_dims(b, 1)).ravel())
    return multiplied


@offer
def dot(a, b):
    """Return numpy.dot(a, b)."""
    if is_number(a) or is_number(b):
        return lambda a, b: a * b
    if matmul(a, b) is None:
        return None
    if max(a.ndim, b.ndim) > 1 and "A" in (a.layout, b.layout):
        raise TypingError(f"{REFUSED}it multiplies a part of a matrix by dot, which rounds otherwise: write a @ b")
    return lambda a, b: matmul(a, b)


setattr(numbers, "vdot", dot)  # noqa: B010
