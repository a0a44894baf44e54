"""Interim results of a run that is being played: its sequential tests, and standings that are valid at any time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..plan.schedule import pair_points
from ..plan.tournament_plan import Plan, having
from ..statistics.anytime import confidence_sequence
from ..statistics.game_pairs import AgentPairs
from ..statistics.sprt import USUAL_ERROR, SprtPath, duel_path, gauntlet_path


def sprt_paths(plan: Plan, pairs: NDArray[np.int8]) -> dict[int, SprtPath]:
    """Return the sequential test of each contender of a plan with `sprt`, by its index among the entrants.

    `pairs` are the pair points so far, [round, match] (see `schedule.pair_points`).
    """
    assert plan.config.sprt
    low, high, error, *_ = (*plan.config.sprt, USUAL_ERROR)
    (baseline,) = having(plan.entrants, "baseline")
    own = {contender: _record_so_far(plan, pairs, contender) for contender in having(plan.entrants, "contender")}
    if plan.config.format == "head-to-head":
        model = plan.config.elo_model or "logistic"
        return {
            contender: duel_path(record, baseline, low, high, error, error, model) for contender, record in own.items()
        }
    controls = having(plan.entrants, "control") if plan.pools_control else []
    base, *others = (_record_so_far(plan, pairs, agent) for agent in (baseline, *controls))
    control = others[0] if others else None
    return {
        contender: gauntlet_path(record, base, low, high, error, error, control) for contender, record in own.items()
    }


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
