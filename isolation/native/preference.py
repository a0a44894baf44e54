"""Which reply best-first search looks into and which it plays: plain Python, which compiled code takes as it is.

A reply is known by its worth to whoever makes it, infinite if proven, and by how often it was looked into.
"""

from __future__ import annotations

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
