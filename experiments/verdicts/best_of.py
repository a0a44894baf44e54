"""State of a best-of run: remaining contenders, and when the others were eliminated."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..inference.argument_checks import Floats
from ..inference.cluster_intervals import Interval
from ..inference.sequential.elimination import elimination_times, gap_to_leader, pairwise_alpha
from ..play.pools.batch_feed import checkpoints
from ..statistics.run_results import RunResults

FORMAT = "best-of"


@dataclass(frozen=True)
class BestOfContender:
    """A contender of a best-of, and the openings it has played against all opponents.

    `rate` is its share of the points from them (NaN without any), `behind` the surplus of the leader's share over the
    openings both have played; see `elimination.gap_to_leader`. It dropped out after `out_after` openings, or is left if
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
    agents = {source.names[name]: entry["roles"] for name, entry in source.info.agents.items()}
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
