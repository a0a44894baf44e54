"""The random player."""

from __future__ import annotations

from typing import Any

from knights_isolation.isolation.native.bitboards import drop_lowest, lowest, popcount
from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.kernels.workspace import next_random
from knights_isolation.isolation.native.layout import MOVE, NODES
from knights_isolation.isolation.native.position import location_of, moves_from


@inner
def think(position: Any, depth_limit: int, flags: int, desk: Any) -> float:
    """Any legal move, each as likely; what it is worth is not asked, so its score is NaN."""
    replies = moves_from(position, location_of(position, position._turn))
    for _ in range(next_random(desk) % popcount(replies)):
        replies = drop_lowest(replies)
    desk[MOVE] = lowest(replies)
    desk[NODES] = 1
    return float("nan")
