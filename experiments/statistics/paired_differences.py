"""Paired differences: contenders compared with the baseline on shared opponents and openings, or head to head.

Games that share an opening depend on each other, whoever plays them, so openings are the unit throughout: the
difference is summed over opponents and sides within each opening before anything is tested, resampled or averaged.
Openings that only the baseline has played show how favourable the shared ones were for it and, as far as the
contender's results correlate with its own, for the contender: the regression estimator of two-phase sampling (Cochran,
*Sampling Techniques*, 1977, ch. 12). If contender and baseline met different openings (as a control does, on purpose),
both are treated as independent samples.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import scipy

from .game_pairs import PairTable, opponents_of, record_of
from .proportions import (
    ErrorContributions,
    Floats,
    Interval,
    Ints,
    PairCounts,
    agree,
    check_between,
    check_integer,
    count_pairs,
    difference_interval,
    pair_interval,
    rate_interval,
    standard_error,
)
from .step_down import flip, step_down

Verdict = Literal["better", "worse", "equal", "no significant difference"]
_NOTHING = 1e-12


@dataclass(frozen=True)
class OpponentEffect:
    """Difference against one opponent; `p_better` is one-sided, against "no better than the baseline".

    `error` is the standard error. `baseline_rate` is the baseline's rate on the contender's openings, corrected by the
    results of its further openings. `is_chance`: these games depend on chance.
    """

    opponent: str
    openings: int
    contender_rate: float
    baseline_rate: float
    difference: Interval
    error: float
    p_better: float
    is_chance: bool


@dataclass(frozen=True)
class Evidence:
    """What a verdict is adjusted for beside the contenders of its own report: looks, and other questions of the family.

    `looks` are the openings at each, this one included. `p_value` allows for the looks, not for the others.
    """

    looks: tuple[int, ...]
    others: int
    p_value: float


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a comparison with the baseline has in common over shared opponents and head to head.

    The comparison is about all openings of this kind on this board. `p_value`, two-sided, holds for this comparison
    alone. `jointly` and `adjusted_p` hold together with those of all contenders in the report, the `family`, which is 1
    for a control. An interval excludes no difference exactly if its p-value is at most `alpha`. `evidence` is what was
    adjusted for beyond the report. `openings` are the contender's that count. `unfinished` pairs lack a game and are
    left out.
    """

    null: ClassVar[float] = 0.0
    """No difference, in units of `jointly`."""
    contender: str
    baseline: str
    openings: int
    unfinished: int
    pool: int | None
    jointly: Interval
    p_value: float
    adjusted_p: float
    family: int = 1
    alpha: float
    parts: ErrorContributions = field(repr=False, compare=False)
    evidence: Evidence | None = field(default=None, compare=False)

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to compare: no complete pairs."""
        return not self.openings

    @property
    def is_census(self) -> bool:
        """Return whether every opening of the pool was played, so that the result is exact."""
        return self.pool is not None and self.openings == self.pool

    @property
    def lead(self) -> tuple[float, float]:
        """Joint confidence limits of the difference, over all contenders of the report."""
        return self.jointly.low, self.jointly.high

    @property
    def verdict(self) -> Verdict:
        """Verdict by the joint interval; "equal" after a census only."""
        low, high = self.lead
        if low > 0 or high < 0:
            return "better" if low > 0 else "worse"
        return "equal" if self.is_census and not self.is_empty else "no significant difference"


@dataclass(frozen=True, kw_only=True)
class Comparison(Result):
    """One contender compared with the baseline. Rates and differences are shares of games won, averaged over opponents.

    `paired`: both met the same openings and only those count, except further openings that the baseline played under
    another name. Left out: `unshared` openings and `missing` opponents, met by only one of the two.

    `pool` is the number of openings if they were drawn without replacement; otherwise, and unless `paired`, it is None.
    With a pool only unplayed openings and games of chance are uncertain; a census without chance is exact: its interval
    has no width, and its p-values are 0 or 1.

    `difference` holds for this comparison alone. `chance` names the opponents whose games depend on it.
    """

    opponents: tuple[str, ...]
    missing: tuple[str, ...]
    paired: bool
    baseline_openings: int
    unshared: int
    difference: Interval
    chance: frozenset[str]
    play: _SharedPlay = field(repr=False, compare=False)

    @cached_property
    def effects(self) -> tuple[OpponentEffect, ...]:
        """The differences by opponent."""
        columns = range(len(self.opponents))
        return tuple(_effect(self.play, column, self.alpha, self.pool, self.chance) for column in columns)

    @property
    def covariance(self) -> Floats:
        """Covariance of the effects (opponents, opponents), clustered by opening."""
        return self.play.leads.covariance

    @property
    def heterogeneity(self) -> tuple[float, int, float]:
        """Q, its degrees of freedom and p-value of differing effects between opponents; NaN if it cannot be tested."""
        q, degrees, p_value = _heterogeneity(self.play.leads, self.paired)
        return q, degrees, p_value if self.parts.unseen else math.nan

    @property
    def p_every_opponent(self) -> float:
        """P-value against "no better against at least one opponent" (intersection-union)."""
        return max((effect.p_better for effect in self.effects), default=1.0)

    @property
    def contender_rate(self) -> float:
        """Mean of the contender's rates over opponents; NaN without any."""
        return float(np.mean([effect.contender_rate for effect in self.effects])) if self.effects else math.nan

    @property
    def baseline_rate(self) -> float:
        """Mean of the baseline's rates over opponents; NaN without any."""
        return float(np.mean([effect.baseline_rate for effect in self.effects])) if self.effects else math.nan

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to compare: no complete pairs against a common opponent."""
        return not self.openings or not self.baseline_openings

    @property
    def is_census(self) -> bool:
        """Return whether both played every opening of the pool without chance, so that the result is exact."""
        return super().is_census and self.chance.isdisjoint(self.opponents)

    @property
    def plays_alike(self) -> bool:
        """Return whether both had the same result in every game that does not depend on chance."""
        fixed = [column for column, name in enumerate(self.opponents) if name not in self.chance]
        own, base = (cells.wins[:, fixed] for cells in (self.play.own, self.play.base))
        return self.paired and bool(fixed) and np.array_equal(own, base)

    @property
    def better_against_every_opponent(self) -> bool:
        """Return whether the contender is significantly better against each opponent, at level `alpha`."""
        return self.p_every_opponent <= self.alpha

    @property
    def estimate(self) -> float:
        """Difference from the baseline, in share of games won; NaN without any."""
        return self.difference.estimate

    @property
    def variance_per_opening(self) -> float:
        """Variance of one opening's difference, never zero; the largest possible for one opening, NaN without any."""
        error = standard_error(self.parts.part, self.parts.score, self.parts.clusters, len(self.opponents))
        return min(self.openings * error**2, 1.0) if self.opponents else math.nan


