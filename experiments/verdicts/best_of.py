"""State of a best-of run, and standings and sequential tests of a run in progress."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..inference.argument_checks import Floats
from ..inference.intervals import Interval
from ..inference.sequential.confidence_sequence import (
    confidence_sequence,
    elimination_times,
    gap_to_leader,
    pairwise_alpha,
)
from ..plan.schedule import pair_points
from ..plan.tournament_plan import Plan
from ..play.pools.pool import checkpoints
from ..play.stop_rules import sprt_paths
from ..statistics.run_results import RunResults

FORMAT = "best-of"


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


@dataclass(frozen=True)
class LiveStanding:
    """Share of points of one agent over the completed openings, with an anytime-valid 95 % interval."""

    name: str
    openings: int
    rate: float
    low: float
    high: float


@dataclass(frozen=True)
class LiveTest:
    """Sequential test of one contender: its log-likelihood ratio and bounds."""

    name: str
    ratio: float
    lower_bound: float
    upper_bound: float
    is_decided: bool


def live_tests(plan: Plan, points: NDArray[np.int8]) -> list[LiveTest]:
    """Return the tests of a plan with `sprt`, over the pairs played so far; empty without `sprt`."""
    if not plan.config.sprt:
        return []
    return [
        LiveTest(
            plan.entrants[contender].agent.name,
            float(path.llr[-1]) if path.llr.size else 0.0,
            path.sprt.lower_bound,
            path.sprt.upper_bound,
            path.decision is not None,
        )
        for contender, path in sprt_paths(plan, pair_points(points)).items()
    ]


def live_standings(plan: Plan, points: NDArray[np.int8]) -> list[LiveStanding]:
    """Return the standings of baseline, contenders and control, best first.

    The interval is valid however often one looks: it uses the completed openings in the order of the schedule, each as
    the share of points the agent won from it against all its opponents, without games head to head with the baseline.
    """
    pairs = pair_points(points)
    standings = []
    for index, entrant in enumerate(plan.entrants):
        won = _games_won(plan, pairs, index)
        if won is not None and set(entrant.roles) != {"opponent"}:
            pool = plan.population if plan.is_census else None
            low, high = confidence_sequence(won.mean(axis=1) / 2, pool=pool).last
            # divided once, as in the tables of a run, so that both round equally
            rate = float(won.sum() / (2 * won.size)) if len(won) else float("nan")
            standings.append(LiveStanding(entrant.agent.name, len(won), rate, low, high))
    return sorted(standings, key=lambda standing: -np.nan_to_num(standing.rate))


def _games_won(plan: Plan, pairs: NDArray[np.int8], entrant_index: int) -> NDArray[np.int64] | None:
    """Return the games that one agent won, by completed opening and its matches; None if it has no match."""
    matches = plan.schedule.matches
    own = plan.counted_matches(entrant_index)
    if not own:
        return None
    columns = pairs[:, own]
    done = columns[(columns >= 0).all(axis=1)].astype(np.int64)
    seconds = np.array([matches[number].second == entrant_index for number in own])
    won: NDArray[np.int64] = np.where(seconds, 2 - done, done)
    return won
