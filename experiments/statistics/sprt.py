"""Sequential probability ratio tests (generalised SPRT): of outcomes, of a run's contenders; estimates after a stop.

Outcomes have k equally spaced values: 2 for single games, 3 for pairs of games without draws, 5 for pairs of games that
can be drawn. Only their mean is modelled, so it does not matter how often the opening decides. The test may be
evaluated after every pair. Its error rates are asymptotic: if openings decide nearly all pairs, few pairs carry the
evidence, and it would err in up to 0.059 of cases instead of 0.05 (exact enumeration, Elo 0 against 20, 93 % of pairs
split). A decision here therefore must also hold with half a lost and half a won observation added, which brings every
enumerated case below its nominal rate and lengthens ordinary tests by 2 to 5 %. The reported ratio is the usual one.

Sums over an opening, such as the differences of a gauntlet, have so many classes that most are empty. They are taken as
normal with unknown variance (model "score"), and the ratio itself contains the correction.

Under a linear constraint Σ pᵢ·aᵢ = 0 the maximum-likelihood shares are pᵢ = p̂ᵢ / (1 + x·aᵢ), where x solves
Σ p̂ᵢ·aᵢ / (1 + x·aᵢ) = 0 (M. Van den Bergh, "Comments on Normalized Elo" and "The generalized SPRT"; A. B. Owen,
"Empirical Likelihood"). These functions work on the last axis, so that a path of counts is one call.

A test stops when its statistic, partly by luck, has reached a bound, so the plain mean of its observations is too
extreme. In estimates after a stop, outcomes are ordered from strongest to weakest: a test that accepted H1, the earlier
the stronger; a test still open at the end; a test that accepted H0 (stagewise ordering: Armitage 1958; Siegmund 1978,
*Biometrika* 65; Tsiatis, Rosner and Mehta 1984, *Biometrics* 40). The estimate is the strength at which outcomes
stronger and weaker than the observed one are equally likely. Chances are those of Brownian motion between two bounds,
as in fishtest (M. Van den Bergh). The crossed bound is placed where the sum ended, overshoot included, because sums of
single steps cross a bound as Brownian motion crosses one 0.583 steps further out (Siegmund 1985, *Sequential Analysis*,
ch. X). The other bound is moved by the same amount.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
import scipy

from .anytime import ConfidenceSequence, confidence_sequence
from .game_pairs import AgentPairs, PairTable, opponents_of, record_of
from .proportions import (
    ConvergenceError,
    Floats,
    Interval,
    Ints,
    check_between,
    check_integer,
    elo_from_score,
    score_from_elo,
)

if TYPE_CHECKING:
    from .run_results import RunResults

NORMALIZED_ELO_PER_SIGMA = 800 / math.log(10)
MODELS = ("logistic", "normalized", "score")
Decision = Literal["H0", "H1"]

_EMPTY_CELL = 1e-3
_ADDED = 0.5


_STEPS = 200
_NEWTON_STEPS = 130
"""Limit of Newton steps; at most 75 have been observed. Afterwards bisection is used, which always ends."""
_ROUNDS = 50
_STILL = 1e-6
"""Convergence tolerance. Near the end of a tilt's range rounding alone moves shares by about 1e-9."""


