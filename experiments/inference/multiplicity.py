"""Several claims in one report: the chance that any of them is false."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from experiments.inference.arguments import inside, shares
from experiments.inference.clusters import Parts

_DRAWS = 20_000


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


def joint_stretch(estimates: Sequence[Parts], confidence: float = 0.95, seed: int = 0) -> float:
    """How much wider intervals have to be to hold together with `confidence` than to hold each by itself.

    The largest of several errors that hang together as their openings do is drawn (max-T: Hothorn, Bretz and Westfall,
    2008): Student's t of the fewest openings, correlated as the parts are. Never more than Bonferroni asks for; 1 for a
    single estimate. Estimates without any error, as after a census, do not count.
    """
    inside("confidence", confidence)
    uncertain = [one for one in estimates if one.part.any()]
    if len(uncertain) < 2:
        return 1.0
    place = np.unique(np.concatenate([one.cluster for one in uncertain]), return_inverse=True)[1]
    column = np.repeat(np.arange(len(uncertain)), [one.cluster.size for one in uncertain])
    parts = np.zeros((int(place.max()) + 1, len(uncertain)))
    np.add.at(parts, (place, column), np.concatenate([one.part for one in uncertain]))
    parts = parts / np.sqrt((parts**2).sum(axis=0))
    degrees = max(min(one.clusters for one in uncertain) - 1, 1)
    rng = np.random.default_rng(seed)
    errors = rng.multivariate_normal(np.zeros(len(uncertain)), parts.T @ parts, _DRAWS, method="eigh")
    largest = np.abs(errors).max(axis=1) / np.sqrt(rng.chisquare(degrees, _DRAWS) / degrees)
    alone, at_most = (float(stdtrit(degrees, 1 - (1 - confidence) / 2 / many)) for many in (1, len(uncertain)))
    return min(max(float(np.quantile(largest, confidence)), alone), at_most) / alone
