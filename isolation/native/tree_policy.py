"""UCT formula and child selection of tree searches, in plain Python that numba compiles as it is."""

from __future__ import annotations

EXPLORATION = 1.0
"""The weight of the bound's second term, which sends simulations to moves seldom tried."""


def natural_log(n: int) -> float:
    """ln n, by arithmetic alone, so that it is the same to the last bit on every machine; error below 1e-9."""
    halvings, mantissa = 0, float(n)
    while mantissa > 1.5:
        mantissa *= 0.5
        halvings += 1
    z = (mantissa - 1.0) / (mantissa + 1.0)
    total, power = 0.0, z
    for k in range(1, 24, 2):
        total += power / k
        power *= z * z
    return halvings * 0.6931471805599453 + 2.0 * total


INFINITY = float("inf")


def is_more_promising(worth: float, visits: int, other_worth: float, other_visits: int) -> bool:
    """Whether a reply is looked into before another one: it is worth more, or as much and less is known of it."""
    return worth > other_worth or (worth == other_worth and visits < other_visits)


def is_safer(worth: float, visits: int, other_worth: float, other_visits: int) -> bool:
    """Whether a reply is played rather than another one.

    A win comes first and a loss last. Between others, and between losses, it is the one looked into more often: it kept
    its worth whatever was tried against it, or took longest to refute. The worth decides where that is the same.
    """
    if worth != other_worth and INFINITY in (abs(worth), abs(other_worth)):
        return worth > other_worth
    return visits > other_visits or (visits == other_visits and worth > other_worth)