def solve_tilt(shares: Floats, deviations: Floats) -> Floats:
    """Solve Σ sharesᵢ·deviationsᵢ / (1 + x·deviationsᵢ) = 0 for x, within the range that keeps all 1 + x·aᵢ ≥ 0.

    `shares` and `deviations` broadcast to (…, k). If an extreme outcome has no share the sum may not change sign; x is
    then the end of its range, which is the constrained maximum as well. ValueError if a share is not a number;
    ConvergenceError if all deviations have one sign, or no solution is found.
    """
    shares, deviations = np.broadcast_arrays(shares, deviations)
    classes = shares.shape[-1]
    p, a = shares.reshape(-1, classes), deviations.reshape(-1, classes)
    if not np.isfinite(p).all():
        raise ValueError(f"shares must be numbers, not {p[~np.isfinite(p)][0]}")
    one_sided = (a.max(axis=-1) <= 0) | (a.min(axis=-1) >= 0)
    if one_sided.any():
        raise ConvergenceError(f"no shares give deviations all of one sign a mean of 0: {a[one_sided][0].tolist()}")
    low, high = -1 / a.max(axis=-1), -1 / a.min(axis=-1)
    tolerance = 1e-14 * (high - low)
    x = np.zeros(len(p))
    # most rows take a few Newton steps, those near the end of their range dozens: iterate over unsolved rows only
    rows = np.arange(len(p))
    for step in range(_STEPS):
        ratios = a[rows] / (1 + x[rows, None] * a[rows])
        value = (p[rows] * ratios).sum(axis=-1)
        low[rows] = np.where(value > 0, x[rows], low[rows])
        high[rows] = np.where(value < 0, x[rows], high[rows])
        newton = x[rows] + value / (p[rows] * ratios**2).sum(axis=-1)
        inside = (low[rows] < newton) & (newton < high[rows])
        takes_newton = (inside & (step < _NEWTON_STEPS)) | (value == 0)
        following = np.where(takes_newton, newton, (low[rows] + high[rows]) / 2)
        is_settled = np.abs(following - x[rows]) <= tolerance[rows]
        x[rows] = following
        rows = rows[~is_settled]
        if not rows.size:
            break
    else:
        raise ConvergenceError(
            f"no likeliest shares found in {_STEPS} steps, given shares such as {p[rows[0]].tolist()}"
        )
    return x.reshape(shares.shape[:-1])


def constrain_mean(shares: Floats, mean: float) -> Floats:
    """Maximum-likelihood shares (…, k) of equally spaced outcomes in [0, 1] with mean `mean`, given positive ones."""
    deviations = np.linspace(0, 1, shares.shape[-1]) - mean
    return shares / (1 + solve_tilt(shares, deviations)[..., None] * deviations)


def constrain_deviations(shares: Floats, deviations_from_half: float) -> Floats:
    """Maximum-likelihood shares (…, k) whose mean is ½ plus `deviations_from_half` of their own standard deviations.

    All `shares` must be positive. ConvergenceError if the shares do not converge.
    """
    # the constraint is not linear: it is linearised at the last solution
    outcomes, t = np.linspace(0, 1, shares.shape[-1]), deviations_from_half
    observed = shares.reshape(-1, shares.shape[-1])
    result = np.full_like(observed, 1 / shares.shape[-1])
    # most rows are still after a few rounds: go on with the others only
    rows = np.arange(len(observed))
    for _ in range(_ROUNDS):
        fitted = result[rows]
        mean = (fitted @ outcomes)[:, None]
        deviation = np.sqrt((fitted @ outcomes**2)[:, None] - mean**2)
        linear = outcomes - 0.5 - t * deviation * (1 + ((mean - outcomes) / deviation) ** 2) / 2
        result[rows] = constrained = observed[rows] / (1 + solve_tilt(observed[rows], linear)[:, None] * linear)
        moved = np.abs(constrained - fitted).max(axis=-1)
        rows, moved = rows[moved >= 1e-12], moved[moved >= 1e-12]
        if not rows.size:
            break
    if not moved.max(initial=0.0) < _STILL:
        raise ConvergenceError(
            f"shares that are {t:g} deviations from a half still move by {moved.max():.1g} after {_ROUNDS} rounds"
        )
    return result.reshape(shares.shape)


