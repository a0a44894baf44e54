"""Interim results of a run: when its contenders stop early, sequential tests, standings that are valid at any time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..plan.schedule import pair_points
from ..plan.tournament_plan import Plan, having
from ..statistics.anytime import checkpoints, confidence_sequence, elimination_times
from ..statistics.game_pairs import AgentPairs
from ..statistics.sprt import USUAL_ERROR, Sprt, SprtPath, duel_path, gauntlet_path
from .pools.batch_feed import Stop


def stop_rule(plan: Plan) -> Stop | None:
    """Return the rule by which a plan's contenders stop early, if there is one."""
    return _best_of_rule(plan) if plan.config.format == "best-of" else sprt_rule(plan)


def _best_of_rule(plan: Plan) -> Stop:
    """Return a rule that stops contenders that have dropped out, and all matches once a single contender is left."""
    # The rule uses openings: the share of points that a contender won from one, against all opponents.
    schedule, contenders = plan.schedule, having(plan.entrants, "contender")
    first = np.array([match.first for match in schedule.matches])
    populations = {match.population for match in schedule.matches}
    pool = populations.pop() if len(populations) == 1 else 0

    def decided(pairs: NDArray[np.int8]) -> Collection[int]:
        points = np.where(pairs < 0, np.nan, pairs / 2)
        shares = np.stack([points[:, first == contender].mean(axis=1) for contender in contenders], axis=1)
        after = elimination_times(shares, checkpoints(schedule.rounds), pool=pool or None)
        if np.count_nonzero(after == 0) == 1:
            return range(len(schedule.matches))
        return np.flatnonzero(np.isin(first, np.array(contenders)[after > 0])).tolist()

    return decided


def sprt_rule(plan: Plan) -> Stop | None:
    """Return the sequential test of the plan's `sprt`, for each contender separately; None if it has none.

    Head to head the two values are Elo differences to the baseline, and the test uses pairs. In a gauntlet they are
    differences of win rate to the baseline in percentage points, and the test uses openings: all games a contender
    played from one, against the opponents it shares with the baseline, minus the baseline's, including the control's if
    it counts as the baseline. A decided contender stops in all its matches; those in which it is an opponent of another
    contender continue.
    """
    if plan.config.sprt is None:
        return None

    def decided(pairs: NDArray[np.int8]) -> Collection[int]:
        stopped = {contender for contender, path in sprt_paths(plan, pairs).items() if path.decision}
        return [index for index, match in enumerate(plan.schedule.matches) if match.first in stopped]

    return decided


def sprt_paths(plan: Plan, pairs: NDArray[np.int8]) -> dict[int, SprtPath]:
    """Return the sequential test of each contender of a plan with `sprt`, by its index among the entrants.

    `pairs` are the pair points so far, [round, match] (see `schedule.pair_points`).
    """
    assert plan.config.sprt
    low, high, error, *_ = (*plan.config.sprt, USUAL_ERROR)
    (baseline,) = having(plan.entrants, "baseline")
    own = {contender: _record_so_far(plan, pairs, contender) for contender in having(plan.entrants, "contender")}
    if plan.config.format == "head-to-head":
        asked = Sprt(low, high, error, error, plan.config.elo_model or "logistic")
        return {contender: duel_path(record, baseline, asked) for contender, record in own.items()}
    controls = having(plan.entrants, "control") if plan.pools_control else []
    base, control, *_ = (*(_record_so_far(plan, pairs, agent) for agent in (baseline, *controls)), None)
    asked = Sprt(low, high, error, error)
    return {contender: gauntlet_path(record, base, asked, control) for contender, record in own.items()}


def _record_so_far(plan: Plan, pairs: NDArray[np.int8], agent: int) -> AgentPairs:
    """Return the complete pairs of an agent, by its index in the schedule, in the schedule's order."""
    # Opponents are indices in the schedule, openings are rows of its cells.
    won = _games_won(plan, pairs, agent)
    rounds, column = np.nonzero(won >= 0)
    matches = [plan.schedule.matches[index] for index in plan.counted_matches(agent)]
    others = np.array([match.first + match.second - agent for match in matches], np.int64)[column]
    opening = np.array([match.start for match in matches], np.int64)[column] + rounds
    return AgentPairs(opponent=others, opening=opening, cluster=opening, wins=won[rounds, column])


def _games_won(plan: Plan, pairs: NDArray[np.int8], agent: int) -> NDArray[np.int64]:
    """Return the games of each pair that an agent won, [round, match]; -1 while one is missing."""
    # Without those that a gauntlet's contenders play with the baseline itself: they do not count for the difference.
    own = plan.counted_matches(agent)
    is_second = np.array([plan.schedule.matches[index].second == agent for index in own], bool)
    points = pairs[:, own].astype(np.int64)
    return np.where(is_second & (points >= 0), 2 - points, points)


@dataclass(frozen=True)
class LiveStanding:
    """Share of points of one agent over the completed openings, with an anytime-valid 95 % interval."""

    name: str
    openings: int
    rate: float
    low: float
    high: float


def live_tests(plan: Plan, points: NDArray[np.int8]) -> list[SprtPath]:
    """Return the tests of a plan with `sprt`, over the pairs played so far; empty without `sprt`."""
    return list(sprt_paths(plan, pair_points(points)).values()) if plan.config.sprt else []


def live_standings(plan: Plan, points: NDArray[np.int8]) -> list[LiveStanding]:
    """Return the standings of baseline, contenders and control, best first.

    The interval is valid however often one looks: it uses the completed openings in the order of the schedule, each as
    the share of points the agent won from it against all its opponents, without games head to head with the baseline.
    """
    pairs = pair_points(points)
    standings = []
    for index, entrant in enumerate(plan.entrants):
        won = _games_won(plan, pairs, index)
        won = won[(won >= 0).all(axis=1)]
        if won.shape[1] and set(entrant.roles) != {"opponent"}:
            pool = plan.population if plan.is_census else None
            low, high = confidence_sequence(won.mean(axis=1) / 2, pool=pool).last
            # divided once, as in the tables of a run, so that both round equally
            rate = float(won.sum() / (2 * won.size)) if len(won) else float("nan")
            standings.append(LiveStanding(entrant.agent.name, len(won), rate, low, high))
    return sorted(standings, key=lambda standing: -np.nan_to_num(standing.rate))
