"""Decorators for functions that only compiled code calls.

Numba makes ways into a function from Python and from C unless told not to. Nobody takes them here, and without them a
heuristic compiles in three quarters of the time.
"""

from __future__ import annotations

import warnings
from functools import partial

from numba import njit

# Values that a cast makes wrong are found by the comparison with Python, which says so in words for users.
warnings.filterwarnings("ignore", message="unsafe cast from")

inner = partial(njit, no_cpython_wrapper=True, no_cfunc_wrapper=True)
inlined = partial(njit, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)
"""`inner`, for what LLVM is to put into whatever calls it."""
written_in = partial(njit, no_cpython_wrapper=True, no_cfunc_wrapper=True, inline="always")
"""`inner`, for what numba is to write into whatever calls it, so that `again` calls that."""
