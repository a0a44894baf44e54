"""Intervals for the share of independent games won: Wilson, Clopper–Pearson.

Independent means: no opening is played twice, and no game depends on another. For games played in pairs, use
`pair_intervals`: swapping sides makes the two games of an opening depend on each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from .argument_checks import check_between, check_integer


@dataclass(frozen=True)
class Interval:
    """An estimate and its interval. NaN with the widest possible interval without data."""

    estimate: float
    low: float
    high: float
    confidence: float


@dataclass(frozen=True)
class Proportion(Interval):
    """A share of games won with its interval. Without games the estimate is NaN and the interval [0, 1]."""

    wins: int
    games: int
    method: str


def wilson(wins: int, games: int, confidence: float = 0.95) -> Proportion:
    """Score interval of E. B. Wilson (1927): close to nominal on average for any number of games."""
    return _proportion(wins, games, confidence, "wilson")


def clopper_pearson(wins: int, games: int, confidence: float = 0.95) -> Proportion:
    """Exact interval of Clopper and Pearson (1934): never covers less than nominal, and is wider than necessary."""
    return _proportion(wins, games, confidence, "exact")


def _proportion(wins: int, games: int, confidence: float, method: Literal["wilson", "exact"]) -> Proportion:
    name = {"wilson": "Wilson", "exact": "Clopper–Pearson"}[method]
    check_integer("games", games)
    check_integer("wins", wins)
    check_between("confidence", confidence)
    if wins > games:
        raise ValueError(f"wins must be at most games, not {wins} of {games}")
    if games == 0:
        return Proportion(math.nan, 0.0, 1.0, confidence, wins, games, name)
    from scipy.stats import binomtest

    interval = binomtest(wins, games).proportion_ci(confidence, method)
    # rounding can leave the interval slightly short of the estimate at its ends
    estimate = wins / games
    low, high = min(float(interval.low), estimate), max(float(interval.high), estimate)
    return Proportion(estimate, low, high, confidence, wins, games, name)
