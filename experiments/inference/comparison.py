"""Is the contender better than the baseline? Both meet the same opponents, from the same openings.

Games that share an opening depend on each other, whoever plays them, so openings are the unit throughout: the
difference is summed over opponents and sides within each opening before anything is tested, resampled or averaged.
Openings that the baseline alone has played make its rate surer (`samples`).
If contender and baseline met different openings (as a control does, on purpose) both are taken as independent samples.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.special import chdtrc, fdtrc, ndtri

from experiments.inference.arguments import Floats, inside, whole
from experiments.inference.clusters import Interval, Parts, bootstrap_difference, bootstrap_interval
from experiments.inference.pairing import PairTable
from experiments.inference.permutation import PermutationTest, label_test, score_flip_test, sign_flip_test
from experiments.inference.samples import Sample, SharedPlay, shared_play

Verdict = Literal["better", "worse", "equal", "cannot tell"]


@dataclass(frozen=True)
class OpponentEffect:
    """The difference against one opponent; `p_better` is one-sided, against "no better than the baseline".

    `baseline_rate` is the baseline's on the contender's openings, where it played others too as those make it likely.

    `is_alike`: contender and baseline won as many games of every pair against it. `is_chance`: chance had a part.
    """

    opponent: str
    openings: int
    contender_rate: float
    baseline_rate: float
    difference: Interval
    p_better: float
    is_alike: bool
    is_chance: bool


@dataclass(frozen=True)
class Comparison:
    """One contender beside the baseline. Rates and differences are shares of games won, averaged over opponents.

    `openings` are the contender's and `baseline_openings` the baseline's. `paired`: both met the same openings and only
    those count, but for further ones that the baseline played under another name. Left out: `unfinished` pairs of
    either, which lack a game; `unshared` openings, played by one of the two only; `missing` opponents, met by one of
    the two only.

    The question is about all openings of the kind played, on that board. `pool` is how many those are, if what was
    played of them tells about the others without further luck; None otherwise, and unless `paired`. Then unseen
    openings alone are uncertain, and a census is exact: no width, and p-values of 0 or 1. Without a pool `difference`
    has an interval by resampling openings. The per-opponent `effects` have a `covariance` (opponents, opponents)
    clustered by opening. `difference` holds by itself, `jointly` together with those of all contenders in one report;
    `parts` are what openings add to its error.
    `p_value` is two-sided, exact for a paired comparison. `adjusted_p` is Holm-adjusted over the `family` of
    contenders in one report; in a report of one, and for a control, it is `p_value` and `family` is 1.
    `heterogeneity_q` with `heterogeneity_df` asks whether the effect differs between opponents (NaN when it cannot be
    asked).
    `p_every_opponent` is against "no better against at least one of them" (intersection-union).
    """

    contender: str
    baseline: str
    opponents: tuple[str, ...]
    missing: tuple[str, ...]
    paired: bool
    openings: int
    baseline_openings: int
    unshared: int
    unfinished: int
    pool: int | None
    confidence: float
    alpha: float
    seed: int
    difference: Interval
    jointly: Interval
    p_value: float
    adjusted_p: float
    family: int
    effects: tuple[OpponentEffect, ...]
    covariance: tuple[tuple[float, ...], ...]
    heterogeneity_q: float
    heterogeneity_df: int
    heterogeneity_p: float
    p_every_opponent: float
    parts: Parts = field(repr=False, compare=False)

    @property
    def contender_rate(self) -> float:
        """Mean over opponents; NaN without any."""
        return _mean([effect.contender_rate for effect in self.effects])

    @property
    def baseline_rate(self) -> float:
        """Mean over opponents; NaN without any."""
        return _mean([effect.baseline_rate for effect in self.effects])

    @property
    def standard_error(self) -> float:
        """That of the mean of the per-opponent effects, clustered by opening; NaN without opponents."""
        return math.sqrt(max(float(np.mean(self.covariance)), 0.0)) if self.effects else math.nan

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to compare: no complete pairs against a common opponent."""
        return not self.openings or not self.baseline_openings

    @property
    def is_census(self) -> bool:
        """Whether every opening of the pool was played by both, so that `difference` is exact."""
        return self.pool is not None and self.openings == self.pool

    @property
    def plays_alike(self) -> bool:
        """Whether both had the same result in every game, those in which chance had a part aside."""
        fixed = [effect for effect in self.effects if not effect.is_chance]
        return bool(fixed) and all(effect.is_alike for effect in fixed)

    @property
    def better_against_every_opponent(self) -> bool:
        """Whether the contender is shown to beat the baseline's result against each opponent, at `alpha`."""
        return self.p_every_opponent <= self.alpha

    @property
    def verdict(self) -> Verdict:
        """By the adjusted p-value; "equal" after a census only."""
        if not self.difference.estimate and self.is_census:
            return "equal"
        if self.adjusted_p > self.alpha or not self.difference.estimate:
            return "cannot tell"
        return "better" if self.difference.estimate > 0 else "worse"

    @property
    def lead(self) -> tuple[float, float]:
        """Between which differences the truth lies, all contenders of the report together."""
        return self.jointly.low, self.jointly.high

    @property
    def variance_per_opening(self) -> float:
        """Variance of one opening's difference, read off the interval, so never zero; NaN without openings."""
        reach = (self.difference.high - self.difference.low) / (2 * _quantile(0.5 + self.confidence / 2))
        unseen = 1 - self.openings / self.pool if self.pool else 1.0
        return self.openings * reach**2 / unseen if self.effects and unseen else math.nan


