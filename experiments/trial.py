"""A quick trial of a heuristic: does it compile, what does it cost, is it sound, and how does it do at first sight?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import heuristics
from experiments.inference.pairs import PairCounts, PairInterval, pair_interval
from experiments.suite.asking import ask
from experiments.suite.screening import Screening, screen
from experiments.suite.store import read_suite
from isolation.agents import SearchAgent
from isolation.checkup import Finding, check_values, interpreted_cost
from isolation.compiling.compiler import CompileError, compile_heuristic
from isolation.contained import WantsToEnd, unending
from isolation.limits import Limit
from isolation.match import play_games
from isolation.speed import nodes_per_second, random_openings

Heuristic = Callable[[Any, Any], float]
BASELINE = "improved"
NODES = 1000
OPENING_PLIES = 4
MOST_PAIRS = 500
SUITE = "7x7"
FEWEST_POSITIONS = 100
"""Fewer positions than that tell nothing worth waiting for."""
SLOW = 5000.0
"""Microseconds a call, from which on a search of that many nodes takes longer than anybody waits."""


@dataclass(frozen=True)
class Trial:
    """What a trial found.

    Attributes:
        problem: why the heuristic does not compile, or None.
        line: the line of the construct that keeps it from compiling, where known.
        nanoseconds: what a node costs in alpha-beta search, the heuristic's share and the search's together.
        baseline_nanoseconds: the same for the baseline.
        interpreted_microseconds: what a call costs in Python.
        findings: whether its values are sound.
        interval: score against the baseline over pairs of games, or None if its values are not sound or it is too slow.
        screening: the same search beside the baseline's in telling positions; None for the same reasons.
    """

    problem: str | None
    line: int | None
    nanoseconds: float
    baseline_nanoseconds: float
    interpreted_microseconds: float
    findings: list[Finding]
    interval: PairInterval | None
    screening: Screening | None


def try_heuristic(heuristic: Heuristic, seconds: float = 4.0, seed: int = 1) -> Trial:
    """Try a heuristic out, with at most `seconds` of games against iterative deepening with the baseline."""
    findings = check_values(heuristic)
    is_sound = findings[0].ok
    problem, line = None, None
    try:
        with unending():
            compile_heuristic(heuristic)
    except CompileError as error:
        problem, line = error.reason, error.line
    except WantsToEnd as error:
        problem = f"it {error}"
    microseconds = interpreted_cost(heuristic) if is_sound else float("nan")
    is_slow = problem is not None and microseconds > SLOW
    if not is_sound:
        nanoseconds = float("nan")
    else:
        nanoseconds = 1000 * microseconds if is_slow else _cost(heuristic, problem is not None)
    return Trial(
        problem,
        line,
        nanoseconds,
        _cost(heuristics.get(BASELINE), interpreted=False),
        microseconds,
        findings,
        _quick_match(heuristic, seconds, seed) if is_sound and not is_slow else None,
        _screening(heuristic, nanoseconds, seconds, seed) if is_sound and not is_slow else None,
    )


def _cost(heuristic: Heuristic, interpreted: bool) -> float:
    openings = random_openings(20, OPENING_PLIES)
    depth = 3 if interpreted else 6
    speed = nodes_per_second(heuristic, openings, depth, interpreted=interpreted, at_least=0.2)
    return 1e9 / speed.per_second


def _quick_match(heuristic: Heuristic, seconds: float, seed: int) -> PairInterval:
    """Pairs of games from openings drawn at random, until the time or the openings are used up."""
    contender, baseline = _searching("contender", heuristic), _searching("baseline", heuristics.get(BASELINE))
    openings = list(dict.fromkeys(random_openings(2 * MOST_PAIRS, OPENING_PLIES, seed=seed)))[:MOST_PAIRS]
    counts, size, started = [0, 0, 0], 1, time.perf_counter()
    while openings and time.perf_counter() - started < seconds:
        batch, openings = openings[:size], openings[size:]
        size = min(2 * size, 50)
        first = play_games(contender, baseline, batch, range(len(batch)))
        second = play_games(baseline, contender, batch, range(len(batch)))
        for won_first, won_second in zip(first.winner == 1, second.winner == 2, strict=True):
            counts[int(won_first) + int(won_second)] += 1
    return pair_interval(PairCounts(*counts))


def _screening(heuristic: Heuristic, nanoseconds: float, seconds: float, seed: int) -> Screening | None:
    """What telling positions say, as many as there are or as time allows; None if that is too few."""
    suite = read_suite(SUITE, "screen")
    positions = int(seconds * 1e9 / (NODES * nanoseconds))
    if positions < FEWEST_POSITIONS:
        return None
    suite = suite.sample(positions, seed) if positions < len(suite) else suite
    agents = _searching("ID:improved", heuristics.get(BASELINE)), _searching("it", heuristic)
    baseline, contender = (ask(agent, suite.positions) for agent in agents)
    return screen(suite, baseline, [contender])


def _searching(name: str, heuristic: Heuristic) -> SearchAgent:
    return SearchAgent(name, "alphabeta", heuristic, name, Limit(nodes=NODES))