def compare(
    table: PairTable, contender: str, baseline: str, *,
    alpha: float = 0.05, pool: int | None = None, chance: Collection[str] = (), also: Collection[str] = (),
) -> Comparison:  # fmt: skip
    """Compare `contender` with `baseline` on the opponents both met; intervals hold with 1 − `alpha`.

    The comparison is paired if the other agent met at least half of the openings of the one with fewer. `pool` is the
    number of openings the schedule draws from without replacement. `chance` names the opponents whose games with either
    agent depend on chance. `also` are other names of the baseline, under which it played more openings. ValueError if
    an agent is unknown or compared with itself, without common opponent, and for a pool of fewer openings than played.
    """
    check_between("alpha", alpha)
    play = _shared_play(table, contender, baseline, also)
    own = play.own
    if pool is not None and check_integer("pool", pool) < own.opening.size:
        raise ValueError(f"pool must be at least the {own.opening.size} openings played, not {pool}")
    has_gaps = own.opening.size == pool and not own.pairs.all()
    known = pool if play.paired and not has_gaps else None  # two samples, and a census with gaps, are uncertain
    parts = _parts(play, slice(None), alpha, known, chance)
    test = flip(parts)
    difference = agree(parts.alone, test.p_value <= alpha)
    of_either = np.union1d(table.pairs_of(contender), table.pairs_of(baseline))
    return Comparison(
        contender=contender,
        baseline=baseline,
        opponents=play.opponents,
        missing=play.missing,
        paired=play.paired,
        openings=own.opening.size,
        baseline_openings=play.baseline_openings,
        unshared=play.unshared,
        unfinished=int(np.count_nonzero(~table.complete[of_either])),
        pool=known,
        alpha=alpha,
        difference=difference,
        jointly=difference,
        p_value=test.p_value,
        adjusted_p=test.p_value,
        chance=frozenset(chance),
        play=play,
        parts=parts,
    )


