"""Paired differences: contenders compared with the baseline on shared opponents and openings, or head to head.

Games that share an opening depend on each other, whoever plays them, so openings are the unit throughout: the
difference is summed over opponents and sides within each opening before anything is tested, resampled or averaged.
Openings that only the baseline has played reduce the error of its rate (`shared_openings`). If contender and baseline
met different openings (as a control does, on purpose), both are treated as independent samples.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import scipy

from .argument_checks import Floats, Ints, check_between, check_integer
from .game_pairs import PairTable, opponents_of, record_of
from .proportions import (
    ErrorContributions,
    Interval,
    PairCounts,
    agree,
    count_pairs,
    difference_interval,
    pair_interval,
    rate_interval,
    standard_error,
)
from .shared_openings import PairCells, Sample, SharedPlay, shared_play
from .step_down import flip, step_down

Verdict = Literal["better", "worse", "equal", "no significant difference"]


@dataclass(frozen=True)
class OpponentEffect:
    """Difference against one opponent; `p_better` is one-sided, against "no better than the baseline".

    `error` is the standard error. `baseline_rate` is the baseline's rate on the contender's openings; if the baseline
    played further openings, it is corrected by their results.

    `is_alike`: contender and baseline won the same number of games in every pair against the opponent. `is_chance`:
    these games depend on chance.
    """

    opponent: str
    openings: int
    contender_rate: float
    baseline_rate: float
    difference: Interval
    error: float
    p_better: float
    is_alike: bool
    is_chance: bool


@dataclass(frozen=True)
class Evidence:
    """What a verdict is adjusted for beside the contenders of its own report.

    `looks` are the openings at each look at the question, this one included; `others` is the number of other questions
    of the family. `p_value` allows for the looks, not for the others.
    """

    looks: tuple[int, ...]
    others: int
    p_value: float


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a comparison with the baseline has in common over shared opponents and head to head.

    The comparison is about all openings of this kind on this board. `p_value`, two-sided, holds for this comparison
    alone. `jointly` and `adjusted_p` come from one step-down procedure and hold together with those of all contenders
    in the report, the `family`; for a single contender and for a control they are those of this comparison alone and
    `family` is 1. An interval excludes no difference exactly if its p-value is at most `alpha`. `parts` are the
    contributions of openings to the difference and its error, and `evidence` is what was adjusted for beyond the
    report. `openings` are the contender's that count. `unfinished` pairs lack a game and are left out.
    """

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
        return verdict_by(self.lead, self.is_census and not self.is_empty)


@dataclass(frozen=True, kw_only=True)
class Comparison(Result):
    """One contender compared with the baseline. Rates and differences are shares of games won, averaged over opponents.

    `baseline_openings` are the baseline's openings. `paired`: both met the same openings and only
    those count, except further openings that the baseline played under another name. Left out: `unshared` openings,
    played by only one of the two; `missing` opponents, met by only one of the two.

    `pool` is the number of openings if they were drawn without replacement; otherwise, and unless `paired`, it is None.
    With a pool only unplayed openings and games of chance are uncertain; a census without chance is exact: its interval
    has no width, and its p-values are 0 or 1.

    The per-opponent `effects` have a `covariance` (opponents, opponents) clustered by opening. `difference` holds for
    this comparison alone. `heterogeneity_q` with `heterogeneity_df` tests whether the effect differs between opponents
    (NaN if it cannot be tested). `p_every_opponent` is against "no better against at least one of them"
    (intersection-union).
    """

    opponents: tuple[str, ...]
    missing: tuple[str, ...]
    paired: bool
    baseline_openings: int
    unshared: int
    difference: Interval
    effects: tuple[OpponentEffect, ...]
    covariance: tuple[tuple[float, ...], ...]
    heterogeneity_q: float
    heterogeneity_df: int
    heterogeneity_p: float
    p_every_opponent: float

    @property
    def contender_rate(self) -> float:
        """Mean of the contender's rates over opponents; NaN without any."""
        return _mean([effect.contender_rate for effect in self.effects])

    @property
    def baseline_rate(self) -> float:
        """Mean of the baseline's rates over opponents; NaN without any."""
        return _mean([effect.baseline_rate for effect in self.effects])

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to compare: no complete pairs against a common opponent."""
        return not self.openings or not self.baseline_openings

    @property
    def is_census(self) -> bool:
        """Return whether both played every opening of the pool without chance, so that `difference` is exact."""
        return super().is_census and not any(effect.is_chance for effect in self.effects)

    @property
    def plays_alike(self) -> bool:
        """Return whether both had the same result in every game that does not depend on chance."""
        fixed = [effect for effect in self.effects if not effect.is_chance]
        return bool(fixed) and all(effect.is_alike for effect in fixed)

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
        """Variance of one opening's difference, with hypothetical openings added, so never zero.

        NaN without openings.

        For a single opening it is unknown, and the largest possible variance is returned.
        """
        error = standard_error(self.parts.part, self.parts.score, self.parts.clusters, len(self.effects))
        return min(self.openings * error**2, 1.0) if self.effects else math.nan


def verdict_by(lead: tuple[float, float], is_exact: bool) -> Verdict:
    """Return the verdict that an interval of a contender's lead gives; if it is exact and excludes nothing, "equal"."""
    low, high = lead
    if low > 0 or high < 0:
        return "better" if low > 0 else "worse"
    return "equal" if is_exact else "no significant difference"