@dataclass(frozen=True)
class Sprt:
    """H0: the strength is `low`; H1: it is `high`.

    Model "logistic": `low` and `high` are Elo differences. "normalized": normalized Elo differences, so that the length
    of the test depends less on the openings. "score": mean outcomes in [0, 1], with outcomes taken as normal; with
    outcomes (1 + d)/2 this tests differences d, such as those of a gauntlet, for which Elo is not defined. `alpha` is
    the chance to accept H1 under H0, `beta` to accept H0 under H1.
    """

    low: float
    high: float
    alpha: float = 0.05
    beta: float = 0.05
    model: str = "logistic"

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise ValueError(f"model must be one of {', '.join(MODELS)}, not {self.model!r}")
        check_between("alpha", self.alpha, 0, 0.5)
        check_between("beta", self.beta, 0, 0.5)
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ValueError(f"low must be below high, not {self.low!r} and {self.high!r}")
        if self.model == "score":
            check_between("low", self.low)
            check_between("high", self.high)

    @property
    def lower_bound(self) -> float:
        """The log-likelihood ratio at which H0 is accepted: ln(β/(1 − α))."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper_bound(self) -> float:
        """The log-likelihood ratio at which H1 is accepted: ln((1 − β)/α)."""
        return math.log((1 - self.beta) / self.alpha)


def log_likelihood_ratio(counts: npt.ArrayLike, sprt: Sprt) -> Floats:
    """ln of the likelihood ratio of H1 to H0 for counts (…, k) over equally spaced outcomes, worst to best; shape (…).

    n·Σ p̂ᵢ·ln(p1ᵢ/p0ᵢ), where p0 and p1 are the maximum-likelihood shares under H0 and H1; empty cells count as 0.001.
    Model "score": n/2·ln((s² + (m − low)²)/(s² + (m − high)²)) for mean m and variance s². 0 without observations.
    """
    array = _checked(counts)
    n = array.sum(axis=-1)
    if sprt.model == "score":
        steps = array.shape[-1] - 1
        outcomes = np.linspace(0, 1, steps + 1)
        return np.where(n > 0, _normal_ratio(n, array @ outcomes, array @ outcomes**2, steps, sprt), 0.0)
    filled = np.where(array == 0, _EMPTY_CELL, array)
    shares = filled / filled.sum(axis=-1, keepdims=True)
    if sprt.model == "normalized":
        scale = _normalized_scale(array.shape[-1])
        p0, p1 = (constrain_deviations(shares, bound * scale) for bound in (sprt.low, sprt.high))
    else:
        p0, p1 = (constrain_mean(shares, score_from_elo(bound)) for bound in (sprt.low, sprt.high))
    ratio = (filled * np.log(p1 / p0)).sum(axis=-1)
    return np.where(n > 0, ratio, 0.0)


def _checked(counts: npt.ArrayLike) -> Floats:
    array = np.asarray(counts, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] < 2:
        raise ValueError(f"counts must hold at least 2 counts, not {counts!r}")
    wrong = array[~(array >= 0) | ~np.isfinite(array)]
    if wrong.size:
        raise ValueError(f"counts must be counts of at least 0, not {wrong[0]!r}")
    return array


def _normalized_scale(classes: int) -> float:
    """Standard deviations of an outcome of `classes` values per normalized Elo: of 2 for a game, of more for a pair."""
    return math.sqrt(1 if classes == 2 else 2) / NORMALIZED_ELO_PER_SIGMA


def _normal_ratio(times: Floats, sums: Floats, squares: Floats, steps: int, sprt: Sprt) -> Floats:
    """Log-likelihood ratio of normal outcomes of unknown variance, with two half observations added."""
    # They lie on either side of the midpoint of the hypotheses: half a difference away (a quarter of the scale),
    # further if an outcome is the sum of few games (with one opponent and two games, 5 classes, a whole one). Arguments
    # are the number of outcomes, their sum and the sum of their squares.
    middle, reach = (sprt.low + sprt.high) / 2, max(0.25, 1 / math.sqrt(steps))
    n = times + 2 * _ADDED
    mean = (sums + 2 * _ADDED * middle) / n
    variance = (squares + 2 * _ADDED * (middle**2 + reach**2)) / n - mean**2
    ratio = np.log((variance + (mean - sprt.low) ** 2) / (variance + (mean - sprt.high) ** 2))
    return np.asarray(n / 2 * ratio, dtype=np.float64)


def sprt_crossings(counts: npt.ArrayLike, sprt: Sprt) -> npt.NDArray[np.int8]:
    """Return the bound that the counts (…, k) have crossed: 1 (H1), −1 (H0), or 0 while the test is open; shape (…).

    A bound counts as crossed if the ratio is beyond it with and without half an observation added to the worst and to
    the best class; the ratio of model "score" already contains its correction.
    """
    array = _checked(counts)
    guard = np.zeros(array.shape[-1])
    if sprt.model != "score":
        guard[[0, -1]] = _ADDED
    return _crossings(np.stack([log_likelihood_ratio(array, sprt), log_likelihood_ratio(array + guard, sprt)]), sprt)


def _crossings(ratios: Floats, sprt: Sprt) -> npt.NDArray[np.int8]:
    accepted = (ratios >= sprt.upper_bound).all(axis=0)
    rejected = (ratios <= sprt.lower_bound).all(axis=0)
    return np.asarray(accepted.astype(np.int8) - rejected.astype(np.int8), dtype=np.int8)


@dataclass(frozen=True, eq=False)
class SprtPath:
    """State of the test after every observation, in playing order.

    `outcomes` are as in `sprt_path`; `llr[i]` is the ratio after i + 1 of them. The test stopped with `decision` after
    `decided_after` observations; both are None while it is open. Later entries of `llr` are the ratios if it had
    continued.
    """

    sprt: Sprt
    outcomes: Ints | Floats
    classes: int
    llr: Floats
    decided_after: int | None
    decision: Decision | None

    @property
    def ratio(self) -> float:
        """The latest ratio; 0 before the first observation."""
        return float(self.llr[-1]) if self.llr.size else 0.0


def sprt_path(outcomes: npt.ArrayLike, sprt: Sprt, classes: int = 3) -> SprtPath:
    """Run the test on `outcomes`, class numbers 0 … classes − 1 in playing order (games won in each pair, for 3).

    With model "score" they may also lie between classes.
    """
    check_integer("classes", classes, 2)
    is_score = sprt.model == "score"
    array: Ints | Floats = np.asarray(outcomes, np.float64) if is_score else np.asarray(outcomes, np.int64)
    array = array.ravel()
    wrong = array[~((array >= 0) & (array <= classes - 1))]
    if wrong.size:
        raise ValueError(f"outcomes must be class numbers from 0 to {classes - 1}, not {wrong[0]:g}")
    if is_score:
        values, times = array / (classes - 1), np.arange(1.0, array.size + 1)
        llr = _normal_ratio(times, values.cumsum(), (values**2).cumsum(), classes - 1, sprt)
        crossings = _crossings(llr[None], sprt)
    else:
        counts = np.cumsum(array[:, None] == np.arange(classes), axis=0, dtype=np.float64)
        llr, crossings = log_likelihood_ratio(counts, sprt), sprt_crossings(counts, sprt)
    stops = np.flatnonzero(crossings)
    first = int(stops[0]) if stops.size else None
    if first is None:
        return SprtPath(sprt, array, classes, llr, None, None)
    return SprtPath(sprt, array, classes, llr, first + 1, "H1" if crossings[first] > 0 else "H0")


_OVERSHOOT = 0.583
"""Mean overshoot of sums of normal steps beyond a bound, in standard deviations of a step."""
_GRID = 1001
_FARTHEST = 1e-4
"""Means are kept at least this far from 0 and 1."""


def stopped_estimate(path: SprtPath, confidence: float = 0.95) -> Interval | None:
    """Return the median-unbiased estimate of the strength after a test, and its interval, in the units of the test.

    A test still open is treated as ended by its last observation. None without observations.
    """
    check_between("confidence", confidence)
    n = path.decided_after or path.outcomes.size
    if not n:
        return None
    stand = _Stand.of(path, n)
    tail = (1 - confidence) / 2
    estimate, low, high = (stand.strength_at(chance) for chance in (0.5, tail, 1 - tail))
    return Interval(estimate, low, high, confidence)


@dataclass(frozen=True)
class _Stand:
    """A test as Brownian motion, with one unit of time per observation."""

    # `position` is its position after `n` observations, between (or on) `lower` and `upper`. `drift_of` is the drift
    # for a strength between `weakest` and `strongest`.

    path: SprtPath
    n: int
    position: float
    lower: float
    upper: float
    weakest: float
    strongest: float
    drift_of: Callable[[float], float]

    @classmethod
    def of(cls, path: SprtPath, n: int) -> _Stand:
        sprt = path.sprt
        values = path.outcomes[:n] / (path.classes - 1)
        mean, added = float(values.mean()), np.array([0.25, 0.75] if sprt.model == "score" else [0.0, 1.0])
        squares = float(((values - mean) ** 2).sum() + ((added - mean) ** 2).mean())
        deviation = math.sqrt(squares / (n + 1))
        drift_of, ends = _drifts(sprt, deviation, path.classes)
        middle = (drift_of(sprt.low) + drift_of(sprt.high)) / 2
        unit = 1 / (drift_of(sprt.high) - drift_of(sprt.low))
        position = n * ((mean if sprt.model == "score" else mean - 0.5) / deviation - middle)
        lower, upper = sprt.lower_bound * unit - _OVERSHOOT, sprt.upper_bound * unit + _OVERSHOOT
        if path.decision == "H1":
            upper = position = max(position, 1e-9)
        elif path.decision == "H0":
            lower = position = min(position, -1e-9)
        # an open test may be beyond these bounds: far from both hypotheses the ratio grows more slowly than the sum
        lower, upper = min(lower, position), max(upper, position)
        return cls(path, n, position, lower, upper, *ends, lambda strength: drift_of(strength) - middle)

    def strength_at(self, chance: float) -> float:
        """Return the strength that gives this or a stronger outcome a chance; an end of the range if none."""
        from scipy.optimize import brentq  # here, since its import takes 0.2 s, and most commands estimate nothing

        def excess(strength: float) -> float:
            return self.at_least(self.drift_of(strength)) - chance

        if excess(self.weakest) >= 0:
            return -math.inf if self.path.sprt.model != "score" else 0.0
        if excess(self.strongest) <= 0:
            return math.inf if self.path.sprt.model != "score" else 1.0
        return float(brentq(excess, self.weakest, self.strongest, xtol=1e-6))

    def at_least(self, drift: float) -> float:
        """Return the chance of this outcome or a stronger one for a drift."""
        if self.path.decision == "H0":
            return 1 - crossing_chance(-drift, self.n, -self.upper, -self.lower)
        crossed = crossing_chance(drift, self.n, self.lower, self.upper)
        return crossed if self.path.decision else crossed + self._open_chance(drift)

    def _open_chance(self, drift: float) -> float:
        """Return the chance that neither bound has been reached, and that the position is this one or higher."""
        positions, reflected = self._reflected
        density = np.exp(-((positions - drift * self.n) ** 2) / (2 * self.n)) * reflected
        return float(np.trapezoid(density, positions)) / math.sqrt(2 * math.pi * self.n)

    @cached_property
    def _reflected(self) -> tuple[Floats, Floats]:
        """Positions from this one to the upper bound, and the effect of the bounds on the density there."""
        positions = np.linspace(self.position, self.upper, _GRID)
        shifts = _shifts(self.n, self.upper - self.lower)[:, None]
        return positions, sum(
            sign * np.exp((shifts + first) * (2 * positions - shifts - first) / (2 * self.n)).sum(axis=0)
            for sign, first in ((1, 0.0), (-1, 2 * self.lower))
        )


def _drifts(sprt: Sprt, deviation: float, classes: int) -> tuple[Callable[[float], float], tuple[float, float]]:
    """Return the drift by strength, in deviations per observation, and the range of strengths to search."""
    if sprt.model == "normalized":
        scale = _normalized_scale(classes)
        farthest = 0.5 / deviation / scale
        return lambda strength: strength * scale, (-farthest, farthest)
    if sprt.model == "logistic":
        farthest = elo_from_score(1 - _FARTHEST)
        return lambda strength: (score_from_elo(strength) - 0.5) / deviation, (-farthest, farthest)
    return lambda strength: strength / deviation, (_FARTHEST, 1 - _FARTHEST)


def crossing_chance(drift: float, time: float, lower: float, upper: float) -> float:
    """Chance that Brownian motion of unit variance from 0 reaches `upper` by `time`, without reaching `lower` before.

    By the method of images: one image per reflection, each contributing an inverse Gaussian distribution.
    """
    distances = upper + _shifts(time, upper - lower)
    away, root = np.abs(distances), math.sqrt(time)
    ways = [
        np.exp(
            drift * upper + sign * abs(drift) * away + scipy.special.log_ndtr((-sign * abs(drift) * time - away) / root)
        )
        for sign in (-1, 1)
    ]
    return float(np.clip((np.sign(distances) * (ways[0] + ways[1])).sum(), 0, 1))


def _shifts(time: float, width: float) -> Floats:
    """Positions of the images of the start: all that Brownian motion may reach in this time."""
    most = 2 + math.ceil(5 * math.sqrt(time) / width)
    return np.asarray(2 * width * np.arange(-most, most + 1), np.float64)


def duel_path(own: AgentPairs, baseline: int, asked: Sprt) -> SprtPath:
    """Return the test of a contender head to head, by the games won in its pairs with opponent number `baseline`."""
    return sprt_path(own.wins[own.opponent == baseline], asked)


def gauntlet_path(own: AgentPairs, base: AgentPairs, asked: Sprt, control: AgentPairs | None = None) -> SprtPath:
    """Return the test of a contender compared with the baseline, from the `opening_leads`.

    The hypotheses are differences of the win rate in percentage points; an outcome is a lead plus the largest possible.
    """
    leads, most = opening_leads(own, base, control)
    low, high = ((1 + points / 100) / 2 for points in (asked.low, asked.high))
    return sprt_path(leads + most, replace(asked, low=low, high=high, model="score"), 2 * most + 1)


def opening_leads(own: AgentPairs, base: AgentPairs, control: AgentPairs | None = None) -> tuple[Ints | Floats, int]:
    """Return the lead over the baseline in games won for each finished opening, and the largest possible lead.

    Only common opponents count. An opening is finished when both have played it against all of them, and counts once,
    by its first pairs. Openings are in the order in which the contender met them.

    A `control` is the baseline under another name, with openings of its own: the first opening is compared with the
    mean of the baseline's result on it and the control's result on its own first opening, and so on. The baseline's
    weight is a half plus half the slope of the contender's wins on its own over the previous openings: known before an
    opening is evaluated, and 1 for agents that play identically.
    """
    shared = np.intersect1d(own.opponent, base.opponent)
    if not shared.size:
        return np.empty(0, np.int64), 2
    common = np.isin(own.opening, base.opening)
    contender, other = (_first_wins(record, _in_order(own.opening[common]), shared) for record in (own, base))
    finished = (contender >= 0).all(axis=1) & (other >= 0).all(axis=1)
    won, usual = contender[finished].sum(axis=1), other[finished].sum(axis=1)
    if control is None:
        return won - usual, 2 * shared.size
    elsewhere = _first_wins(control, _in_order(control.opening), shared)
    elsewhere = elsewhere[(elsewhere >= 0).all(axis=1)].sum(axis=1)[: won.size]
    share = (1 + _slopes_before(won, usual)[: elsewhere.size]) / 2
    expected = usual.astype(np.float64)
    expected[: elsewhere.size] = share * usual[: elsewhere.size] + (1 - share) * elsewhere
    return won - expected, 2 * shared.size


def _slopes_before(won: Ints, usual: Ints) -> Floats:
    """Return, for each opening, the slope of the wins on the baseline's over all previous openings, in [0, 1]."""
    # By least squares; 1 if the baseline won equally often in all of them.
    before = np.arange(won.size)
    sums = [np.cumsum(values) - values for values in (won, usual, usual * won, usual * usual)]
    of_won, of_usual, together, squares = sums
    # whole numbers, so that rounding cannot hide that nothing varies
    spread, common = before * squares - of_usual**2, before * together - of_won * of_usual
    return np.clip(np.divide(common, spread, out=np.ones(won.size), where=spread > 0), 0, 1)


