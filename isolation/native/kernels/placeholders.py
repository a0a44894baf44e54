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
def score(game: Any, player: Any, parameters: int) -> float:
    """The heuristic: the worth of a position to a player under the parameters at an address."""
    return 0.0


@inner
def rank(game: Any, parameters: int) -> int:
    """The rank of the heuristic's value of a position that is not finished to player 0, which searches compare."""
    return 0


rank_apart = rank
"""The same, where the heuristic's code should not stand in that of the search."""


@inner
def worth_of(rank: int) -> float:
    """The value that a rank stands for, infinite for won and lost."""
    return 0.0


@inner
def reply_value(position: Any, cell: int, depth: int, bound: int, desk: Any) -> int:
    """The search below the root: minimax or alpha-beta."""
    return 0


@inner
def think(position: Any, depth_limit: int, flags: int, desk: Any) -> float:
    """The choice of a move."""
    return 0.0


@inner
def descend(position: Any, depth: int, ply: int, alpha: int, beta: int, desk: Any) -> int:
    """The search below the root: alpha-beta."""
    return 0