def compare(
    table: PairTable, contender: str, baseline: str, *,
    alpha: float = 0.05, pool: int | None = None, chance: Collection[str] = (), also: Collection[str] = (),
) -> Comparison:  # fmt: skip
    """Compare `contender` with `baseline` on the opponents both met; intervals hold with 1 − `alpha`.

    The comparison is paired if the other agent met at least half of the openings of the one with fewer. `pool` is the
    number of openings the schedule draws from without replacement. `chance` names the opponents whose games with either
    agent depend on chance. `also` are other names of the baseline, under which it played more openings: they reduce the
    error of its rate if openings are shared.

    Raises:
        ValueError: an agent is unknown or compared with itself, there is no common opponent, or the pool is smaller
            than the openings played.
    """
    check_between("alpha", alpha)
    play = shared_play(table, contender, baseline, also)
    own, samples = play.own, play.samples
    known = _known_pool(play, pool)
    effects = tuple(_effect(play, column, alpha, known, chance) for column in range(len(play.opponents)))
    covariance = np.sum([sample.covariance for sample in samples], axis=0)
    parts = _parts(play, slice(None), alpha, known, chance)
    q, degrees, heterogeneity_p = _heterogeneity(samples, covariance)
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
        baseline_openings=play.whole.opening.size,
        unshared=play.unshared,
        unfinished=int(np.count_nonzero(~table.complete[of_either])),
        pool=known,
        alpha=alpha,
        difference=difference,
        jointly=difference,
        p_value=test.p_value,
        adjusted_p=test.p_value,
        effects=effects,
        covariance=tuple(tuple(float(c) for c in row) for row in covariance),
        heterogeneity_q=q,
        heterogeneity_df=degrees,
        heterogeneity_p=heterogeneity_p if parts.unseen else math.nan,
        p_every_opponent=max((effect.p_better for effect in effects), default=1.0),
        parts=parts,
    )


def _known_pool(play: SharedPlay, pool: int | None) -> int | None:
    """Return the pool if it reduces uncertainty: not for two samples, nor for a census with gaps."""
    played = play.own.opening.size
    if pool is not None and check_integer("pool", pool) < played:
        raise ValueError(f"pool must be at least the {played} openings played, not {pool}")
    has_gaps = played == pool and not play.own.pairs.all()
    return pool if play.paired and not has_gaps else None


def _mean(rates: Sequence[float]) -> float:
    return float(np.mean(rates)) if rates else math.nan


def _parts(
    play: SharedPlay, columns: slice, alpha: float, pool: int | None, chance: Collection[str]
) -> ErrorContributions:
    """Return the contributions of openings to the mean difference over the chosen opponents."""
    samples, opponents = play.samples, play.opponents[columns]
    estimate = (
        float(np.subtract.reduce([sample.means[columns] for sample in samples]).mean()) if opponents else math.nan
    )
    if len(samples) == 1:
        scores = [samples[0].scores]
        cells: tuple[PairCells, ...] = (play.whole,)
    else:
        scores, cells = _pooled_scores(*samples), (play.own, play.base)
    signs = (1, -1)
    part, score = (
        np.concatenate(
            [sign * values[:, columns].sum(axis=1) for sign, values in zip(signs, of_sides, strict=False)]
        ) / max(len(opponents), 1)
        for of_sides in ([sample.cluster_parts for sample in samples], scores)
    )  # fmt: skip
    unseen, step = 1.0, 0.0
    if pool and opponents:
        is_chance = np.array([name in chance for name in play.opponents])
        unseen = samples[0].unseen(columns, pool, is_chance)
        step = 1 / (4 * pool * len(opponents)) if unseen else 0.0
    clusters = min(sample.clusters for sample in samples)
    error = standard_error(part, score, clusters, len(opponents))
    return ErrorContributions(
        np.concatenate([np.unique(of_side.cluster) for of_side in cells]), part, score, clusters, unseen, step,
        difference_interval(estimate, error, clusters, 1 - alpha, unseen, step),
    )  # fmt: skip


