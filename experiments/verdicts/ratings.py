"""One scale for all agents of a run."""

from __future__ import annotations

from experiments.inference.bradley_terry import Ratings, rate_agents
from experiments.statistics.run_results import RunResults


def rate(findings: RunResults, zero: str | None = None) -> Ratings:
    """Ratings in Elo with the baseline at zero, or `zero`; in a run without baseline the pool's mean is zero.

    Raises:
        ValueError: no games of `zero`.
    """
    if zero is None and findings.baseline in findings.pairs.agents:
        zero = findings.baseline
    return rate_agents(findings.pairs, zero, pool=findings.pool_of(findings.pairs.agents))
