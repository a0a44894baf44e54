"""Results by opening and opponent, and the errors of estimates made from them.

A baseline may have played more openings than a contender. Its results on those show how favourable the shared openings
were for it and, as far as the contender's results correlate with its own, for the contender: the regression estimator
of two-phase sampling (Cochran, *Sampling Techniques*, 1977, ch. 12).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from .argument_checks import Floats, Ints
from .game_pairs import PairTable, opponents_of, record_of

_NOTHING = 1e-12


@dataclass(frozen=True, eq=False)
class PairCells:
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

    def against(self, opponents: npt.NDArray[np.bool_]) -> PairCells:
        """Return the given columns, and the rows that have a pair in them."""
        rows = self.pairs[:, opponents].any(axis=1)
        return PairCells(
            self.opening[rows], self.cluster[rows], self.wins[rows][:, opponents], self.pairs[rows][:, opponents]
        )


@dataclass(frozen=True, eq=False)
class Sample:
    """One number per opening and opponent: its means over openings, and contributions to their errors.

    `means` (opponents,). `opening_parts` (openings, opponents) sum to zero over openings, and the errors of `means` are
    those of such sums. `cluster_parts` are the same, summed over symmetric openings. `scores` (clusters, opponents) are
    flipped by the sign-flip test; they sum to `means`. `weights` are the weights of the clusters in them. `clusters` is
    the number of clusters in `sampled`, the original numbers (openings, opponents); further parts belong to openings
    that only the baseline played.
    """

    means: Floats
    opening_parts: Floats
    cluster_parts: Floats
    scores: Floats
    weights: Floats
    clusters: int
    sampled: Floats

    @property
    def covariance(self) -> Floats:
        """Covariance of `means`, clustered; zero for a single cluster."""
        return np.asarray(self.cluster_parts.T @ self.cluster_parts * (self.clusters / max(self.clusters - 1, 1)))

    def unseen(self, columns: slice, pool: int, is_chance: npt.NDArray[np.bool_]) -> float:
        """Return the share of a mean's variance that remains due to a pool's unplayed openings and due to chance.

        If all openings had been played, the mean would be that of all expected differences. Their variance is therefore
        subtracted: (1 − f)·s² remains if a share f of the pool is played. Variation against the opponents in
        `is_chance`, whose games depend on chance, may be due to chance alone; it would change if the opening were
        played again, so all of it remains.
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
class SharedPlay:
    """The part of two agents' play that is compared, against the remaining `opponents`.

    `own` and `base` are cells of the same openings if `paired`; `whole` has the baseline's further openings as
    additional rows. `samples` has one sample of differences if paired, otherwise one of rates for each.
    """

    opponents: tuple[str, ...]
    missing: tuple[str, ...]
    paired: bool
    unshared: int
    own: PairCells
    base: PairCells
    whole: PairCells
    samples: tuple[Sample, ...]


def shared_play(table: PairTable, contender: str, baseline: str, also: Collection[str] = ()) -> SharedPlay:
    """Return both agents' play against common opponents, paired if at least half of the openings are shared.

    `also` are other names of the baseline, under which it played more openings: they count if openings are shared.

    Raises:
        ValueError: an agent is unknown or compared with itself, or there is no common opponent.
    """
    if contender == baseline:
        raise ValueError(f"contender and baseline must differ, not both be {contender!r}")
    met = [opponents_of(table, name) - {contender, baseline, *also} for name in (contender, baseline)]
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
    extra = [_cells(table, name, against) for name in also] if paired and against else []
    whole = _joined([base, *extra])
    samples: tuple[Sample, ...]
    if not paired:
        samples = _reduce(own.rates, own.cluster), _reduce(base.rates, base.cluster)
    elif len(whole.opening) == len(base.opening):
        samples = (_reduce(own.rates - base.rates, own.cluster),)
    else:
        samples = (_regressed(own, base, whole),)
    return SharedPlay(
        opponents=against,
        missing=tuple(sorted((met[0] | met[1]) - set(against))),
        paired=paired,
        unshared=unshared.size if paired else 0,
        own=own,
        base=base,
        whole=whole,
        samples=samples,
    )


