"""Best-of runs: elimination by confidence sequences, and the state of a run.

Best-of elimination drops each contender once another is significantly better. All contenders meet the same opponents
from the same openings, and every opening gives each a share of the points. For two contenders a gambler bets, opening
after opening, that one of them has the larger share. If its mean share is not larger, the chance that the stake is ever
multiplied by (K − 1)/α is at most α/(K − 1). A contender drops out when the bet on the leader against it reaches that
factor. The best of K contenders has K − 1 others that might appear better by chance: the chance that it ever drops out
is at most α, regardless of how often one looks and of who leads meanwhile.
The bets are those of `anytime`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .anytime import capital_above, checkpoints, confidence_sequence
from .argument_checks import Floats, Ints, check_between
from .proportions import ALPHA, Interval
from .run_results import RunResults

FORMAT = "best-of"


def elimination_times(
    shares: Floats, checkpoints: Iterable[int], alpha: float = ALPHA, pool: int | None = None
) -> Ints:
    """For each contender, return the number of openings after which it dropped out; 0 if it is left.

    At each checkpoint all remaining contenders are compared with the leader. The procedure ends when one is left, or
    when a remaining contender has not played on.

    Args:
        shares: (openings, contenders) in playing order, each in [0, 1]; NaN if a contender has not played.
        checkpoints: numbers of openings after which to look, ascending.
        alpha: chance that the best contender drops out.
        pool: number of openings to draw from, if games do not depend on chance; see `confidence_sequence`.
    """
    after = np.zeros(shares.shape[1], np.int64)
    allowed = pairwise_alpha(shares.shape[1], alpha)
    for checkpoint in checkpoints:
        left = np.flatnonzero(after == 0)
        seen = shares[:checkpoint]
        if len(left) < 2 or len(seen) < checkpoint or np.isnan(seen[:, left]).any():
            break
        leader = left[np.argmax(seen[:, left].mean(axis=0))]
        for contender in left[left != leader]:
            if capital_above(_leads(seen[:, leader], seen[:, contender]), 0.5, allowed, pool).max() >= -math.log(
                allowed
            ):
                after[contender] = checkpoint
    return after


def gap_to_leader(leader: Floats, other: Floats, contenders: int, pool: int | None = None) -> Interval:
    """Estimate the leader's surplus share over the openings both have played, with the interval used for elimination.

    Each end of it is wrong with a chance of at most α/(K − 1) for K contenders, at any time.
    """
    both = ~(np.isnan(leader) | np.isnan(other))
    leads = _leads(leader[both], other[both])
    confidence = 1 - 2 * pairwise_alpha(contenders)
    low, high = confidence_sequence(leads, confidence, pool).last
    mean = 2 * float(leads.mean()) - 1 if leads.size else math.nan
    return Interval(mean, 2 * low - 1, 2 * high - 1, confidence)


def pairwise_alpha(contenders: int, alpha: float = ALPHA) -> float:
    """Error level of each comparison of two contenders: α/(K − 1)."""
    return check_between("alpha", alpha, 0, 0.5) / max(1, contenders - 1)


def _leads(leader: Floats, other: Floats) -> Floats:
    return np.asarray((1 + leader - other) / 2)


@dataclass(frozen=True)
class BestOfContender:
    """A contender of a best-of, and the openings it has played against all opponents.

    `rate` is its share of the points from them (NaN without any), `behind` the surplus of the leader's share over the
    openings both have played; see `gap_to_leader`. It dropped out after `out_after` openings, or is left if
    that is 0.
    """

    contender: str
    openings: int
    rate: float
    behind: Interval
    out_after: int


@dataclass(frozen=True)
class BestOfResult:
    """A best-of: its contenders, in the order leader, other remaining ones, and the others by descending drop-out time.

    `allowed` is the chance of error of each end of an interval; together they give `pairwise_alpha`'s α. `exhausted`:
    all of the run's openings were played.
    """

    contestants: tuple[BestOfContender, ...]
    allowed: float
    exhausted: bool

    @property
    def left(self) -> tuple[BestOfContender, ...]:
        """Contenders that have not dropped out, the leader first."""
        return tuple(contestant for contestant in self.contestants if not contestant.out_after)


def read_contest(findings: RunResults) -> BestOfResult | None:
    """Return the state of a best-of run; None for other runs, and if a baseline to compare with is named.

    Raises:
        ValueError: there are several runs, and one of them is a best-of.
    """
    infos = [source.info for source in findings.sources]
    best_ofs = [info for info in infos if info.requested["format"] == FORMAT]
    if not best_ofs or findings.baseline is not None:
        return None
    if len(infos) > 1:
        raise ValueError(
            f"{best_ofs[0].path} is a best-of, whose eliminations depend on all contenders, and cannot "
            f"be pooled: analyse it alone"
        )
    names, shares = _shares(findings)
    populations = findings.games["population"].unique()
    pool = int(populations[0]) or None if len(populations) == 1 else None
    after = elimination_times(shares, checkpoints(len(shares)), pool=pool)
    played = [int(np.count_nonzero(~np.isnan(column))) for column in shares.T]
    rates = [float(np.nanmean(column)) if count else math.nan for column, count in zip(shares.T, played, strict=True)]
    lead = max(range(len(names)), key=lambda index: (after[index] == 0, played[index], rates[index]))
    contenders = []
    for index, name in enumerate(names):
        lag = gap_to_leader(shares[:, lead], shares[:, index], len(names), pool=pool)
        contenders.append(BestOfContender(name, played[index], rates[index], lag, int(after[index])))
    order = sorted(
        range(len(names)),
        key=lambda index: (index != lead, after[index] > 0, -after[index], contenders[index].behind.low),
    )
    exhausted = max(played, default=0) == len(shares)
    return BestOfResult(tuple(contenders[index] for index in order), pairwise_alpha(len(names)), exhausted)


def _shares(findings: RunResults) -> tuple[list[str], Floats]:
    """Return the contenders, and each one's share of the points per opening in playing order, against all opponents."""
    # NaN if a game is missing.
    import pandas as pd

    (source,) = findings.sources
    agents = {source.names[name]: entry.roles for name, entry in source.info.agents.items()}
    names = [name for name, roles in agents.items() if "contender" in roles]
    opponents = sum("opponent" in roles for roles in agents.values())
    games = findings.games
    rounds = games["own_id"].to_numpy() // 2 // (len(names) * opponents)
    shares = np.full((source.info.openings, len(names)), np.nan)
    for column, name in enumerate(names):
        for_it = np.where(games["agent_1"] == name, 1, np.where(games["agent_2"] == name, 2, 0))
        own = pd.DataFrame({"round": rounds, "won": for_it == games["winner"]})[for_it > 0].groupby("round")["won"]
        complete = own.mean()[own.size() == 2 * opponents]
        shares[complete.index.to_numpy(), column] = complete
    return names, shares
