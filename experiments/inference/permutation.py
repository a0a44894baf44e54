"""Permutation tests over openings.

Games that share an opening depend on each other, so a test that shuffles games, or cells of a table, is wrong: two
equal players that each suit some openings would often look different. Whole openings are exchanged instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.fft import irfft, next_fast_len

from experiments.inference.arguments import Floats, Ints

SHUFFLES = 19_999

_STEPS = 20
_NOTHING = 1e-12
_NEGLIGIBLE = 1e-40
"""Values of a characteristic function that add nothing to a probability."""


@dataclass(frozen=True)
class PermutationTest:
    """`p_value` is two-sided, `p_better` against "no better than". Both are 1 when there is nothing to tell apart."""

    openings: int
    statistic: float
    p_value: float
    p_better: float


def sign_flip_test(differences: npt.ArrayLike) -> PermutationTest:
    """Exact test that contender and baseline could change places within every opening.

    `differences` holds one whole number per opening: games won by the contender minus games won by the baseline, over
    all opponents and both sides. If both play alike, each has either sign with probability ½. The distribution of
    their sum is computed exactly, not drawn, for any number of openings.
    """
    array = np.asarray(differences)
    if not np.array_equal(array, np.round(array)):
        raise ValueError("differences must be whole numbers of games")
    sizes, times = np.unique(np.abs(array[array != 0]).astype(np.int64), return_counts=True)
    total = int(array.sum())
    if not sizes.size:
        return PermutationTest(array.size, 0.0, 1.0, 1.0)
    unit = int(np.gcd.reduce(sizes))
    return _tails(array.size, float(total), total // unit, 0.0, sizes // unit, times)


def score_flip_test(scores: npt.ArrayLike) -> PermutationTest:
    """The sign-flip test of scores that are no whole numbers.

    A score is an opening's part in the statistic, if contender and baseline play alike: of mean zero, and so of either
    sign (Hemerik, Goeman and Finos, 2020). What is flipped is rounded to twentieths of its mean size, and sums that
    fall short of the statistic by rounding alone count as reaching it.
    """
    array = np.asarray(scores, np.float64)
    total, reach = float(array.sum()), float(np.abs(array).sum())
    if reach < _NOTHING:
        return PermutationTest(array.size, 0.0, 1.0, 1.0)
    unit = reach / (_STEPS * array.size)
    sizes, times = np.unique(np.round(np.abs(array) / unit).astype(np.int64), return_counts=True)
    return _tails(array.size, total, total / unit, 0.5, sizes[sizes > 0], times[sizes > 0])


def _tails(openings: int, statistic: float, observed: float, slack: float, sizes: Ints, times: Ints) -> PermutationTest:
    """How often flipped sums of these sizes are as large as `observed`, but for `slack`."""
    sums, chances = _flip_distribution(sizes, times)
    # far in the tail rounding errors outweigh the probability: never claim less than what is certain
    least = max(0.5 ** float(times.sum()), 1e-12)
    p_better = max(float(chances[sums >= observed - slack].sum()), least)
    p_value = max(float(chances[np.abs(sums) >= abs(observed) - slack].sum()), 2 * least)
    return PermutationTest(openings, statistic, min(p_value, 1.0), min(p_better, 1.0))


def _flip_distribution(sizes: Ints, times: Ints) -> tuple[Ints, Floats]:
    """The attainable sums Σ ±v over all openings, `times[i]` of them of size `sizes[i]`, with their probabilities.

    Such a sum is 2·W − Σ v·mᵥ, W = Σ v·Bᵥ with Bᵥ binomial(mᵥ, ½). The characteristic function of W at frequency f is
    the product of (cos πfv · e^{-πifv})^mᵥ. With many openings next to all of its values are negligible.
    """
    reach = int(sizes @ times)
    length = next_fast_len(reach + 1, real=True)
    frequencies = np.arange(length // 2 + 1) / length
    left, cosines = np.arange(frequencies.size), np.ones(frequencies.size)
    for place in np.argsort(-times, kind="stable"):
        size, count = int(sizes[place]), int(times[place])
        half_turns = frequencies[left] * size
        # the remainder by 2, exactly; NumPy's own, and powers of negative numbers, are many times slower
        cosine = np.cos(np.pi * (half_turns - 2 * np.floor(half_turns / 2)))
        if count > 1:
            power = np.abs(cosine) ** count
            cosine = np.copysign(power, cosine) if count % 2 else power
        cosines = cosines * cosine
        matters = np.abs(cosines) > _NEGLIGIBLE
        left, cosines = left[matters], cosines[matters]
    phase = np.pi * np.remainder(frequencies[left] * reach, 2)
    characteristic = np.zeros(frequencies.size, np.complex128)
    characteristic[left] = cosines * np.exp(-1j * phase)
    chances = irfft(characteristic, length)[: reach + 1]
    return 2 * np.arange(reach + 1) - reach, np.clip(chances, 0, 1)


def label_test(contender: npt.ArrayLike, baseline: npt.ArrayLike, rng: np.random.Generator) -> PermutationTest:
    """Test that two sets of openings, one value each, could carry either player's name (19,999 seeded shuffles).

    For players that met different openings. Shuffling names among openings of equal value is drawn in one step.
    """
    one, other = np.asarray(contender, np.float64), np.asarray(baseline, np.float64)
    n = one.size + other.size
    if not one.size or not other.size:
        return PermutationTest(n, 0.0, 1.0, 1.0)
    values, times = np.unique(np.round(np.concatenate([one, other]), 9), return_counts=True)
    mean = float(values @ times) / n
    observed = float(one.mean()) - mean
    draws = rng.multivariate_hypergeometric(times, one.size, size=SHUFFLES, method="marginals") @ values
    shifts = draws / one.size - mean
    slack = 1e-9
    as_far = int(np.count_nonzero(np.abs(shifts) >= abs(observed) - slack))
    as_good = int(np.count_nonzero(shifts >= observed - slack))
    statistic = float(one.mean() - other.mean())
    return PermutationTest(n, statistic, (1 + as_far) / (1 + SHUFFLES), (1 + as_good) / (1 + SHUFFLES))