def _in_order(openings: Ints) -> Ints:
    distinct, first = np.unique(openings, return_index=True)
    return distinct[np.argsort(first)]


def _first_wins(record: AgentPairs, openings: Ints, opponents: Ints) -> Ints:
    """Return games won in the first pair of each opening (row) and opponent (column); −1 if there is none."""
    wins = np.full((openings.size, opponents.size), -1)
    chosen = np.flatnonzero(np.isin(record.opening, openings) & np.isin(record.opponent, opponents))[::-1]
    order = np.argsort(openings)
    row = order[np.searchsorted(openings, record.opening[chosen], sorter=order)]
    column = np.searchsorted(opponents, record.opponent[chosen])
    # the last value written to a cell stays, so pairs are processed in reverse
    wins[row, column] = record.wins[chosen]
    return wins


USUAL_ERROR = 0.05
"""Error rate of a sequential test, on both sides, if it has none."""


@dataclass(frozen=True, eq=False)
class SequentialTest:
    """Test of one contender against the baseline.

    Head to head (`is_duel`) it uses pairs, and `low` and `high` are Elo by the path's model; in a gauntlet it uses
    openings (all games from one against all opponents), and they are percentage points. `live` is the anytime-valid
    interval over the same observations, of the score or, in a gauntlet, of (1 + difference)/2. `exhausted`: all of the
    run's openings were played. `census`: these are all existing openings. `is_stop_rule`: the test was to stop the run.
    """

    contender: str
    baseline: str
    is_duel: bool
    low: float
    high: float
    path: SprtPath
    live: ConfidenceSequence
    exhausted: bool
    census: bool
    is_stop_rule: bool

    @property
    def observations(self) -> int:
        """Number of pairs or openings played."""
        return int(self.path.outcomes.size)

    @cached_property
    def estimate(self) -> Interval | None:
        """Median-unbiased estimate once the test that stops the run is over, in Elo or percentage points."""
        if not self.is_stop_rule or not (self.path.decision or self.exhausted) or self.census:
            return None
        stopped = stopped_estimate(self.path)
        if stopped is None or self.is_duel:
            return stopped
        estimate, low, high = (100 * (2 * end - 1) for end in (stopped.estimate, stopped.low, stopped.high))
        return Interval(estimate, low, high, stopped.confidence)

    @property
    def is_held_back(self) -> bool:
        """Return whether the ratio is beyond a bound, but not with half a lost and half a won pair added."""
        if self.path.decision or not self.observations:
            return False
        last = float(self.path.llr[-1])
        return not self.path.sprt.lower_bound < last < self.path.sprt.upper_bound


