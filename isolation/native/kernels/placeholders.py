"""Placeholders that `specialise` replaces; they make the templates importable as they are."""

from __future__ import annotations

from typing import Any

from knights_isolation.isolation.native.decorators import inner

ROWS = 7
COLUMNS = 7
ORDERED = False
QUIESCENT = False
PRUNES = False
HAS_SCORE = False


@inner
def think(position: Any, depth_limit: int, flags: int, desk: Any) -> float:
    """The choice of a move."""
    return 0.0
