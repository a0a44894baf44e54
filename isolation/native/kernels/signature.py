"""The one signature of every compiled player."""

from __future__ import annotations

from numba import types

ENTRY = types.float64(
    types.uint64,  # low 64 blank cells
    types.uint64,  # high 64 blank cells
    types.int64,  # the cell of the player to move
    types.int64,  # the cell of its opponent
    types.int64,  # depth, or 0 to deepen until the limit
    types.int64,  # node limit
    types.int64,  # the clock of a time limit, or -1
    types.int64,  # the time limit in nanoseconds
    types.int64,  # flags
    types.int64,  # seed
    types.int64,  # the address of the desk
)