def run_tests(
    findings: RunResults, low: float, high: float, alpha: float = 0.05, beta: float = 0.05, model: str = "logistic",
    *, together: bool = False,
) -> list[SequentialTest]:  # fmt: skip
    """Return the test of every contender, between `low` and `high`.

    These are Elo differences of this model head to head, and percentage points otherwise. The 95 % intervals `live`
    hold each by itself, or with `together` for all contenders at once. ValueError without baseline or agent to test.
    """
    if findings.baseline is None:
        known = ", ".join(findings.pairs.agents)
        raise ValueError(
            f"no baseline to test against: name one with --baseline; agents: {known or 'none'}. For a round-robin use "
            f"isolation results or isolation ratings"
        )
    names = [name for name in findings.contenders if "control" not in findings.agents[name].roles]
    if not findings.played:
        names = [name for name, facts in findings.agents.items() if "contender" in facts.roles]
    if not names:
        raise ValueError(f"no agent to test against {findings.baseline}")
    confidence = 1 - 0.05 / (len(names) if together else 1)
    asked = Sprt(low, high, alpha, beta, model)
    return [_test(findings, name, findings.baseline, asked, confidence) for name in names]


def own_tests(findings: RunResults) -> list[SequentialTest]:
    """Return the tests by which a run was to stop; empty for runs without."""
    if not findings.sprt or findings.baseline is None:
        return []
    error = error_of(findings)
    return run_tests(findings, *bounds_of(findings), error, error, model=model_of(findings))


