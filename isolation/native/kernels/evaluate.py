"""Evaluate one position with a compiled heuristic."""

from __future__ import annotations

from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.kernels.placeholders import COLUMNS, ROWS, score
from knights_isolation.isolation.native.kernels.workspace import desk_at
from knights_isolation.isolation.native.layout import FAILED
from knights_isolation.isolation.native.position import make_position


@inner
def entry(
    low: int, high: int, cell_0: int, cell_1: int, turn: int, player: int, address: int, parameters: int,
) -> float:  # fmt: skip
    """The heuristic's value to a player under its parameters (float64); an exception is left on the desk as FAILED."""
    desk = desk_at(address)
    desk[FAILED] = 1
    value = float(score(make_position(ROWS, COLUMNS, low, high, cell_0, cell_1, turn), player, parameters))
    desk[FAILED] = 0
    return value
