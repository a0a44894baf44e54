"""Planning: sample size, power and detectable effect; games still needed after a pilot run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np
import scipy

from ..record.columns import Table, lists, numbers
from ..record.log import fold_batches
from .contender_verdicts import judge, judge_all_pairs
from .paired_differences import Comparison, HeadToHead
from .proportions import ALPHA, WORTH, Floats, Ints, PairCounts, check_between, score_from_elo
from .run_results import RunResults
from .sprt import Sprt

TYPICAL_VARIANCE = 0.125
"""Variance of a pair's score between equal players when half of the pairs are split, as independent games would be."""

POWER = 0.8
_MOST_OPENINGS = 2000
"""More openings than exist: a difference that needs them is too small to be detected."""

_DRAWS = 20_000
_FEW = 60
"""Number of pairs below which the normal approximation overstates the power."""


@dataclass(frozen=True)
class FixedPlan:
    """A number of pairs (or openings) fixed in advance; `variance` is that of one, `effect` in share of games won."""

    effect: float
    variance: float
    power: float
    alpha: float
    pairs: int


def pairs_for_effect(
    effect: float, power: float = POWER, alpha: float = ALPHA, variance: float = TYPICAL_VARIANCE
) -> FixedPlan:
    """Pairs of a head-to-head needed to detect `effect`, the score minus ½, in a two-sided test at `alpha`.

    Uses the normal approximation; below 60 pairs, the exact sign test of won and lost pairs. The variance is at least
    `least_variance`. Simulated power is at most 0.07 below the requested one, for effects of 0.01 to 0.45.

    >>> pairs_for_effect(score_from_elo(20) - 0.5).pairs
    1187
    """
    plan = _plan(effect, power, alpha, max(variance, least_variance(effect)) if variance > 0 else variance)
    if plan.pairs >= _FEW:
        return plan
    lead = abs(effect)
    decided = min(max(4 * (plan.variance + lead**2), 2 * lead), 1.0)
    pairs = next(n for n in count(plan.pairs) if _power(n, decided, min(0.5 + lead / decided, 1.0), alpha) >= power)
    return FixedPlan(effect, plan.variance, power, alpha, pairs)


def openings_for_effect(effect: float, power: float, alpha: float, variance: float) -> FixedPlan:
    """Openings of a gauntlet needed to detect `effect`, a difference of two win rates (normal approximation).

    At least as many as the sign-flip test needs to reject at all: 2^(1 − openings) ≤ alpha.
    """
    plan = _plan(effect, power, alpha, variance)
    return FixedPlan(effect, variance, power, alpha, max(plan.pairs, math.ceil(1 - math.log2(alpha))))


def least_variance(effect: float) -> float:
    """Smallest variance of a pair's score with mean ½ + `effect`: no pair is lost twice (or none won)."""
    return abs(effect) / 2 - effect**2


def _plan(effect: float, power: float, alpha: float, variance: float) -> FixedPlan:
    check_between("effect", abs(effect), 0, math.inf)
    check_between("variance", variance, 0, math.inf)
    check_between("power", power, 0.5)
    check_between("alpha", alpha)
    needed = variance * (float(scipy.special.ndtri(1 - alpha / 2)) + float(scipy.special.ndtri(power))) ** 2 / effect**2
    return FixedPlan(effect, variance, power, alpha, max(round(needed), 1))


def _power(pairs: int, decided: float, won: float, alpha: float) -> float:
    """Power of the exact two-sided sign test of decided pairs."""
    # `decided` is the share of pairs that are not split, `won` the share of those that are won.
    from scipy.stats import binom

    numbers = np.arange(pairs + 1)
    enough = binom.isf(alpha / 2, numbers, 0.5) + 1
    return float(binom.pmf(numbers, pairs, decided) @ binom.sf(enough - 1, numbers, won))


def plan_after_pilot(
    pilot: PairCounts | Comparison, effect: float, power: float = POWER, alpha: float = ALPHA
) -> FixedPlan:
    """Pairs, or openings of a gauntlet, to detect `effect`, the pilot's included, by the pilot's own variance.

    Raises:
        ValueError: the pilot has no pairs, or no openings in common.
    """
    if not (pilot.n if isinstance(pilot, PairCounts) else pilot.opponents):
        raise ValueError("the pilot has no complete pairs in common; use another, or plan without a pilot")
    needed = pairs_for_effect if isinstance(pilot, PairCounts) else openings_for_effect
    return needed(effect, power, alpha, _variance_of(pilot))