def _pooled_scores(first: Sample, other: Sample) -> list[Floats]:
    """Return deviations of each sample's openings from their mean, as contributions to the difference of the means."""
    mean = (first.clusters * first.means + other.clusters * other.means) / max(first.clusters + other.clusters, 1)
    return [sample.scores - mean * sample.weights for sample in (first, other)]


def _effect(play: SharedPlay, column: int, alpha: float, pool: int | None, chance: Collection[str]) -> OpponentEffect:
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
        is_alike=play.paired and bool(np.array_equal(play.own.wins[:, column], play.base.wins[:, column])),
        is_chance=opponent in chance,
    )


def _heterogeneity(samples: Sequence[Sample], covariance: Floats) -> tuple[float, int, float]:
    """Cochran's Q of the per-opponent effects, its degrees of freedom and p-value; NaN for one opponent or opening."""
    # Q is Hotelling's T² of the contrasts between opponents, so a paired comparison has an F distribution; otherwise
    # the distribution is taken as chi-squared. One hypothetical opening, won against one opponent and lost against
    # none, keeps the covariance invertible for opponents with identical results.
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
        return q, degrees, float(scipy.special.chdtrc(degrees, q))
    if clusters <= degrees:
        return q, degrees, math.nan
    scale = (clusters - degrees) / ((clusters - 1) * degrees)
    return q, degrees, float(scipy.special.fdtrc(degrees, clusters - degrees, q * scale))


@dataclass(frozen=True, kw_only=True)
class HeadToHead(Result):
    """Head-to-head result of a contender against the baseline.

    `rate` is the contender's share of games won, and holds for this comparison alone; `jointly` is of this share too,
    so no difference is one half. With a `pool`, the number of existing openings, it is exact once all are played.
    Without one, or if games depend on chance, the played openings are a sample, clustered by symmetry. The p-value is
    of sign flips of openings, and after a census 0 or 1.
    """

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

    `pool` is the number of openings the schedule draws from without replacement; give it only if both play an opening
    the same way every time. If more pairs were played than it has openings, they are not from this pool alone, and it
    is ignored.

    Raises:
        ValueError: an agent is unknown.
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
    rate = rate_interval(np.bincount(unit, wins), 2 * np.bincount(unit), confidence=confidence)
    if pool:
        rate = pair_interval(pairs, confidence, pool=pool)
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

    The joint ones hold with 1 − `alpha` for all contenders except the `controls` together
    (`step_down`). A contender that shares opponents with the baseline is compared over those; one that
    only met the baseline is compared head to head. By default `contenders` are all other agents that met one of the
    baseline's opponents. `pools` has, by contender, the number of openings that the schedule draws from without
    replacement. `chance` has, by contender, the opponents whose games with it or with the baseline depend on chance,
    and the baseline itself if its games do. `also` are controls whose games count as the baseline's whenever another
    agent is compared with it.

    Raises:
        ValueError: an agent is unknown, a contender has met neither the baseline nor one of its opponents, or a pool
            is smaller than the openings of a comparison.
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
            results.append(
                compare_directly(table, name, baseline, alpha=alpha, pool=None if baseline in luck else pool)
            )
    return _adjusted(results, controls, alpha)


def compare_each(
    table: PairTable, meetings: Sequence[tuple[str, str]], *, alpha: float = 0.05, pools: Sequence[int | None]
) -> tuple[HeadToHead, ...]:
    """Compare the two agents of every meeting head to head, with p-values and intervals that hold jointly.

    `pools` has one entry per meeting; see `compare_directly`.

    Raises:
        ValueError: an agent is unknown.
    """
    duels = [
        compare_directly(table, agent, other, alpha=alpha, pool=pool)
        for (agent, other), pool in zip(meetings, pools, strict=True)
    ]
    return tuple(result for result in _adjusted(duels, (), alpha) if isinstance(result, HeadToHead))


def _adjusted(
    results_so_far: Sequence[Comparison | HeadToHead], controls: Collection[str], alpha: float
) -> tuple[Comparison | HeadToHead, ...]:
    """Return the results with p-values and intervals of all claims adjusted; a control makes no claim."""
    claims = [index for index, comparison in enumerate(results_so_far) if comparison.contender not in controls]
    judged = step_down(
        [results_so_far[index].parts for index in claims], [results_so_far[index].p_value for index in claims], alpha
    )
    results = list(results_so_far)
    for index, p_value, interval in zip(claims, *judged, strict=True):
        comparison = results_so_far[index]
        jointly = rate_of(interval) if isinstance(comparison, HeadToHead) else interval
        results[index] = replace(comparison, adjusted_p=p_value, family=len(claims), jointly=jointly)
    return tuple(results)
