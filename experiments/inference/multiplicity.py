"""Several claims in one report: the chance that any of them is false."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.inference.arguments import inside, shares


@dataclass(frozen=True)
class Holm:
    """p-values and what they are worth as a family, in the order given."""

    p_values: tuple[float, ...]
    adjusted: tuple[float, ...]

    def rejected(self, alpha: float = 0.05) -> tuple[bool, ...]:
        """Which hypotheses fall when the chance of any false rejection is to stay at `alpha`."""
        inside("alpha", alpha)
        return tuple(p <= alpha for p in self.adjusted)


def holm(p_values: Sequence[float]) -> Holm:
    """The step-down adjustment of S. Holm (1979); valid however the tests depend on each other.

    >>> holm([0.01, 0.04, 0.03]).adjusted
    (0.03, 0.06, 0.06)
    """
    p = shares("p_values", p_values)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)), 1)
    return Holm(tuple(float(v) for v in p), tuple(float(v) for v in adjusted))