def _variance_of(pilot: PairCounts | Comparison) -> float:
    """Variance of an opening; that of pairs by Agresti–Coull on pairs, so that split pairs alone do not give zero."""
    if isinstance(pilot, PairCounts):
        return PairCounts(pilot.lost + 2, pilot.split, pilot.won + 2).variance
    return pilot.variance_per_opening


@dataclass(frozen=True)
class DetectableEffect:
    """Difference that a comparison could have detected, and the cost of detecting a smaller one, at its share of alpha.

    `difference` is detectable with power 0.8: NaN if nothing was played, 1 (the largest possible) if none is.
    `still_needed` is the number of openings (pairs, head to head) still to be played to detect `worth`.
    """

    difference: float
    still_needed: int


def detectable_effect(comparison: Comparison | HeadToHead, worth: float = WORTH) -> DetectableEffect:
    """Difference that `comparison` could have detected; none after a census, and unknown without pairs."""
    check_between("worth", worth, 0, math.inf)
    if comparison.is_empty or comparison.is_census:
        return DetectableEffect(0.0 if comparison.is_census else math.nan, 0)
    alpha, pilot = comparison.alpha / comparison.family, _pilot_of(comparison)
    still_needed = max(plan_after_pilot(pilot, worth, POWER, alpha).pairs - comparison.openings, 0)
    wanted = float(scipy.special.ndtri(1 - alpha / 2)) + float(scipy.special.ndtri(POWER))
    return DetectableEffect(min(wanted * math.sqrt(_variance_of(pilot) / comparison.openings), 1.0), still_needed)


def _pilot_of(result: Comparison | HeadToHead) -> PairCounts | Comparison:
    return result.pairs if isinstance(result, HeadToHead) else result


def power_over_every_opponent(comparison: Comparison, lead: float, power: float = POWER) -> tuple[float, float]:
    """Power to find a contender significantly better against every opponent, and the lead needed for `power`.

    The first is for a true lead of `lead` against each opponent, from 20,000 draws of errors that are normal and
    correlated as the openings make them, so never below one in 20,000. NaN without opponents.
    """
    if not comparison.opponents:
        return math.nan, math.nan
    needed = np.minimum(_leads_needed(comparison), 1.0)
    return max(float((needed <= lead).mean()), 1 / _DRAWS), float(np.quantile(needed, power))


def _leads_needed(comparison: Comparison) -> Floats:
    """For every draw of errors, return the common lead at which the least favourable one-sided test rejects."""
    deviation = np.minimum([effect.error for effect in comparison.effects], 1.0)
    covariance = comparison.covariance
    own = np.sqrt(np.diag(covariance))
    correlation = np.divide(covariance, np.outer(own, own), out=np.eye(own.size), where=np.outer(own, own) > 0)
    rng = np.random.default_rng(0)
    errors = deviation * rng.multivariate_normal(np.zeros(own.size), correlation, _DRAWS, method="eigh")
    return np.asarray((float(scipy.special.ndtri(1 - comparison.alpha)) * deviation - errors).max(axis=1))


@dataclass(frozen=True)
class SprtPlan:
    """Expected outcome of a sequential test if the true strength is `elo`."""

    sprt: Sprt
    elo: float
    variance: float
    pass_probability: float
    expected_pairs: float


def sprt_plan(sprt: Sprt, elo: float, variance: float = TYPICAL_VARIANCE) -> SprtPlan:
    """Chance that the test accepts H1, and its expected length in pairs, when the true Elo difference is `elo`.

    Approximates the log-likelihood ratio by Brownian motion between the bounds (Wald). The length is within 10 % for
    100 decided pairs, and up to 40 % too short for few. ValueError unless the test's model is "logistic".
    """
    check_between("variance", variance, 0, math.inf)
    variance = max(variance, least_variance(score_from_elo(elo) - 0.5))
    if sprt.model != "logistic":
        raise ValueError(f"model must be 'logistic' to plan in Elo, not {sprt.model!r}")
    s0, s1, s = (score_from_elo(value) for value in (sprt.low, sprt.high, elo))
    drift = (s1 - s0) * (2 * s - s0 - s1) / (2 * variance)
    spread = (s1 - s0) ** 2 / variance
    low, high = sprt.lower_bound, sprt.upper_bound
    tilt = 2 * drift / spread
    if abs(tilt) * (high - low) < 1e-6:
        return SprtPlan(sprt, elo, variance, -low / (high - low), -low * high / spread)
    # the chance to reach the bound opposite to the drift, written with exponents that cannot overflow
    near, far = (high, -low) if tilt > 0 else (-low, high)
    away = (math.exp(-abs(tilt) * far) - math.exp(-abs(tilt) * (near + far))) / -math.expm1(-abs(tilt) * (near + far))
    passed = 1 - away if tilt > 0 else away
    return SprtPlan(sprt, elo, variance, passed, (passed * high + (1 - passed) * low) / drift)


