"""Tests that come one after another, without knowing how many there will be: LOND.

The share of false discoveries among all discoveries is at most α in expectation, after any number of tests, if the
p-values are independent or positively dependent (Javanmard and Montanari 2018, *Online rules for control of false
discovery rate*; Zrnic, Ramdas and Jordan 2021, *Asynchronous online testing*). Contenders that are judged on the same
positions against the same baseline are positively dependent.
"""

from __future__ import annotations

from collections.abc import Iterable

import scipy

ALPHA = 0.05
_DECAY = 1.6


def lond_levels(p_values: Iterable[float], alpha: float = ALPHA) -> list[float]:
    """Return the level of each test and of the one that would come next.

    A test whose p-value is at most its level is a discovery, and each discovery raises the levels of later tests.
    """
    whole = float(scipy.special.zeta(_DECAY))  # shares of α fall as t^-1.6 and sum to one
    levels, discoveries = [alpha / whole], 0
    for number, p_value in enumerate(p_values, start=1):
        discoveries += p_value <= levels[-1]
        levels.append(alpha * (number + 1) ** -_DECAY / whole * (discoveries + 1))
    return levels