def _cells(table: PairTable, agent: str, opponents: Sequence[str]) -> PairCells:
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
    return PairCells(opening, record.cluster[chosen][start], wins.reshape(shape), pairs.reshape(shape))


def _shared_cells(own: PairCells, other: PairCells, openings: Ints) -> tuple[PairCells, PairCells]:
    """Return both agents' cells at the given openings, with only the pairs that both have played."""
    rows = [np.searchsorted(cells.opening, openings) for cells in (own, other)]
    both = (own.pairs[rows[0]] > 0) & (other.pairs[rows[1]] > 0)
    first, second = (
        PairCells(openings, cells.cluster[row], cells.wins[row] * both, cells.pairs[row] * both)
        for cells, row in zip((own, other), rows, strict=True)
    )
    return first, second


def _joined(parts: Sequence[PairCells]) -> PairCells:
    """Concatenate the cells of one player under several names; an opening played under two of them counts once."""
    seen, kept = parts[0].opening, [parts[0]]
    for cells in parts[1:]:
        new = ~np.isin(cells.opening, seen)
        kept.append(PairCells(cells.opening[new], cells.cluster[new], cells.wins[new], cells.pairs[new]))
        seen = np.concatenate([seen, cells.opening[new]])
    return PairCells(*(np.concatenate([getattr(cells, field.name) for cells in kept]) for field in fields(PairCells)))


def _regressed(own: PairCells, base: PairCells, whole: PairCells) -> Sample:
    """Differences if `whole` is `base` with additional rows for the openings that only the baseline has played."""
    # The contender's rate is that of its openings, minus `slope` times the baseline's surplus there over its usual
    # rate. Slope 1 is the plain difference on shared openings, slope 0 that of two independent samples.
    extra = len(whole.opening) - len(own.opening)
    contender, other = (np.pad(cells.rates, ((0, extra), (0, 0)), constant_values=np.nan) for cells in (own, base))
    slope = _slope(own.rates, base.rates)
    usual, lead = _means(whole.rates), contender - slope * other
    shared, played = (~np.isnan(lead)).sum(axis=0), (~np.isnan(whole.rates)).sum(axis=0)
    elsewhere = (1 - slope) * np.nan_to_num(whole.rates - usual) / np.maximum(played, 1)
    means = _means(lead) - (1 - slope) * usual
    parts = np.nan_to_num(lead - _means(lead)) / shared - elsewhere
    scores = np.nan_to_num(lead - (1 - slope) * usual) / shared - elsewhere
    return Sample(
        means, parts, _summed(parts, whole.cluster), _summed(scores, whole.cluster),
        _summed(~np.isnan(lead) / shared, whole.cluster), np.unique(own.cluster).size, own.rates - base.rates,
    )  # fmt: skip


def _slope(own: Floats, base: Floats) -> float:
    """Regression slope of the contender's results by opening on the baseline's, clipped to [0, 1]."""
    # By least squares over openings, all opponents together; 1 if the baseline has the same result in all openings.
    contender, other = (np.nansum(rates - _means(rates), axis=1) for rates in (own, base))
    spread = float(other @ other)
    return min(max(float(contender @ other) / spread, 0.0), 1.0) if spread > _NOTHING else 1.0


def _reduce(values: Floats, cluster: Ints) -> Sample:
    known = ~np.isnan(values)
    weights = known / np.maximum(known.sum(axis=0), 1)
    numbers = np.nan_to_num(values)
    means = (numbers * weights).sum(axis=0)
    parts = (numbers - means) * weights
    by_cluster = _summed(parts, cluster)
    return Sample(
        means,
        parts,
        by_cluster,
        _summed(numbers * weights, cluster),
        _summed(weights, cluster),
        len(by_cluster),
        values,
    )


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
