"""Sign-flip permutation tests over openings, and step-down adjusted p-values and joint intervals from them.

Games that share an opening depend on each other, so a test that shuffles games, or cells of a table, would too often
call players different that only differ in the openings that suit them. Whole openings are exchanged instead.

Adjusted p-values and intervals come from the same step-down procedure and therefore agree. Claims are ordered by the
ratio of estimate and standard error. Each is compared with the largest ratio among itself and all later claims, under
flips of whole openings that are the same for all claims (Romano and Wolf, 2005). Intervals of rejected claims hold
jointly with those of all claims, intervals of the others among themselves (Strassburger and Bretz, 2008; Guilbaud,
2008). An end on the wrong side of no difference is cut off there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from .proportions import ErrorContributions, Floats, Interval, Ints, agree, check_between, check_shares, stretch

_STEPS = 100
_ENUMERATED = 14
"""Number of openings up to which all flips are enumerated."""
_MULTIPLES = 60
_SLACK = 1e-9
"""Relative tolerance, in units of the sum of all scores, within which sums count as equal."""
_NOTHING = 1e-12
_NEGLIGIBLE = 1e-40
"""Values of a characteristic function below this add nothing to a probability."""
_DRAWS = 20_000
_FLIPS = 19_999
_CHUNK = 2_000_000
_DECAY = 1.6
"""Power of their number with which the levels of later tests fall."""


@dataclass(frozen=True)
class PermutationTest:
    """`p_value` is two-sided, `p_better` against "no better than". Both are 1 without anything to distinguish."""

    openings: int
    statistic: float
    p_value: float
    p_better: float


def score_flip_test(scores: npt.ArrayLike, statistic: float | None = None) -> PermutationTest:
    """Test the hypothesis that contender and baseline are exchangeable within every opening.

    A score is an opening's part in the statistic under the null hypothesis, where it has mean zero and either sign: for
    few openings this is exact if differences are symmetric, for many it holds as the normal distribution does (Hemerik,
    Goeman and Finos, 2020). `statistic` is the value that flipped sums are compared with, by default their own sum.

    All sums count if they are few, or if the scores are multiples of a common number; otherwise scores are rounded to
    hundredths of their mean size. Sums that differ by rounding errors alone count as equal.
    """
    array = np.asarray(scores, np.float64)
    total = float(array.sum()) if statistic is None else statistic
    sizes = np.abs(array)
    reach = float(sizes.sum())
    sizes = sizes[sizes > _NOTHING * max(reach, _NOTHING)]
    if reach < _NOTHING or not total:
        return PermutationTest(array.size, 0.0, 1.0, 1.0)
    sums: Floats | Ints
    if sizes.size <= _ENUMERATED:
        unit, slack, flipped = 1.0, _SLACK * reach, sizes.size
        sums = np.array([sizes[-1], -sizes[-1]])
        for size in sizes[:-1]:
            sums = np.concatenate([sums + size, sums - size])
        chances = np.full(sums.size, 1 / sums.size)
    else:
        unit = _unit(sizes)
        slack = _SLACK * reach / unit if unit else 0.5
        unit = unit or reach / (_STEPS * array.size)
        whole, times = np.unique(np.round(sizes / unit).astype(np.int64), return_counts=True)
        flipped = int(times[whole > 0].sum())
        sums, chances = _flip_distribution(whole[whole > 0], times[whole > 0])
    # far in the tail rounding errors exceed the probability: never claim less than is certain
    least = max(0.5 ** float(flipped), 1e-12)
    p_better = max(float(chances[sums >= total / unit - slack].sum()), least)
    p_value = max(float(chances[np.abs(sums) >= abs(total / unit) - slack].sum()), 2 * least)
    return PermutationTest(array.size, total, min(p_value, 1.0), min(p_better, 1.0))


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


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Holm's step-down adjusted p-values (1979); valid under any dependence of the tests.

    >>> holm([0.01, 0.04, 0.03])
    (0.03, 0.06, 0.06)
    """
    p = check_shares("p_values", p_values)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)), 1)
    return tuple(float(v) for v in adjusted)


def level_of(number: int, alpha: float = 0.05) -> float:
    """Return the level of one of tests that come one after another, without end: all levels sum to `alpha`.

    >>> round(level_of(1), 4), round(level_of(2), 4)
    (0.0219, 0.0072)
    """
    return float(alpha * number**-_DECAY / scipy.special.zeta(_DECAY))


def flip(parts: ErrorContributions) -> PermutationTest:
    """Sign-flip test of a single difference. Without uncertainty only its sign matters."""
    total = round(float(parts.score.sum()), 12)
    if not parts.unseen:
        return PermutationTest(parts.clusters, total, float(total == 0), float(total <= 0))
    return score_flip_test(parts.score, math.copysign(_surprise(parts), total))


class StepDown(NamedTuple):
    """Adjusted p-values and joint intervals of differences, in the order given."""

    adjusted: tuple[float, ...]
    intervals: tuple[Interval, ...]


