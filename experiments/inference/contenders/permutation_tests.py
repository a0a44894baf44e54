"""Sign-flip permutation tests over openings.

Games that share an opening depend on each other, so a test that shuffles games, or cells of a table, is wrong: two
players of equal strength that differ in the openings that suit them would too often look different. Whole openings are
exchanged instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from ..argument_checks import Floats, Ints

_STEPS = 100
_ENUMERATED = 14
"""Number of scores up to which all sums are enumerated: 8,192 sums."""
_MULTIPLES = 60
_SLACK = 1e-9
"""Relative tolerance, in units of the sum of all scores, within which sums count as equal."""
_NOTHING = 1e-12
_NEGLIGIBLE = 1e-40
"""Values of a characteristic function below this add nothing to a probability."""


@dataclass(frozen=True)
class PermutationTest:
    """`p_value` is two-sided, `p_better` against "no better than". Both are 1 without anything to distinguish."""

    openings: int
    statistic: float
    p_value: float
    p_better: float


def score_flip_test(scores: npt.ArrayLike, statistic: float | None = None) -> PermutationTest:
    """Test the hypothesis that contender and baseline are exchangeable within every opening.

    A score is an opening's part in the statistic under the null hypothesis that both play equally well. It then has
    mean zero and either sign: for few openings this is exact if differences are symmetric, for many it holds as the
    normal distribution does (Hemerik, Goeman and Finos, 2020). `statistic` is the value that flipped sums are compared
    with, by default their own sum.

    All sums are enumerated if they are few, or if the scores are multiples of a common number; otherwise scores are
    rounded to hundredths of their mean size. Sums that differ by rounding errors alone count as equal.
    """
    array = np.asarray(scores, np.float64)
    total = float(array.sum()) if statistic is None else statistic
    sizes = np.abs(array)
    reach = float(sizes.sum())
    sizes = sizes[sizes > _NOTHING * max(reach, _NOTHING)]
    if reach < _NOTHING or not total:
        return PermutationTest(array.size, 0.0, 1.0, 1.0)
    if sizes.size <= _ENUMERATED:
        return _enumerated(array.size, total, sizes)
    unit = _unit(sizes)
    slack = _SLACK * reach / unit if unit else 0.5
    unit = unit or reach / (_STEPS * array.size)
    whole, times = np.unique(np.round(sizes / unit).astype(np.int64), return_counts=True)
    return _tails(array.size, total, total / unit, slack, whole[whole > 0], times[whole > 0])


def _enumerated(openings: int, statistic: float, sizes: Floats) -> PermutationTest:
    sums = np.array([sizes[-1]])
    for size in sizes[:-1]:
        sums = np.concatenate([sums + size, sums - size])
    slack = _SLACK * float(sizes.sum())
    as_far = float((np.abs(sums) >= abs(statistic) - slack).mean())
    # a sum and its mirror image are equally likely
    as_good = float(((sums >= statistic - slack).mean() + (-sums >= statistic - slack).mean()) / 2)
    least = 0.5**sizes.size
    return PermutationTest(openings, statistic, max(as_far, 2 * least), max(as_good, least))


def _unit(sizes: Floats) -> float:
    """Return the largest number of which all sizes are multiples; 0 if it would be too small or does not exist."""
    least = float(sizes.min())
    if float(sizes.max()) > least * _MULTIPLES:
        return 0.0
    for parts in range(1, _MULTIPLES + 1):
        multiples = sizes * parts / least
        if np.abs(multiples - np.round(multiples)).max() < _SLACK * parts:
            return least / parts
    return 0.0


def _tails(openings: int, statistic: float, observed: float, slack: float, sizes: Ints, times: Ints) -> PermutationTest:
    """Return how often flipped sums of these sizes are as large as `observed`, within `slack`."""
    sums, chances = _flip_distribution(sizes, times)
    # far in the tail rounding errors exceed the probability: never claim less than is certain
    least = max(0.5 ** float(times.sum()), 1e-12)
    p_better = max(float(chances[sums >= observed - slack].sum()), least)
    p_value = max(float(chances[np.abs(sums) >= abs(observed) - slack].sum()), 2 * least)
    return PermutationTest(openings, statistic, min(p_value, 1.0), min(p_better, 1.0))


def _flip_distribution(sizes: Ints, times: Ints) -> tuple[Ints, Floats]:
    """Return the attainable sums Σ ±v over all openings, and their probabilities; `times[i]` have size `sizes[i]`."""
    # Such a sum is 2·W − Σ v·mᵥ, W = Σ v·Bᵥ with Bᵥ binomial(mᵥ, ½). The characteristic function of W at frequency f is
    # the product of (cos πfv · e^{-πifv})^mᵥ. With many openings nearly all of its values are negligible.
    reach = int(sizes @ times)
    length = scipy.fft.next_fast_len(reach + 1, real=True)
    frequencies = np.arange(length // 2 + 1) / length
    left, cosines = np.arange(frequencies.size), np.ones(frequencies.size)
    for index in np.argsort(-times, kind="stable"):
        size, count = int(sizes[index]), int(times[index])
        half_turns = frequencies[left] * size
        # exact remainder by 2; NumPy's own, and powers of negative numbers, are many times slower
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
    chances = scipy.fft.irfft(characteristic, length)[: reach + 1]
    return 2 * np.arange(reach + 1) - reach, np.clip(chances, 0, 1)
