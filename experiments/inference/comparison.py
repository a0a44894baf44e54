"""Is the contender better than the baseline? Both meet the same opponents, from the same openings.

Games that share an opening depend on each other, whoever plays them, so openings are the unit throughout: the
difference is summed over opponents and sides within each opening before anything is tested, resampled or averaged.
If contender and baseline met different openings (as a control does, on purpose) both are taken as independent samples.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2, f, norm

from experiments.inference.arguments import Floats, Ints, inside, whole
from experiments.inference.clusters import Interval, Parts, bootstrap_difference, bootstrap_interval
from experiments.inference.pairing import PairTable, opponents_of, record_of
from experiments.inference.permutation import PermutationTest, label_test, sign_flip_test

Verdict = Literal["better", "worse", "equal", "cannot tell"]


@dataclass(frozen=True)
class OpponentEffect:
    """The difference against one opponent; `p_better` is one-sided, against "no better than the baseline".

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

    `paired`: both met the same openings and only those count; else `openings` are the contender's and
    `baseline_openings` the baseline's. Left out: `unfinished` pairs of either, which lack a game; `unshared` openings,
    played by one of the two only; `missing` opponents, met by one of the two only.

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
    table: PairTable,
    contender: str,
    baseline: str,
    *,
    seed: int = 0,
    confidence: float = 0.95,
    alpha: float = 0.05,
    pool: int | None = None,
    chance: Collection[str] = (),
) -> Comparison:
    """Compare `contender` with `baseline` on the opponents both met.

    Paired if at least half of the openings of the one with fewer were met by the other too. `pool` is the number of
    openings the schedule draws from without replacement; give it only if both agents and all opponents play an opening
    the same way every time. `chance` names the opponents in whose games chance has a part.

    Raises:
        ValueError: an agent is unknown or compared with itself, there is no common opponent, or the pool is smaller
            than the openings played.
    """
    inside("confidence", confidence)
    inside("alpha", alpha)
    play = _shared_play(table, contender, baseline)
    own, base, samples = play.own, play.base, play.samples
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
        baseline_openings=base.opening.size,
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