def step_down(claims: Sequence[ErrorContributions], p_values: Sequence[float], alpha: float = 0.05) -> StepDown:
    """Adjust `p_values` of the single claims, and their intervals, for multiple testing.

    An interval excludes 0 exactly if its p-value is at most 1 − its confidence. Claims without uncertainty, such as
    those of a census, keep their values and do not count.
    """
    check_between("alpha", alpha)
    adjusted = check_shares("p_values", p_values)
    uncertain = [index for index, claim in enumerate(claims) if claim.unseen and claim.score.any()]
    chosen = [claims[index] for index in uncertain]
    wider = np.ones(len(claims))
    if len(chosen) > 1:
        adjusted[uncertain] = _adjusted(chosen, adjusted[uncertain])
        is_rejected = adjusted[uncertain] <= alpha
        together, among_rest = _widening(chosen, is_rejected, alpha)
        wider[uncertain] = np.where(is_rejected, together, among_rest)
    intervals = tuple(
        agree(stretch(claim.alone, by), p_value <= alpha)
        for claim, by, p_value in zip(claims, wider.tolist(), adjusted.tolist(), strict=True)
    )
    return StepDown(tuple(adjusted.tolist()), intervals)


def _surprise(claim: ErrorContributions) -> float:
    """Return the sum of scores that would be as extreme as the difference if openings were not from a finite pool."""
    # If only a share of the variance remains, Student's t is larger by the inverse of its root. Flipped sums are
    # compared with the sum that has this larger t.
    total, squares = abs(float(claim.score.sum())), float((claim.score**2).sum())
    if claim.unseen == 1 or not squares:
        return total
    many = max(claim.clusters, 2)
    ratio = max(total - claim.step, 0.0) ** 2 / squares
    if ratio >= many:
        return math.inf
    squared = ratio * (many - 1) / (many - ratio) / claim.unseen
    return math.sqrt(squares * many * squared / (many - 1 + squared))


def _adjusted(claims: Sequence[ErrorContributions], p_values: Floats) -> Floats:
    """Adjust p-values by the largest standardised flipped sum among the claims that are not larger."""
    sizes = np.array([math.sqrt(float((claim.score**2).sum())) for claim in claims])
    seen = np.array([_surprise(claim) for claim in claims]) / sizes
    order = np.argsort(-seen, kind="stable")
    scores = (_by_cluster(claims, [claim.score for claim in claims]) / sizes)[:, order]
    reached, flips = np.zeros(len(claims)), 0
    for signs in _signs(len(scores)):
        largest = np.maximum.accumulate(np.abs(signs @ scores)[:, ::-1], axis=1)[:, ::-1]
        reached += (largest >= seen[order] * (1 - _SLACK)).sum(axis=0)
        flips += len(signs)
    if len(scores) > _ENUMERATED:  # the observed signs are one of the flips
        reached, flips = reached + 1, flips + 1
    adjusted = np.empty(len(claims))
    adjusted[order] = np.maximum.accumulate(np.maximum(reached / flips, p_values[order]))
    return adjusted


def _signs(openings: int) -> Iterator[Floats]:
    """Yield the signs of all openings in blocks: all flips if they are few, up to the first opening's sign."""
    if openings <= _ENUMERATED:
        yield np.array([(1.0, *signs) for signs in itertools.product((1.0, -1.0), repeat=openings - 1)])
        return
    rng = np.random.default_rng(0)
    size = max(_CHUNK // openings, 1)
    for start in range(0, _FLIPS, size):
        flips = min(size, _FLIPS - start)
        bits = np.unpackbits(np.frombuffer(rng.bytes(-(-flips * openings // 8)), np.uint8), count=flips * openings)
        yield 2 * bits.reshape(flips, openings).astype(np.float64) - 1


def _by_cluster(claims: Sequence[ErrorContributions], values: Sequence[Floats]) -> Floats:
    """Return values of each claim's clusters as an array (clusters of any claim, claims)."""
    cluster = np.unique(np.concatenate([claim.cluster for claim in claims]), return_inverse=True)[1]
    column = np.repeat(np.arange(len(claims)), [claim.cluster.size for claim in claims])
    summed = np.zeros((int(cluster.max()) + 1, len(claims)))
    np.add.at(summed, (cluster, column), np.concatenate(values))
    return summed


def _widening(
    claims: Sequence[ErrorContributions], is_rejected: npt.NDArray[np.bool_], alpha: float
) -> tuple[float, float]:
    """Return the widening factors of joint intervals: for all claims, and for those not rejected."""
    # Simulates the largest of several errors that are correlated through shared openings (max-T: Hothorn, Bretz and
    # Westfall, 2008): Student's t with the degrees of freedom of the fewest openings, correlated as the parts are.
    # Never larger than Bonferroni's factor.
    parts = _by_cluster(claims, [claim.part for claim in claims])
    sizes = np.sqrt((parts**2).sum(axis=0))
    parts = np.divide(parts, sizes, out=np.zeros_like(parts), where=sizes > 0)
    degrees = max(min(claim.clusters for claim in claims) - 1, 1)
    rng = np.random.default_rng(0)
    errors = np.abs(rng.multivariate_normal(np.zeros(len(claims)), parts.T @ parts, _DRAWS, method="eigh"))
    spread = np.sqrt(rng.chisquare(degrees, _DRAWS) / degrees)
    alone = float(scipy.special.stdtrit(degrees, 1 - alpha / 2))

    def beside(chosen: npt.NDArray[np.bool_]) -> float:
        many = int(chosen.sum())
        if many < 2:
            return 1.0
        drawn = float(np.quantile(errors[:, chosen].max(axis=1) / spread, 1 - alpha))
        return min(max(drawn, alone), float(scipy.special.stdtrit(degrees, 1 - alpha / 2 / many))) / alone

    return beside(np.ones(len(claims), bool)), beside(~is_rejected)
