"""Cluster-robust intervals for means over openings.

The unit is the opening (or a class of openings alike by symmetry): whatever is played from it is summed first, and only
openings are taken as independent. Each opening enters as one number, chosen so that their mean is the estimate.

Where hardly anything varies (shares near 0 or 1, agents that play alike) a resampled or normal interval collapses. As
with Agresti and Coull, openings never played are therefore added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri, stdtrit

from experiments.inference.argument_checks import Floats, Ints, check_between
from experiments.inference.pair_intervals import added_pairs

OPEN = 1e-9
"""How far from no difference an interval ends that is open there."""

_DIGITS = 12
"""Beyond these an exact difference is rounding error."""


@dataclass(frozen=True)
class Interval:
    """An estimate between its ends. NaN with the widest possible ends when there is nothing to estimate from."""

    estimate: float
    low: float
    high: float
    confidence: float


@dataclass(frozen=True, eq=False)
class ErrorContributions:
    """What each opening, or class of openings alike, adds to a difference and to its error.

    Differences that rest on the same openings err together, by as much as their `part`s, which sum to zero, do. The
    `score`s sum to the difference; without one, each has either sign with the same chance. `clusters` is how many of
    them the contender met: what else the baseline played has small parts. `unseen` is the share of the variance that
    is left where the openings come from a finite pool, 0 where all is known; `step` half a step of the attainable
    differences there. `alone` is the interval that holds by itself, as it is before it is made to `agree` with a test.
    """

    cluster: Ints
    part: Floats
    score: Floats
    clusters: int
    unseen: float
    step: float
    alone: Interval


def agree(interval: Interval, is_rejected: bool, null: float = 0.0) -> Interval:
    """The interval that says of `null` what a test says: without it where the test rejects it, else with it.

    A rejected null, and all on its other side, is cut off: the interval is open there, and its end `OPEN` away.
    """
    estimate, low, high = interval.estimate, interval.low, interval.high
    if math.isnan(estimate):
        return interval
    if not is_rejected:
        low, high = min(low, null), max(high, null)
    elif estimate > null:
        low = min(max(low, null + OPEN), estimate)
    else:
        high = max(min(high, null - OPEN), estimate)
    return Interval(estimate, low, high, interval.confidence)


def stretch(interval: Interval, by: float, least: float = -1.0) -> Interval:
    """The interval with both its ends `by` times as far from the estimate, between `least` and 1."""
    low, high = (interval.estimate + by * (end - interval.estimate) for end in (interval.low, interval.high))
    if math.isnan(interval.estimate):
        return interval
    return Interval(interval.estimate, max(low, least), min(high, 1.0), interval.confidence)


def of_pool(interval: Interval, seen: float) -> Interval:
    """The interval where a share `seen` of a finite pool of openings is known: nothing is uncertain once all are."""
    return stretch(interval, math.sqrt(max(1 - seen, 0.0)), 0.0)


def standard_error(parts: Floats, scores: Floats, clusters: int, opponents: float = 1.0) -> float:
    """That of a difference which is the sum of `scores`, one an opening, and errs by the sum of `parts`.

    Two openings are added, one up and one down (after Agresti and Min, 2005, for paired differences), by the largest
    difference seen: by one game of two with each opponent at least, by √½/√opponents at most. Infinite for one opening.
    """
    if clusters < 2:
        return math.inf
    against = max(opponents, 1.0)
    largest = clusters * float(np.abs(scores).max(initial=0.0))
    reach = min(max(largest, 0.5 / against), math.sqrt(0.5 / against))
    return math.sqrt((float((parts**2).sum()) + 2 * (reach / clusters) ** 2) * clusters / (clusters - 1))


def difference_interval(
    estimate: float, error: float, clusters: int, confidence: float, unseen: float = 1.0, step: float = 0.0
) -> Interval:
    """Student's interval of a difference of two shares; `unseen` is the part of the variance that is left."""
    if math.isnan(estimate):
        return Interval(estimate, -1.0, 1.0, confidence)
    if not unseen:
        exact = round(estimate, _DIGITS)
        return Interval(exact, exact, exact, confidence)
    half = step + math.sqrt(unseen) * error * float(stdtrit(max(clusters - 1, 1), 0.5 + confidence / 2))
    return Interval(estimate, max(estimate - half, -1.0), min(estimate + half, 1.0), confidence)


def rate_interval(
    wins: npt.ArrayLike, games: npt.ArrayLike, opponents: float = 1.0, confidence: float = 0.95
) -> Interval:
    """The share of games won, from wins and games per opening, with the normal interval of Agresti and Coull.

    `opponents` is how many were met per opening on average. With one opponent and two games per opening this is
    exactly the default interval of `pairs`: two lost and two won openings are added. With more opponents, an opening
    tells more the less its games hang together, and the added ones weigh less accordingly: by the variance of openings
    over its possible maximum, and at least by 1/opponents. That share is itself estimated, from next to nothing where
    nearly all games were won, so one opening whose games all go together is counted in. Simulated coverage at 95 % with
    20 openings or more, 2 to 20 opponents, rates of 0.5 to 0.99: 0.93 and more, also where openings decide all.
    """
    check_between("confidence", confidence)
    won, played = np.asarray(wins, np.float64), np.asarray(games, np.float64)
    if played.size == 0 or played.sum() == 0:
        return Interval(math.nan, 0.0, 1.0, confidence)
    rate = float(won.sum() / played.sum())
    values = rate + (won - rate * played) * played.size / played.sum()
    most = rate * (1 - rate)
    hanging_together = (float(values.var()) * values.size + 1) / (most * values.size + 1)
    added = added_pairs(confidence) * min(max(hanging_together, 1 / max(opponents, 1.0)), 1.0)
    n = values.size + 2 * added
    mean = (values.sum() + added) / n
    squares = ((values - mean) ** 2).sum() + added * (mean**2 + (1 - mean) ** 2)
    half = float(ndtri(0.5 + confidence / 2)) * math.sqrt(squares) / n
    low, high = max(min(mean - half, rate), 0.0), min(max(mean + half, rate), 1.0)
    return Interval(rate, float(low), float(high), confidence)


def mean_parts(
    values: npt.ArrayLike, opponents: float = 1.0, confidence: float = 0.95, cluster: Ints | None = None
) -> ErrorContributions:
    """The mean of one difference in [−1, 1] per opening, of which `opponents` are met on average.

    `cluster` numbers the openings, to tell which of them several means have in common. Simulated coverage at 95 %: 0.94
    and more from 20 openings on, unless rare openings that differ far more than the rest make up the difference: where
    they were not drawn, no interval knows of them (`docs/explanation/error-rates.md`).
    """
    check_between("confidence", confidence)
    array = np.asarray(values, np.float64)
    many = max(array.size, 1)
    mean = float(array.mean()) if array.size else math.nan
    part, score = (array - array.mean()) / many if array.size else array, array / many
    error = standard_error(part, score, array.size, opponents)
    alone = difference_interval(mean, error, array.size, confidence)
    return ErrorContributions(
        np.arange(array.size) if cluster is None else cluster, part, score, array.size, 1.0, 0.0, alone
    )


def student_tail(openings: int, confidence: float) -> float:
    """The share of resamples to leave out on either side, so that few openings are not too sure of themselves.

    Smaller than (1 − confidence)/2 by the ratio of Student's to the normal quantile, and because resamples spread less
    than samples do (Hesterberg, 2015). 0 for a single opening.
    """
    if openings < 2:
        return 0.0
    student = math.sqrt(openings / (openings - 1)) * float(stdtrit(openings - 1, 0.5 + confidence / 2))
    return float(ndtr(-student))