def stopping_duels(findings: RunResults) -> list[SequentialTest]:
    """Return the tests head to head by which a run was to stop: their decisions are its result."""
    return [test for test in own_tests(findings) if test.is_duel]


def model_of(findings: RunResults) -> str:
    """Return the Elo model of the runs' own test."""
    return next(filter(None, (info.requested.get("elo_model") for info in findings.infos)), "logistic")


def live_estimate(
    findings: RunResults, name: str, baseline: str, is_duel: bool, confidence: float = 0.95
) -> ConfidenceSequence:
    """Return the anytime-valid estimate of a contender's share of games won from the baseline, one value a pair.

    Unless `is_duel` it is of (1 + difference from the baseline)/2 over their opponents, one value an opening.
    """
    if is_duel:
        pairs = findings.all_pairs
        own = _record(pairs, name)
        values = own.wins[own.opponent == pairs.code(baseline)] / 2 if baseline in pairs.agents else np.empty(0)
        pool = findings.pool_of([name, baseline])
    else:
        own, base = _record(findings.pairs, name), _record(findings.pairs, baseline)
        leads, most = opening_leads(own, base, _control(findings))
        values = (leads + most) / (2 * most)
        # with the control's openings, the observations are not the openings of the pool
        is_of_pool = not findings.pooled_controls and findings.repeats_itself([baseline])
        pool = findings.pool_among(name) if is_of_pool else None
    return confidence_sequence(values, confidence, pool if pool and pool >= values.size else None)