def pairs_to_decide(comparison: Comparison) -> int:
    """Return the number of openings with which a difference as large as this one would probably be significant.

    0 if there are too few. The width of an interval is inversely proportional to the root of their number.
    """
    low, high = comparison.lead
    half, lead = (high - low) / 2, abs(comparison.estimate)
    if lead < WORTH / 4:
        return 0
    needed = comparison.openings * (1.5 * half / lead) ** 2
    return math.ceil(needed / 100) * 100 if needed <= _MOST_OPENINGS else 0


_FEWEST_OPENINGS = 6
"""Minimum number of openings for significance: five results in one direction have p = 2/2⁵ = 0.0625."""
_PAUSE = 60e6
"""Microseconds without a new batch, beyond the moves of the previous one, after which a run counts as stopped."""


@dataclass(frozen=True)
class ContenderPlan:
    """Games that a contender of a pilot still has to play; `plan` is the whole, including the pilot.

    `played` and `still_needed` count pairs of two games head to head (`is_duel`), otherwise openings that contender and
    baseline play against every opponent.
    """

    contender: str
    is_duel: bool
    plan: FixedPlan
    played: int
    still_needed: int
    games: int


def plan_contenders(
    pilot: RunResults, effect: float, power: float = POWER, alpha: float = ALPHA
) -> tuple[ContenderPlan, ...]:
    """Plan the games every contender needs to detect `effect`, a share of games won, by the pilot's own variance.

    In a round-robin these are plans for every two agents that met. Each plan uses its share of `alpha`. ValueError if
    there is no agent to compare with a baseline, or an agent has too few openings.
    """
    if each := judge_all_pairs(pilot, alpha):
        return tuple(
            _contender_plan(f"{duel.contender} – {duel.baseline}", duel, 2, effect, power, alpha / len(each))
            for duel in each
        )
    verdicts = judge(pilot, alpha)
    share = alpha / max(verdicts.family, 1)
    plans = []
    for claim in verdicts.judged:
        matches = 1.0
        if isinstance(claim, Comparison):
            has_met = verdicts.against_baseline(claim.contender) is not None
            baseline_share = claim.baseline_openings / claim.openings if claim.paired and claim.openings else 1.0
            matches = len(claim.opponents) * (1 + baseline_share) + has_met
        plans.append(_contender_plan(claim.contender, claim, 2 * matches, effect, power, share))
    if not plans:
        raise ValueError("the pilot has no complete pairs yet; use another, or plan without a pilot")
    return tuple(plans)


def _contender_plan(
    name: str, pilot: Comparison | HeadToHead, games_an_opening: float, effect: float, power: float, alpha: float
) -> ContenderPlan:
    played = pilot.openings
    if played < _FEWEST_OPENINGS:
        raise ValueError(
            f"too little data: the pilot has {played} complete opening{'s' * (played != 1)} of {name}, at least "
            f"{_FEWEST_OPENINGS} are needed; play more, or leave --pilot out"
        )
    plan = plan_after_pilot(_pilot_of(pilot), effect, power, alpha)
    still_needed = max(plan.pairs - played, 0)
    games = round(still_needed * games_an_opening)
    return ContenderPlan(name, isinstance(pilot, HeadToHead), plan, played, still_needed, games)


def games_a_second(findings: RunResults, unknown: float) -> float:
    """Return games per second of wall time without pauses of over a minute; `unknown` if the log has no times."""
    seconds = math.fsum(_wall_seconds(info.path) for info in findings.infos)
    return findings.played / seconds if seconds else unknown


def _wall_seconds(run: Path) -> float:
    """Return the wall time of a run's games: from batch to batch, plus the moves of the last ones."""
    parts = fold_batches(run, ("started_at", "time_us"), lambda games: [*map(_starts_and_times, games)])
    if not parts:
        return 0.0
    starts, times = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    batches, batch_of = np.unique(starts, return_inverse=True)
    thought = np.bincount(batch_of, times)
    steps = np.diff(batches)
    is_pause = steps - thought[:-1] > _PAUSE
    return float(np.where(is_pause, thought[:-1], steps).sum() + thought[-1]) / 1e6


def _starts_and_times(table: Table) -> tuple[Ints, Floats]:
    """Return the start times of the games' batches, and the total times of their moves, in microseconds."""
    values, ends = lists(table, "time_us")
    return numbers(table, "started_at").astype(np.int64), np.diff(np.append(0.0, np.cumsum(values))[ends])
