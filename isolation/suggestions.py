"""Suggest what a mistyped name may have been meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str], most: int = 1) -> str:
    """A question that names what comes nearest, with a blank behind it; empty if nothing is near.

    >>> did_you_mean("forrest", ["forest", "heatmap"]), did_you_mean("x", ["forest"])
    ('did you mean forest? ', '')
    """
    near = get_close_matches(name, list(known), n=most)
    return f"did you mean {' or '.join(near)}? " if near else ""