def bounds_of(findings: RunResults) -> tuple[float, float]:
    """Return the two hypotheses of the run's own test; the defaults are 0 and 20 Elo, or 0 and 3 points."""
    if rule := findings.sprt:
        return float(rule[0]), float(rule[1])
    return (0.0, 3.0) if findings.formats == {"gauntlet"} else (0.0, 20.0)


def error_of(findings: RunResults) -> float:
    """Return the error rate of the run's own test, on both sides."""
    return float(findings.sprt[2]) if len(findings.sprt) > 2 else USUAL_ERROR


def live_rate(findings: RunResults, name: str) -> ConfidenceSequence:
    """Return the anytime-valid estimate of an agent's win rate, by the openings finished against all opponents."""
    record = _record(findings.pairs, name)
    opening, first, unit = np.unique(record.opening, return_index=True, return_inverse=True)
    played = np.bincount(unit, minlength=opening.size)
    done = played >= len(opponents_of(findings.pairs, name))
    order = np.argsort(first, kind="stable")
    chosen = order[done[order]]
    shares = np.bincount(unit, record.wins, opening.size)[chosen] / (2 * played[chosen])
    pool = findings.pool_among(name)
    return confidence_sequence(shares, pool=pool if pool and pool >= shares.size else None)


def _test(findings: RunResults, name: str, baseline: str, asked: Sprt, confidence: float) -> SequentialTest:
    own, base = _record(findings.pairs, name), _record(findings.pairs, baseline)
    number = findings.pairs.code(baseline) if baseline in findings.pairs.agents else -1
    is_duel = _is_duel(findings, own, base, number)
    path = duel_path(own, number, asked) if is_duel else gauntlet_path(own, base, asked, _control(findings))
    live = live_estimate(findings, name, baseline, is_duel, confidence)
    played_out = findings.played + findings.repeated == findings.planned
    census, is_stop_rule = live.pool is not None and live.pool == path.outcomes.size, bool(findings.sprt)
    return SequentialTest(name, baseline, is_duel, asked.low, asked.high, path, live, played_out, census, is_stop_rule)


def _is_duel(findings: RunResults, own: AgentPairs, base: AgentPairs, baseline: int) -> bool:
    """Return whether the test uses pairs with the baseline: never in a gauntlet with common opponents."""
    has_met = bool((own.opponent == baseline).any())
    if findings.formats == {"gauntlet"}:
        return has_met and not np.isin(own.opponent, base.opponent).any()
    return has_met or findings.formats == {"head-to-head"}


def _control(findings: RunResults) -> AgentPairs | None:
    controls = [_record(findings.pairs, control) for control in findings.pooled_controls]
    return controls[0] if len(controls) == 1 else None


def _record(pairs: PairTable, name: str) -> AgentPairs:
    """Return the agent's complete pairs; empty if it has not played yet."""
    if name in pairs.agents:
        return record_of(pairs, name)
    nothing: Ints = np.empty(0, np.int64)
    return AgentPairs(nothing, nothing, nothing, nothing)
