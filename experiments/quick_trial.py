"""Quick trial of a heuristic: compilation, cost, return values, quick match."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import heuristics
from experiments.inference.pair_intervals import PairCounts, PairInterval, pair_interval
from experiments.suite.agent_answers import ask, failing_position
from experiments.suite.screening import Screening, screen
from experiments.suite.suite_file import read_suite
from isolation.checks.agent_checks import CheckResult, check_values
from isolation.checks.search_cost import Cost, measure_costs
from isolation.checks.speed import random_openings
from isolation.compiling.compile_heuristic import CompileError, compile_heuristic
from isolation.editions.classic_board import Board
from isolation.games.game_batch import GameBatch
from isolation.games.match import play_games
from isolation.players.agents import SearchAgent
from isolation.rules.limits import Limit
from isolation.rules.outcome import Reason
from isolation.usercode.output_capture import WantsToEnd, prevent_exit

Heuristic = Callable[[Any, Any], float]
BASELINE = "improved"
NODES = 1000
OPENING_PLIES = 4
PAIRS, PYTHON_PAIRS = 500, 10
"""How many are played with code that compiles, and with code that does not, however long they take."""
PYTHON_POSITIONS = 100
"""In so many positions of the suite code is asked that does not compile."""
SUITE = "7x7"
SLOW = 200_000.0
"""Nanoseconds a node, from which on code that does not compile plays no games: they would take a minute and more."""


@dataclass(frozen=True)
class Trial:
    """What a trial found.

    Attributes:
        problem: why the heuristic does not compile, or None.
        line: the line of the construct that keeps it from compiling, where known.
        cost: of a node of its search compiled, over the baseline's; None if it does not compile or is not sound,
            and a text that says why it cannot be measured.
        python_cost: the same where both search in Python.
        findings: whether it returns numbers, in test positions and in all that was played here.
        interval: score against the baseline over pairs of games, or None if its values are not sound or it is too slow.
        screening: the same search beside the baseline's in telling positions; None for the same reasons.
        is_difference: the problem is that it compiles, and computes something else than Python.
    """

    problem: str | None
    line: int | None
    cost: Cost | str | None
    python_cost: Cost | str | None
    findings: list[CheckResult]
    interval: PairInterval | None
    screening: Screening | None
    is_difference: bool = False


def try_heuristic(heuristic: Heuristic, pairs: int = PAIRS, python_pairs: int = PYTHON_PAIRS, seed: int = 1) -> Trial:
    """Try a heuristic out, with `pairs` of games against iterative deepening with the baseline.

    Of code that does not compile there are `python_pairs`, and none if it is slow.
    """
    findings = check_values(heuristic)
    is_sound = findings[0].ok
    problem, line, is_difference = None, None, False
    try:
        with prevent_exit():
            compile_heuristic(heuristic)
    except CompileError as error:
        problem, line, is_difference = error.reason, error.line, error.is_difference
    except WantsToEnd as error:
        problem = f"it {error}"
    if not is_sound:
        return Trial(problem, line, None, None, findings, None, None, is_difference)
    python_cost = _cost(heuristic, interpreted=True)
    cost = None if problem else _cost(heuristic, interpreted=False)
    if problem and _is_slow(python_cost):
        return Trial(problem, line, cost, python_cost, findings, None, None, is_difference)
    if isinstance(why := python_cost if problem else cost, str):
        findings.append(CheckResult("cost", False, f"fails during the cost measurement: {why}"))
    match = _quick_match(heuristic, python_pairs if problem else pairs, seed)
    screening = _screening(heuristic, problem is not None, seed)
    findings += _failures_in_play(heuristic, match, screening)
    return Trial(problem, line, cost, python_cost, findings, match.interval, screening, is_difference)


def _is_slow(cost: Cost | str) -> bool:
    return cost.nanoseconds >= SLOW if isinstance(cost, Cost) else "takes longer than" in cost


def _cost(heuristic: Heuristic, interpreted: bool) -> Cost | str:
    agents = [_searching(BASELINE, heuristics.get(BASELINE)), _searching("it", heuristic)]
    return measure_costs(agents, interpreted=interpreted)[1]


@dataclass(frozen=True)
class _Match:
    """The score of a quick match, how many games it had, and those lost by an error: details, and moves before it."""

    interval: PairInterval
    games: int
    failures: list[tuple[str, list[int]]]


def _quick_match(heuristic: Heuristic, pairs: int, seed: int) -> _Match:
    """Pairs of games from openings drawn at random."""
    contender, baseline = _searching("contender", heuristic), _searching("baseline", heuristics.get(BASELINE))
    openings = list(dict.fromkeys(random_openings(2 * pairs, OPENING_PLIES, seed=seed)))[:pairs]
    first = play_games(contender, baseline, openings, range(len(openings)))
    second = play_games(baseline, contender, openings, range(len(openings)))
    won = (first.winner == 1).astype(int) + (second.winner == 2)
    counts = PairCounts(*(int((won == number).sum()) for number in range(3)))
    return _Match(pair_interval(counts), 2 * len(openings), [*_errors(first, side=1), *_errors(second, side=2)])


def _errors(games: GameBatch, side: int) -> Iterator[tuple[str, list[int]]]:
    """The games that a side lost by an error: the detail, and the moves before it."""
    for index in np.flatnonzero((games.reason == Reason.ERROR) & (games.winner != side)).tolist():
        yield games.detail[index], games.moves[games.offsets[index] : games.offsets[index + 1]].tolist()


def _failures_in_play(heuristic: Heuristic, match: _Match, screening: Screening) -> list[CheckResult]:
    """In how many games and solved positions a heuristic failed, why first, and a position at which it fails."""
    failures, counts = match.failures, [f"{len(match.failures):,} of {match.games:,} games"]
    ((score, _),) = screening.contenders
    counts.append(f"{score.failed:,} of {score.repeats * len(screening.suite):,} solved positions")
    failures = failures + [(score.detail, list(score.failed_at))] * (score.failed > 0)
    if not failures:
        return []
    detail, moves = failures[0]
    seen = f"fails in {' and '.join(counts)}, first by {detail}"
    root = Board.from_moves(moves, SUITE)
    board = failing_position(_searching("it", heuristic), root) or root
    return [CheckResult("play", False, seen, fen=board.fen)]


def _screening(heuristic: Heuristic, in_python: bool, seed: int) -> Screening:
    """What telling positions say."""
    suite = read_suite(SUITE, "screen")
    suite = suite.sample(PYTHON_POSITIONS, seed) if in_python else suite
    agents = _searching("ID:improved", heuristics.get(BASELINE)), _searching("it", heuristic)
    baseline, contender = (ask(agent, suite.positions) for agent in agents)
    return screen(suite, baseline, [contender])


def _searching(name: str, heuristic: Heuristic) -> SearchAgent:
    return SearchAgent(name, "alphabeta", heuristic, name, Limit(nodes=NODES))
