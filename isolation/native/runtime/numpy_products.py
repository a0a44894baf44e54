"""NumPy's products of vectors and matrices in compiled code, by the loops of `np.vecdot` and `np.matmul`.

The last digit of such a product depends on the order in which the processor's kernels add up, and that on the sizes
and on how the arrays lie in memory. So compiled code gives NumPy's own loop what NumPy gives it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array

from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.runtime.checked_arithmetic import REFUSED
from knights_isolation.isolation.native.runtime.numpy_functions import BYTES, call_loop, is_number, numbers, offer


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
    """numpy.matmul of two matrices of float64s."""
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
    """numpy.matmul of two matrices of int64s."""
    if a.shape[1] != b.shape[0]:
        raise ValueError("shapes not aligned")
    product = np.zeros((a.shape[0], b.shape[1]), np.int64)
    for row in range(a.shape[0]):
        for column in range(b.shape[1]):
            for term in range(a.shape[1]):
                product[row, column] += a[row, term] * b[term, column]
    return product


def _as_fractions(values):
    """Return an array as one of float64s."""


@overload(_as_fractions)
def _typed_as_fractions(values):
    if isinstance(values.dtype, types.Float):
        return lambda values: values
    return lambda values: values.astype(np.float64)


def matmul(a, b):
    """Return numpy.matmul(a, b)."""


def dot(a, b):
    """Return numpy.dot(a, b)."""


@offer(matmul)
def _typed_matmul(a, b):
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


@offer(dot)
def _typed_dot(a, b):
    if is_number(a) or is_number(b):
        return lambda a, b: a * b
    if _typed_matmul(a, b) is None:
        return None
    if max(a.ndim, b.ndim) > 1 and "A" in (a.layout, b.layout):
        raise TypingError(f"{REFUSED}it multiplies a part of a matrix by dot, which rounds otherwise: write a @ b")
    return lambda a, b: matmul(a, b)


setattr(numbers, "vdot", dot)  # noqa: B010
