"""Small forest plots for the list of runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, MARGIN = 132.0, 40.0, 3.0
_SPANS = (5.0, 10.0, 25.0, 50.0)
_MOST = 24
_ROLES = {"better": "better", "worse": "worse"}


@dataclass(frozen=True)
class Mark:
    """An interval from `low` to `high` with its `estimate`, in the picture's units, and the class of its verdict."""

    low: str
    estimate: str
    high: str
    y: str
    role: str


@dataclass(frozen=True)
class Thumbnail:
    """A small forest plot; `span` is the number of points from its middle to its edge."""

    marks: tuple[Mark, ...]
    span: float
    radius: float


def thumbnail(bars: Sequence[tuple[float, float, float, str, str]]) -> Thumbnail | None:
    """Return the picture of intervals in percentage points, best first; None without any. Many are thinned out."""
    finite = [bar for bar in bars if all(map(math.isfinite, bar[:3]))]
    if not finite:
        return None
    step = math.ceil(len(finite) / _MOST)
    shown = finite[::step]
    widest = max(max(abs(low), abs(high)) for low, _, high, *_ in shown)
    span = next((span for span in _SPANS if widest <= span), _SPANS[-1])
    gap = (HEIGHT - 2 * MARGIN) / len(shown)

    def x(value: float) -> str:
        share = max(-1.0, min(1.0, value / span))
        return f"{WIDTH / 2 * (1 + share * (1 - 2 * MARGIN / WIDTH)):.1f}"

    marks = tuple(
        Mark(x(low), x(estimate), x(high), f"{MARGIN + gap * (number + 0.5):.1f}", _ROLES.get(verdict, "unsure"))
        for number, (low, estimate, high, verdict, _) in enumerate(shown)
    )
    return Thumbnail(marks, span, min(2.6, max(1.4, gap / 2.5)))
