"""Standings and sequential tests of a run in progress."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..inference.sequential.confidence_sequence import confidence_sequence
from ..plan.schedule import pair_points
from ..plan.tournament_plan import Plan
from ..play.stop_rules import sprt_paths


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