def _parts(
    play: _SharedPlay, columns: slice, alpha: float, pool: int | None, chance: Collection[str]
) -> ErrorContributions:
    """Return the contributions of openings to the mean difference over the chosen opponents."""
    leads, opponents = play.leads, len(play.opponents[columns])
    estimate = float(leads.means[columns].mean()) if opponents else math.nan
    part, score = (each[:, columns].sum(axis=1) / max(opponents, 1) for each in (leads.parts, leads.scores))
    unseen, step = 1.0, 0.0
    if pool and opponents:
        is_chance = np.array([name in chance for name in play.opponents])
        unseen = leads.unseen(columns, pool, is_chance)
        step = 1 / (4 * pool * opponents) if unseen else 0.0
    error = standard_error(part, score, leads.clusters, opponents)
    alone = difference_interval(estimate, error, leads.clusters, 1 - alpha, unseen, step)
    return ErrorContributions(leads.numbers, part, score, leads.clusters, unseen, step, alone)


def _effect(play: _SharedPlay, column: int, alpha: float, pool: int | None, chance: Collection[str]) -> OpponentEffect:
    columns = slice(column, column + 1)
    opponent = play.opponents[column]
    met = play.own.pairs[:, column] > 0
    # a census of all opponents is a census against each, unless an opening is missing there
    parts = _parts(play, columns, alpha, pool if met.all() else None, chance)
    test = flip(parts)
    difference = agree(parts.alone, test.p_value <= alpha)
    contender_rate = float(np.nanmean(play.own.rates[:, column]))
    return OpponentEffect(
        opponent=opponent,
        openings=int(np.count_nonzero(met)),
        contender_rate=contender_rate,
        baseline_rate=contender_rate - difference.estimate,
        difference=difference,
        error=math.sqrt(parts.unseen) * standard_error(parts.part, parts.score, parts.clusters)
        if parts.unseen
        else 0.0,
        p_better=test.p_better,
        is_chance=opponent in chance,
    )


def _heterogeneity(leads: _Leads, paired: bool) -> tuple[float, int, float]:
    """Cochran's Q of the per-opponent effects, its degrees of freedom and p-value; NaN for one opponent or opening."""
    # Q is Hotelling's T² of the contrasts between opponents, so a paired comparison has an F distribution; otherwise
    # the distribution is taken as chi-squared. One hypothetical opening, won against one opponent and lost against
    # none, keeps the covariance invertible for opponents with identical results.
    clusters, opponents = leads.clusters, leads.means.size
    degrees = opponents - 1
    if degrees < 1 or clusters < 2:
        return math.nan, max(degrees, 0), math.nan
    contrasts = np.eye(opponents)[1:] - np.eye(opponents)[0]
    spread = contrasts @ (leads.covariance + np.eye(opponents) / clusters**2) @ contrasts.T
    shift = contrasts @ leads.means
    q = float(shift @ np.linalg.solve(spread, shift))
    if not paired:
        return q, degrees, float(scipy.special.chdtrc(degrees, q))
    if clusters <= degrees:
        return q, degrees, math.nan
    scale = (clusters - degrees) / ((clusters - 1) * degrees)
    return q, degrees, float(scipy.special.fdtrc(degrees, clusters - degrees, q * scale))


