"""Error rates of a season of tries: a hundred agents, each compared with one baseline on the same positions.

    python -m benchmarks.many_tries

All differences share the baseline's luck. Prints the share of false discoveries among all discoveries, and of real
effects found, with the levels of `lond_levels` and with 5 % each time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from experiments.inference.sequential.online_fdr import ALPHA, lond_levels

TRIES, SEASONS = 100, 4000
ROWS = ((0, 3.0), (5, 3.0), (10, 3.0), (10, 4.0), (30, 3.0))
"""How many effects are real, and their size in standard errors of a difference."""


def season(generator: np.random.Generator, real: int, size: float) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return which tries of a season have a real effect, at random places, and the p-values of all."""
    is_real = generator.permutation(np.arange(TRIES) < real)
    shared, own = generator.normal(), generator.normal(size=TRIES)
    z = np.where(is_real, size, 0.0) + (own - shared) / np.sqrt(2)
    return is_real, 2 * ndtr(-np.abs(z))


def rates(is_real: NDArray[np.bool_], is_found: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the share of false discoveries among all, and the share of real effects that were found."""
    false = (is_found & ~is_real).sum() / max(1, is_found.sum())
    return float(false), float((is_found & is_real).sum() / max(1, is_real.sum()))


def main() -> None:
    """Print a row for each number and size of real effects."""
    print(f"{TRIES} tries, {SEASONS:,} seasons: false discoveries and real effects found, by LOND; with 5 % each time")
    for real, size in ROWS:
        generator = np.random.default_rng(1)
        results = []
        for _ in range(SEASONS):
            is_real, p_values = season(generator, real, size)
            levels = np.array(lond_levels(p_values.tolist())[:TRIES])
            results.append((*rates(is_real, p_values <= levels), *rates(is_real, p_values <= ALPHA)))
        lond_false, lond_found, plain_false, plain_found = np.mean(results, axis=0)
        print(
            f"{real:3} real, {size:g} errors: {lond_false:.3f} and {lond_found:.2f}; "
            f"{plain_false:.2f} and {plain_found:.2f}"
        )


if __name__ == "__main__":
    main()
