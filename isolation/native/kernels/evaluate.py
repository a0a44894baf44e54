"""A compiled heuristic on one position."""

from __future__ import annotations

from numba import cfunc, types

from isolation.native.kernels.desk import FAILED, desk_at
from isolation.native.kernels.open_names import COLUMNS, ROWS, score
from isolation.native.position import make_position

EVALUATION = types.float64(types.uint64, types.uint64, *[types.int64] * 5)


@cfunc(EVALUATION, cache=True)
def entry(low, high, cell_0, cell_1, turn, player, address):  # type: ignore[no-untyped-def]
    """The heuristic's value to a player; an exception is left on the desk as FAILED."""
    desk = desk_at(address)
    desk[FAILED] = 1
    try:
        value = float(score(make_position(ROWS, COLUMNS, low, high, cell_0, cell_1, turn), player))
        desk[FAILED] = 0
        return value
    except Exception:
        return 0.0