@dataclass(frozen=True, kw_only=True)
class HeadToHead(Result):
    """Head-to-head result of a contender against the baseline.

    `rate` is the contender's share of games won, and holds for this comparison alone; `jointly` is of this share too,
    so no difference is one half. With a `pool`, the number of existing openings, it is exact once all are played;
    without one the played openings are a sample, clustered by symmetry.
    """

    null: ClassVar[float] = 0.5
    pairs: PairCounts
    rate: Interval

    @property
    def plays_alike(self) -> bool:
        """Always false: two agents that split every pair may do so by different games."""
        return False

    @property
    def estimate(self) -> float:
        """Difference from the baseline, in share of games won; NaN without any."""
        return self.pairs.score - 0.5

    @property
    def lead(self) -> tuple[float, float]:
        """Joint confidence limits of the difference from one half, over all contenders of the report."""
        return self.jointly.low - 0.5, self.jointly.high - 0.5


def rate_of(lead: Interval) -> Interval:
    """Return the share of games won, given the lead over one half."""
    low, high = (min(max(0.5 + end, 0.0), 1.0) for end in (lead.low, lead.high))
    return Interval(0.5 + lead.estimate, low, high, lead.confidence)


def compare_directly(
    table: PairTable, contender: str, baseline: str, *, alpha: float = 0.05, pool: int | None = None
) -> HeadToHead:
    """Compare `contender` and `baseline` by the pairs they played with each other; intervals hold with 1 − `alpha`.

    `pool` is the number of openings the schedule draws from without replacement, if both play an opening the same way
    every time. It is ignored if more pairs were played than it has openings. ValueError if an agent is unknown.
    """
    check_between("alpha", alpha)
    record, other = record_of(table, contender), table.code(baseline)
    chosen = record.opponent == other
    wins = record.wins[chosen]
    pairs = count_pairs(wins)
    known = pool if pool and pairs.n <= pool else None
    parts = _duel_parts(record.cluster[chosen], wins, pairs, known, 1 - alpha)
    test = flip(parts)
    of_both = np.intersect1d(table.pairs_of(contender), table.pairs_of(baseline))
    rate = rate_of(agree(parts.alone, test.p_value <= alpha))
    return HeadToHead(
        contender=contender,
        baseline=baseline,
        pairs=pairs,
        openings=pairs.n,
        unfinished=int(np.count_nonzero(~table.complete[of_both])),
        pool=known,
        rate=rate,
        jointly=rate,
        p_value=test.p_value,
        adjusted_p=test.p_value,
        alpha=alpha,
        parts=parts,
    )


def _duel_parts(
    cluster: Ints, wins: Ints, pairs: PairCounts, pool: int | None, confidence: float
) -> ErrorContributions:
    numbers, unit = np.unique(cluster, return_inverse=True)
    of_sample = rate_interval(np.bincount(unit, wins), 2 * np.bincount(unit), confidence=confidence)
    rate = pair_interval(pairs, confidence, pool) if pool else of_sample
    alone = Interval(rate.estimate - 0.5, rate.low - 0.5, rate.high - 0.5, confidence)
    scores, parts = (
        np.bincount(unit, (wins - centre) / (2 * max(wins.size, 1)), numbers.size).astype(np.float64)
        for centre in (1, wins.mean() if wins.size else 1)
    )
    unseen = 1 - pairs.n / pool if pool else 1.0
    step = 1 / (4 * pool) if pool and unseen else 0.0
    return ErrorContributions(numbers, parts, scores, numbers.size, unseen, step, alone)


