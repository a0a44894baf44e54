"""Addresses of NumPy's inner loops in this process."""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np

LOOP = "isolation_numpy_"
"""How the symbols begin of the places where the address of a loop stands, and what it is to be given."""
_FLOAT64 = 12
"""NumPy's number of the type, NPY_DOUBLE."""


class _Ufunc(ctypes.Structure):
    """The beginning of PyUFuncObject, as NumPy's documentation of its C types has it."""

    _fields_ = [
        ("references", ctypes.c_ssize_t),
        ("kind", ctypes.c_void_p),
        ("inputs", ctypes.c_int),
        ("outputs", ctypes.c_int),
        ("arguments", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("loops", ctypes.c_int),
        ("reserved", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("types", ctypes.POINTER(ctypes.c_char)),
    ]


@cache
def numpy_loop(name: str) -> ctypes.Array[ctypes.c_void_p]:
    """Two pointers: to a NumPy function's loop over float64s, and to what it is to be passed."""
    ufunc = _Ufunc.from_address(id(getattr(np, name)))
    kinds = [
        bytes(ufunc.types[at : at + ufunc.arguments]) for at in range(0, ufunc.loops * ufunc.arguments, ufunc.arguments)
    ]
    loop_index = kinds.index(bytes([_FLOAT64]) * ufunc.arguments)
    return (ctypes.c_void_p * 2)(ufunc.functions[loop_index], ufunc.data[loop_index])