@dataclass(frozen=True, eq=False)
class _Cells:
    """One agent's complete pairs by opening (rows) and opponent (columns)."""

    opening: Ints
    cluster: Ints
    wins: Ints
    pairs: Ints

    @property
    def rates(self) -> Floats:
        """Share of games won; NaN where there is no pair."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.wins / (2 * self.pairs))

    def against(self, opponents: npt.NDArray[np.bool_]) -> _Cells:
        """The chosen columns, and the rows that have a pair in them."""
        rows = self.pairs[:, opponents].any(axis=1)
        return _Cells(
            self.opening[rows], self.cluster[rows], self.wins[rows][:, opponents], self.pairs[rows][:, opponents]
        )


@dataclass(frozen=True, eq=False)
class _SharedPlay:
    """What of two agents' play is compared: their cells against the `opponents` left, and those as samples.

    `samples` is one of differences if `paired`, else one of rates for each. For the rest see `Comparison`.
    """

    opponents: tuple[str, ...]
    missing: tuple[str, ...]
    paired: bool
    unshared: int
    own: _Cells
    base: _Cells
    samples: tuple[_Sample, ...]


def _shared_play(table: PairTable, contender: str, baseline: str) -> _SharedPlay:
    if contender == baseline:
        raise ValueError(f"contender and baseline must differ, not both be {contender!r}")
    met = [opponents_of(table, name) - {contender, baseline} for name in (contender, baseline)]
    opponents = sorted(met[0] & met[1])
    if not opponents:
        raise ValueError(f"{contender!r} and {baseline!r} must have met a common opponent")
    own, base = _cells(table, contender, opponents), _cells(table, baseline, opponents)
    shared = np.intersect1d(own.opening, base.opening)
    unshared = np.setxor1d(own.opening, base.opening)
    paired = bool(2 * shared.size >= min(own.opening.size, base.opening.size))
    if paired:
        own, base = _shared_cells(own, base, shared)
    played = np.asarray(own.pairs.any(axis=0) & base.pairs.any(axis=0))
    own, base = own.against(played), base.against(played)
    against = tuple(name for name, was_played in zip(opponents, played, strict=True) if was_played)
    return _SharedPlay(
        opponents=against,
        missing=tuple(sorted((met[0] | met[1]) - set(against))),
        paired=paired,
        unshared=unshared.size if paired else 0,
        own=own,
        base=base,
        samples=(_differences(own, base),) if paired else (_rates(own), _rates(base)),
    )


def _known_pool(play: _SharedPlay, pool: int | None) -> int | None:
    """The pool, if what was played of it bears on the rest: not for two samples, nor where a census has gaps."""
    played = play.own.opening.size
    if pool is not None and whole("pool", pool) < played:
        raise ValueError(f"pool must be at least the {played} openings played, not {pool}")
    has_gaps = played == pool and not play.own.pairs.all()
    return pool if play.paired and not has_gaps else None


def _unfinished(table: PairTable, *agents: str) -> int:
    codes = [table.code(name) for name in agents]
    of_them = np.isin(table.first, codes) | np.isin(table.second, codes)
    return int(np.count_nonzero(~table.complete & of_them))


def _mean(rates: Sequence[float]) -> float:
    return float(np.mean(rates)) if rates else math.nan


def _cells(table: PairTable, agent: str, opponents: Sequence[str]) -> _Cells:
    record = record_of(table, agent)
    column = np.full(len(table.agents), -1)
    column[[table.code(name) for name in opponents]] = np.arange(len(opponents))
    against = column[record.opponent]
    chosen = against >= 0
    opening, start, row = np.unique(record.opening[chosen], return_index=True, return_inverse=True)
    cell = row * len(opponents) + against[chosen]
    shape = (opening.size, len(opponents))
    wins = np.bincount(cell, record.wins[chosen], opening.size * len(opponents)).astype(np.int64)
    pairs = np.bincount(cell, minlength=opening.size * len(opponents))
    return _Cells(opening, record.cluster[chosen][start], wins.reshape(shape), pairs.reshape(shape))


def _shared_cells(one: _Cells, other: _Cells, openings: Ints) -> tuple[_Cells, _Cells]:
    """Both at the given openings, with only those pairs whose opening and opponent the other has as well."""
    rows = [np.searchsorted(cells.opening, openings) for cells in (one, other)]
    both = (one.pairs[rows[0]] > 0) & (other.pairs[rows[1]] > 0)
    first, second = (
        _Cells(openings, cells.cluster[row], cells.wins[row] * both, cells.pairs[row] * both)
        for cells, row in zip((one, other), rows, strict=True)
    )
    return first, second


@dataclass(frozen=True, eq=False)
class _Sample:
    """One number per opening and opponent, reduced to means over openings and every opening's part in their errors.

    `means` (opponents,). `opening_parts` (openings, opponents) sum to zero over openings, and the errors of `means` are
    those of such sums. `cluster_parts` are the same summed over openings that are alike. `flips` (clusters, opponents)
    are whole-number differences for the sign-flip test.
    """

    means: Floats
    opening_parts: Floats
    cluster_parts: Floats
    flips: Ints

    @property
    def covariance(self) -> Floats:
        """Of `means`, clustered; zero for a single cluster."""
        clusters = len(self.cluster_parts)
        return np.asarray(self.cluster_parts.T @ self.cluster_parts * (clusters / max(clusters - 1, 1)))

    def values(self, parts: Floats, columns: slice) -> Floats:
        """One value per row of `parts`, averaged over the chosen opponents; their mean is that of `means`."""
        if not parts[:, columns].size:
            return np.empty(0)
        return np.asarray(self.means[columns].mean() + len(parts) * parts[:, columns].mean(axis=1))


def _differences(own: _Cells, base: _Cells) -> _Sample:
    # weighting each side by the other's number of pairs keeps the differences whole when a cell was played repeatedly
    return _reduce(own.rates - base.rates, own.cluster, own.wins * base.pairs - base.wins * own.pairs)


def _rates(cells: _Cells) -> _Sample:
    return _reduce(cells.rates, cells.cluster, cells.wins)


def _reduce(values: Floats, cluster: Ints, whole_values: Ints) -> _Sample:
    known = ~np.isnan(values)
    times = np.maximum(known.sum(axis=0), 1)
    means = np.where(known, values, 0).sum(axis=0) / times
    parts = np.where(known, values - means, 0) / times
    _, group = np.unique(cluster, return_inverse=True)
    clusters = int(group.max(initial=-1)) + 1
    by_cluster = np.zeros((clusters, values.shape[1]))
    flips = np.zeros((clusters, values.shape[1]), dtype=np.int64)
    np.add.at(by_cluster, group, parts)
    np.add.at(flips, group, whole_values)
    return _Sample(means, parts, by_cluster, flips)


def _interval(
    samples: Sequence[_Sample], columns: slice, rng: np.random.Generator, confidence: float, pool: int | None
) -> Interval:
    opponents = float(samples[0].means[columns].size)
    if len(samples) == 2:
        one, other = (sample.values(sample.cluster_parts, columns) for sample in samples)
        return bootstrap_difference(one, other, rng, opponents, confidence)
    (sample,) = samples
    if not pool:
        return bootstrap_interval(sample.values(sample.cluster_parts, columns), rng, opponents, confidence)
    return _in_pool(sample.values(sample.opening_parts, columns), opponents, pool, rng, confidence)


def _in_pool(values: Floats, opponents: float, pool: int, rng: np.random.Generator, confidence: float) -> Interval:
    """The interval by resampling, shrunk to what the unseen openings of the pool can change: nothing after a census."""
    drawn = bootstrap_interval(values, rng, opponents, confidence)
    unseen = 1 - values.size / pool
    step = 1 / (4 * pool * max(opponents, 1.0)) if unseen else 0.0
    low, high = (math.sqrt(unseen) * (end - drawn.estimate) for end in (drawn.low, drawn.high))
    return Interval(drawn.estimate, drawn.estimate + low - step, drawn.estimate + high + step, confidence)


def _test(samples: Sequence[_Sample], columns: slice, rng: np.random.Generator, pool: int | None) -> PermutationTest:
    if len(samples) == 2:
        one, other = (sample.values(sample.cluster_parts, columns) for sample in samples)
        return label_test(one, other, rng)
    (sample,) = samples
    if pool and len(sample.opening_parts) == pool:
        # every opening was played: the sign of the difference is all there is to know
        lead = float(round(sample.means[columns].mean(), 12))
        return PermutationTest(pool, lead, float(lead == 0), float(lead <= 0))
    return sign_flip_test(sample.flips[:, columns].sum(axis=1))


def _parts(play: _SharedPlay, pool: int | None) -> Parts:
    """Of the mean difference over opponents; none after a census."""
    if not play.opponents or (pool and play.own.opening.size == pool):
        return Parts(np.empty(0, np.int64), np.empty(0))
    sides = list(zip((1, -1), (play.own, play.base), play.samples, strict=False))
    return Parts(
        np.concatenate([np.unique(cells.cluster) for _, cells, _ in sides]),
        np.concatenate([sign * sample.cluster_parts.mean(axis=1) for sign, _, sample in sides]),
    )


def _effect(
    play: _SharedPlay, column: int, rng: np.random.Generator, confidence: float, pool: int | None,
    chance: Collection[str],
) -> OpponentEffect:  # fmt: skip
    columns = slice(column, column + 1)
    opponent = play.opponents[column]
    met = play.own.pairs[:, column] > 0
    # a census of the whole is one against each opponent, unless an opening is missing there
    known = pool if met.all() else None
    return OpponentEffect(
        opponent=opponent,
        openings=int(np.count_nonzero(met)),
        contender_rate=float(np.nanmean(play.own.rates[:, column])),
        baseline_rate=float(np.nanmean(play.base.rates[:, column])),
        difference=_interval(play.samples, columns, rng, confidence, known),
        p_better=_test(play.samples, columns, rng, known).p_better,
        is_alike=play.paired and bool(np.array_equal(play.own.wins[:, column], play.base.wins[:, column])),
        is_chance=opponent in chance,
    )


def _heterogeneity(samples: Sequence[_Sample], covariance: Floats) -> tuple[float, int, float]:
    """Cochran's Q of the per-opponent effects, its degrees of freedom and p-value; NaN for one opponent or opening.

    Q is Hotelling's T² of the contrasts between opponents, so a paired comparison has an F distribution; otherwise it
    is taken as chi-squared. One added opening, won against one opponent and lost against none, keeps the covariance
    of opponents that never differ invertible.
    """
    effects = samples[0].means - (samples[1].means if len(samples) == 2 else 0)
    clusters = min(len(sample.cluster_parts) for sample in samples)
    degrees = effects.size - 1
    if degrees < 1 or clusters < 2:
        return math.nan, max(degrees, 0), math.nan
    contrasts = np.eye(effects.size)[1:] - np.eye(effects.size)[0]
    spread = contrasts @ (covariance + np.eye(effects.size) / clusters**2) @ contrasts.T
    shift = contrasts @ effects
    q = float(shift @ np.linalg.solve(spread, shift))
    if len(samples) == 2:
        return q, degrees, float(chi2.sf(q, degrees))
    if clusters <= degrees:
        return q, degrees, math.nan
    scale = (clusters - degrees) / ((clusters - 1) * degrees)
    return q, degrees, float(f.sf(q * scale, degrees, clusters - degrees))


def _quantile(probability: float) -> float:
    return float(norm.ppf(probability))