def compare_all(
    table: PairTable,
    baseline: str,
    contenders: Sequence[str] | None = None,
    controls: Collection[str] = (),
    *,
    alpha: float = 0.05,
    pools: Mapping[str, int] | None = None,
    chance: Mapping[str, Collection[str]] | None = None,
    also: Collection[str] = (),
) -> tuple[Comparison | HeadToHead, ...]:
    """Compare every contender with the baseline, with individual and joint p-values and intervals, in the given order.

    The joint ones hold with 1 − `alpha` for all contenders except the `controls` together (`step_down`). A contender
    that shares opponents with the baseline is compared over those; one that only met the baseline is compared head to
    head. By default `contenders` are all other agents that met one of the baseline's opponents. `pools` and `chance`
    are by contender, as in `compare`; `chance` has the baseline itself if its games depend on chance. `also` are
    controls whose games count as the baseline's whenever another agent is compared with it. ValueError as in `compare`.
    """
    met = {name: opponents_of(table, name) for name in (baseline, *(contenders or table.agents))}
    shared = {name: met[name] & met[baseline] - {name, baseline} for name in met}
    if contenders is None:
        contenders = [name for name in table.agents if name != baseline and shared[name]]
    results: list[Comparison | HeadToHead] = []
    for name in contenders:
        pool, luck = (pools or {}).get(name), (chance or {}).get(name, ())
        if shared[name] or baseline not in met[name]:
            extra = [] if name in controls else also
            results.append(compare(table, name, baseline, alpha=alpha, pool=pool, chance=luck, also=extra))
        else:
            pool = None if baseline in luck else pool
            results.append(compare_directly(table, name, baseline, alpha=alpha, pool=pool))
    return _adjusted(results, controls, alpha)


def compare_each(
    table: PairTable, meetings: Sequence[tuple[str, str]], *, alpha: float = 0.05, pools: Sequence[int | None]
) -> tuple[HeadToHead, ...]:
    """Compare the two agents of every meeting head to head, with p-values and intervals that hold jointly.

    `pools` has one entry per meeting; see `compare_directly`. ValueError if an agent is unknown.
    """
    duels = [
        compare_directly(table, agent, other, alpha=alpha, pool=pool)
        for (agent, other), pool in zip(meetings, pools, strict=True)
    ]
    return tuple(result for result in _adjusted(duels, (), alpha) if isinstance(result, HeadToHead))


def _adjusted(
    alone: Sequence[Comparison | HeadToHead], controls: Collection[str], alpha: float
) -> tuple[Comparison | HeadToHead, ...]:
    """Return the results with p-values and intervals of all claims adjusted; a control makes no claim."""
    claims = [result for result in alone if result.contender not in controls]
    judged = zip(*step_down([claim.parts for claim in claims], [claim.p_value for claim in claims], alpha), strict=True)
    results = []
    for result in alone:
        if result.contender not in controls:
            p_value, interval = next(judged)
            jointly = rate_of(interval) if isinstance(result, HeadToHead) else interval
            result = replace(result, adjusted_p=p_value, family=len(claims), jointly=jointly)
        results.append(result)
    return tuple(results)


@dataclass(frozen=True, eq=False)
class _Cells:
    """One agent's complete pairs by opening (rows, ascending) and opponent (columns)."""

    opening: Ints
    cluster: Ints
    wins: Ints
    pairs: Ints

    @property
    def rates(self) -> Floats:
        """Share of games won; NaN without a pair."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.wins / (2 * self.pairs))

    def chosen(self, rows: Any, columns: Any = slice(None)) -> _Cells:
        """Return the cells of some openings and opponents."""
        return _Cells(self.opening[rows], self.cluster[rows], self.wins[rows][:, columns], self.pairs[rows][:, columns])


@dataclass(frozen=True, eq=False)
class _Leads:
    """Leads over the baseline, `means` (opponents,), with what openings contribute to them and to their errors.

    `opening_parts` (openings, opponents) sum to zero, and the errors of `means` are those of such sums; `parts`
    (clusters, opponents) are the same for symmetric openings, numbered by `numbers`, and `covariance` is clustered by
    them. `scores` (clusters, opponents) are flipped by the sign-flip test; they sum to `means`. `clusters` is the
    number of clusters in `sampled`, the leads from each opening (NaN without pairs); further parts belong to openings
    that only the baseline played.
    """

    means: Floats
    opening_parts: Floats
    numbers: Ints
    parts: Floats
    scores: Floats
    clusters: int
    covariance: Floats
    sampled: Floats

    def unseen(self, columns: slice, pool: int, is_chance: npt.NDArray[np.bool_]) -> float:
        """Return the share of a mean's variance that remains due to a pool's unplayed openings and due to chance.

        Of the variance of expected differences (1 − f)·s² remains if a share f of the pool is played. Variation against
        the opponents in `is_chance` may be due to chance alone, so all of it remains.
        """
        variance = float((self.opening_parts[:, columns].mean(axis=1) ** 2).sum())
        sampled, by_chance = self.sampled[:, columns], is_chance[columns]
        known = np.maximum((~np.isnan(sampled)).sum(axis=1), 1)
        spread = float((np.nansum(sampled, axis=1) / known).var())
        luck = float((np.nansum(sampled[:, by_chance], axis=1) / known).var())
        if len(sampled) == pool and not by_chance.any():
            return 0.0
        if not variance:
            return 1.0
        return min(max(1 - max(spread - luck, 0.0) / (pool * variance), 0.0), 1.0)


@dataclass(frozen=True, eq=False)
class _SharedPlay:
    """The part of two agents' play that is compared, against `opponents`; of the same openings if `paired`."""

    opponents: tuple[str, ...]
    missing: tuple[str, ...]
    paired: bool
    baseline_openings: int
    unshared: int
    own: _Cells
    base: _Cells
    leads: _Leads