def compare(
    table: PairTable, contender: str, baseline: str, *,
    seed: int = 0, confidence: float = 0.95, alpha: float = 0.05,
    pool: int | None = None, chance: Collection[str] = (), also: Collection[str] = (),
) -> Comparison:  # fmt: skip
    """Compare `contender` with `baseline` on the opponents both met.

    Paired if at least half of the openings of the one with fewer were met by the other too. `pool` is the number of
    openings the schedule draws from without replacement; give it only if both agents and all opponents play an opening
    the same way every time. `chance` names the opponents in whose games chance has a part. `also` are other names of
    the baseline's, under which it played more openings: they make its rate surer, where openings are shared.

    Raises:
        ValueError: an agent is unknown or compared with itself, there is no common opponent, or the pool is smaller
            than the openings played.
    """
    inside("confidence", confidence)
    inside("alpha", alpha)
    play = shared_play(table, contender, baseline, also)
    own, samples = play.own, play.samples
    known = _known_pool(play, pool)
    # one generator in a fixed order: effects, then the test and the interval
    rng = np.random.default_rng([whole("seed", seed), zlib.crc32(contender.encode())])
    effects = tuple(_effect(play, column, rng, confidence, known, chance) for column in range(len(play.opponents)))
    covariance = np.sum([sample.covariance for sample in samples], axis=0)
    q, degrees, heterogeneity_p = _heterogeneity(samples, covariance)
    test = _test(samples, slice(None), rng, known)
    difference = _interval(samples, slice(None), rng, confidence, known)
    return Comparison(
        contender=contender,
        baseline=baseline,
        opponents=play.opponents,
        missing=play.missing,
        paired=play.paired,
        openings=own.opening.size,
        baseline_openings=play.whole.opening.size,
        unshared=play.unshared,
        unfinished=_unfinished(table, contender, baseline),
        pool=known,
        confidence=confidence,
        alpha=alpha,
        seed=seed,
        difference=difference,
        jointly=difference,
        p_value=test.p_value,
        adjusted_p=test.p_value,
        family=1,
        effects=effects,
        covariance=tuple(tuple(float(c) for c in row) for row in covariance),
        heterogeneity_q=q,
        heterogeneity_df=degrees,
        heterogeneity_p=heterogeneity_p,
        p_every_opponent=max((effect.p_better for effect in effects), default=1.0),
        parts=_parts(play, known),
    )


def _known_pool(play: SharedPlay, pool: int | None) -> int | None:
    """The pool, if what was played of it bears on the rest: not for two samples, nor where a census has gaps."""
    played = play.own.opening.size
    if pool is not None and whole("pool", pool) < played:
        raise ValueError(f"pool must be at least the {played} openings played, not {pool}")
    has_gaps = played == pool and not play.own.pairs.all()
    return pool if play.paired and not has_gaps else None


def _unfinished(table: PairTable, *agents: str) -> int:
    if table.complete.all():
        return 0
    of_them = np.unique(np.concatenate([table.pairs_of(name) for name in agents]))
    return int(np.count_nonzero(~table.complete[of_them]))


def _mean(rates: Sequence[float]) -> float:
    return float(np.mean(rates)) if rates else math.nan


def _interval(
    samples: Sequence[Sample], columns: slice, rng: np.random.Generator, confidence: float, pool: int | None
) -> Interval:
    opponents = float(samples[0].means[columns].size)
    if len(samples) == 2:
        one, other = (sample.values(sample.cluster_parts, columns) for sample in samples)
        return bootstrap_difference(one, other, rng, opponents, confidence)
    (sample,) = samples
    if not pool:
        values = sample.values(sample.cluster_parts, columns)
        return bootstrap_interval(values, rng, opponents, confidence, sample.clusters)
    return _in_pool(sample, columns, pool, rng, confidence)