def _shared_play(table: PairTable, contender: str, baseline: str, also: Collection[str]) -> _SharedPlay:
    """Return both agents' play against common opponents, paired if at least half of the openings are shared."""
    if contender == baseline:
        raise ValueError(f"contender and baseline must differ, not both be {contender!r}")
    met = [opponents_of(table, name) - {contender, baseline, *also} for name in (contender, baseline)]
    common = sorted(met[0] & met[1])
    if not common:
        raise ValueError(f"{contender!r} and {baseline!r} must have met a common opponent")
    own, base = (_cells(table, name, common) for name in (contender, baseline))
    shared, unshared = np.intersect1d(own.opening, base.opening), np.setxor1d(own.opening, base.opening).size
    paired = bool(2 * shared.size >= min(own.opening.size, base.opening.size))
    if paired:
        own, base = (cells.chosen(np.searchsorted(cells.opening, shared)) for cells in (own, base))
        both = (own.pairs > 0) & (base.pairs > 0)
        own, base = (replace(cells, wins=cells.wins * both, pairs=cells.pairs * both) for cells in (own, base))
    played = np.all([cells.pairs.any(axis=0) for cells in (own, base)], axis=0)
    opponents = tuple(name for name, was_played in zip(common, played, strict=True) if was_played)
    own, base = (cells.chosen(cells.pairs[:, played].any(axis=1), played) for cells in (own, base))
    whole = _joined([base, *(_cells(table, name, opponents) for name in also if paired and opponents)])
    if not paired:
        leads = _independent(own, base)
    elif len(whole.opening) == len(base.opening):
        leads = _sample(own.rates - base.rates, own.cluster)
    else:
        leads = _regressed(own, base, whole)
    missing = tuple(sorted((met[0] | met[1]) - set(opponents)))
    return _SharedPlay(opponents, missing, paired, whole.opening.size, paired * unshared, own, base, leads)


def _cells(table: PairTable, agent: str, opponents: Sequence[str]) -> _Cells:
    record = record_of(table, agent)
    column = np.full(len(table.agents), -1)
    column[[table.code(name) for name in opponents]] = np.arange(len(opponents))
    against = column[record.opponent]
    chosen = against >= 0
    opening, start, row = np.unique(record.opening[chosen], return_index=True, return_inverse=True)
    wins, pairs = np.zeros((2, opening.size, len(opponents)), np.int64)
    np.add.at(wins, (row, against[chosen]), record.wins[chosen])
    np.add.at(pairs, (row, against[chosen]), 1)
    return _Cells(opening, record.cluster[chosen][start], wins, pairs)


def _joined(parts: Sequence[_Cells]) -> _Cells:
    """Concatenate the cells of one player under several names; an opening played under two of them counts once."""
    seen, kept = parts[0].opening, [parts[0]]
    for cells in parts[1:]:
        kept.append(cells.chosen(~np.isin(cells.opening, seen)))
        seen = np.concatenate([seen, kept[-1].opening])
    return _Cells(*(np.concatenate([getattr(cells, field.name) for cells in kept]) for field in fields(_Cells)))


def _sample(values: Floats, cluster: Ints, centre: float | Floats = 0.0) -> _Leads:
    """Return the means of `values` (openings, opponents); their scores are deviations from `centre`."""
    known = ~np.isnan(values)
    weights = known / np.maximum(known.sum(axis=0), 1)
    numbers = np.nan_to_num(values)
    means = (numbers * weights).sum(axis=0)
    scores = _summed(numbers * weights, cluster) - centre * _summed(weights, cluster)
    return _leads(means, (numbers - means) * weights, scores, cluster, cluster, values)


def _leads(means: Floats, parts: Floats, scores: Floats, cluster: Ints, own_cluster: Ints, sampled: Floats) -> _Leads:
    summed, clusters = _summed(parts, cluster), np.unique(own_cluster).size
    covariance = summed.T @ summed * (clusters / max(clusters - 1, 1))
    return _Leads(means, parts, np.unique(cluster), summed, scores, clusters, covariance, sampled)


def _independent(own: _Cells, base: _Cells) -> _Leads:
    """Return differences of rates from different openings; scores are deviations from the mean of both agents."""
    first, other = (_sample(cells.rates, cells.cluster) for cells in (own, base))
    centre = (first.clusters * first.means + other.clusters * other.means) / max(first.clusters + other.clusters, 1)
    first, other = (_sample(cells.rates, cells.cluster, centre) for cells in (own, base))
    return _Leads(
        first.means - other.means,
        np.concatenate([first.opening_parts, -other.opening_parts]),
        np.concatenate([first.numbers, other.numbers]),
        np.concatenate([first.parts, -other.parts]),
        np.concatenate([first.scores, -other.scores]),
        min(first.clusters, other.clusters),
        first.covariance + other.covariance,
        first.sampled,
    )


def _regressed(own: _Cells, base: _Cells, whole: _Cells) -> _Leads:
    """Differences if `whole` is `base` with additional rows for the openings that only the baseline has played."""
    # The contender's rate is that of its openings, minus `slope` times the baseline's surplus there over its usual
    # rate. Slope 1 is the plain difference on shared openings, slope 0 that of two independent samples.
    extra = len(whole.opening) - len(own.opening)
    contender, other = (np.pad(cells.rates, ((0, extra), (0, 0)), constant_values=np.nan) for cells in (own, base))
    slope = _slope(own.rates, base.rates)
    usual, lead = _means(whole.rates), contender - slope * other
    shared, played = (~np.isnan(lead)).sum(axis=0), (~np.isnan(whole.rates)).sum(axis=0)
    elsewhere = (1 - slope) * np.nan_to_num(whole.rates - usual) / np.maximum(played, 1)
    parts = np.nan_to_num(lead - _means(lead)) / shared - elsewhere
    scores = np.nan_to_num(lead - (1 - slope) * usual) / shared - elsewhere
    means = _means(lead) - (1 - slope) * usual
    return _leads(means, parts, _summed(scores, whole.cluster), whole.cluster, own.cluster, own.rates - base.rates)


def _slope(own: Floats, base: Floats) -> float:
    """Regression slope of the contender's results by opening on the baseline's, clipped to [0, 1]."""
    # By least squares over openings, all opponents together; 1 if the baseline has the same result in all openings.
    contender, other = (np.nansum(rates - _means(rates), axis=1) for rates in (own, base))
    spread = float(other @ other)
    return min(max(float(contender @ other) / spread, 0.0), 1.0) if spread > _NOTHING else 1.0


def _summed(values: Any, cluster: Ints) -> Any:
    """Sum the rows of each cluster; clusters in ascending order."""
    _, group = np.unique(cluster, return_inverse=True)
    sums = np.zeros((int(group.max(initial=-1)) + 1, values.shape[1]), values.dtype)
    np.add.at(sums, group, values)
    return sums


def _means(rates: Floats) -> Floats:
    """Return means by opponent over the openings met; 0 without any."""
    known = ~np.isnan(rates)
    return np.asarray(np.where(known, rates, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1))