def _in_pool(sample: Sample, columns: slice, pool: int, rng: np.random.Generator, confidence: float) -> Interval:
    """The interval by resampling, shrunk to what the unseen openings of the pool can change: nothing after a census."""
    opponents = float(sample.means[columns].size)
    values = sample.values(sample.opening_parts, columns)
    drawn = bootstrap_interval(values, rng, opponents, confidence, len(sample.sampled))
    unseen = sample.unseen(columns, pool)
    step = 1 / (4 * pool * max(opponents, 1.0)) if unseen else 0.0
    low, high = (math.sqrt(unseen) * (end - drawn.estimate) for end in (drawn.low, drawn.high))
    return Interval(drawn.estimate, drawn.estimate + low - step, drawn.estimate + high + step, confidence)


def _test(samples: Sequence[Sample], columns: slice, rng: np.random.Generator, pool: int | None) -> PermutationTest:
    if len(samples) == 2:
        one, other = (sample.values(sample.cluster_parts, columns) for sample in samples)
        return label_test(one, other, rng)
    (sample,) = samples
    if pool and len(sample.sampled) == pool:
        # every opening was played: the sign of the difference is all there is to know
        lead = float(round(sample.means[columns].mean(), 12))
        return PermutationTest(pool, lead, float(lead == 0), float(lead <= 0))
    flips = sample.flips[:, columns].sum(axis=1)
    return sign_flip_test(flips) if np.issubdtype(flips.dtype, np.integer) else score_flip_test(flips)


def _parts(play: SharedPlay, pool: int | None) -> Parts:
    """Of the mean difference over opponents; none after a census."""
    if not play.opponents or (pool and play.own.opening.size == pool):
        return Parts(np.empty(0, np.int64), np.empty(0), 0)
    cells = (play.whole,) if play.paired else (play.own, play.base)
    sides = list(zip((1, -1), cells, play.samples, strict=False))
    return Parts(
        np.concatenate([np.unique(of_side.cluster) for _, of_side, _ in sides]),
        np.concatenate([sign * sample.cluster_parts.mean(axis=1) for sign, _, sample in sides]),
        sum(sample.clusters for sample in play.samples),
    )


def _effect(
    play: SharedPlay, column: int, rng: np.random.Generator, confidence: float, pool: int | None,
    chance: Collection[str],
) -> OpponentEffect:  # fmt: skip
    columns = slice(column, column + 1)
    opponent = play.opponents[column]
    met = play.own.pairs[:, column] > 0
    # a census of the whole is one against each opponent, unless an opening is missing there
    known = pool if met.all() else None
    difference = _interval(play.samples, columns, rng, confidence, known)
    contender_rate = float(np.nanmean(play.own.rates[:, column]))
    return OpponentEffect(
        opponent=opponent,
        openings=int(np.count_nonzero(met)),
        contender_rate=contender_rate,
        baseline_rate=contender_rate - difference.estimate,
        difference=difference,
        p_better=_test(play.samples, columns, rng, known).p_better,
        is_alike=play.paired and bool(np.array_equal(play.own.wins[:, column], play.base.wins[:, column])),
        is_chance=opponent in chance,
    )


def _heterogeneity(samples: Sequence[Sample], covariance: Floats) -> tuple[float, int, float]:
    """Cochran's Q of the per-opponent effects, its degrees of freedom and p-value; NaN for one opponent or opening.

    Q is Hotelling's T² of the contrasts between opponents, so a paired comparison has an F distribution; otherwise it
    is taken as chi-squared. One added opening, won against one opponent and lost against none, keeps the covariance
    of opponents that never differ invertible.
    """
    effects = samples[0].means - (samples[1].means if len(samples) == 2 else 0)
    clusters = min(sample.clusters for sample in samples)
    degrees = effects.size - 1
    if degrees < 1 or clusters < 2:
        return math.nan, max(degrees, 0), math.nan
    contrasts = np.eye(effects.size)[1:] - np.eye(effects.size)[0]
    spread = contrasts @ (covariance + np.eye(effects.size) / clusters**2) @ contrasts.T
    shift = contrasts @ effects
    q = float(shift @ np.linalg.solve(spread, shift))
    if len(samples) == 2:
        return q, degrees, float(chdtrc(degrees, q))
    if clusters <= degrees:
        return q, degrees, math.nan
    scale = (clusters - degrees) / ((clusters - 1) * degrees)
    return q, degrees, float(fdtrc(degrees, clusters - degrees, q * scale))


def _quantile(probability: float) -> float:
    return float(ndtri(probability))
