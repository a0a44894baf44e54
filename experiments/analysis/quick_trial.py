"""Quick trial of a heuristic: compilation, cost, return values, quick match."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from knights_isolation import heuristics
from knights_isolation.isolation.checks.agent_checks import check_values
from knights_isolation.isolation.checks.answers import CheckResult
from knights_isolation.isolation.checks.search_cost import measure_costs, random_openings
from knights_isolation.isolation.compiling.compile_heuristic import CompileError, compile_heuristic
from knights_isolation.isolation.games.match import GameBatch, play_games
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.game import USUAL_SIZE, Cost, Limit, Reason, Size
from knights_isolation.isolation.search.agents import Agent, SearchAgent
from knights_isolation.isolation.usercode.output_capture import WantsToEnd, prevent_exit

from ..statistics.proportions import PairCounts, PairInterval, pair_interval
from ..studies.screening import AgentAnswers, Screening, ask, failing_position, screen
from ..suite.suite_file import Suite, read_suite

Heuristic = Callable[[Any, Any], float]
BASELINE = "improved"
NODES = 1000
OPENING_PLIES = 4
PAIRS, PYTHON_PAIRS = 500, 10
"""Number of pairs for code that compiles, and for code that does not, regardless of their duration."""
PYTHON_POSITIONS = 100
"""Number of the suite's positions in which code that does not compile is asked for a move."""
DEAR = 50.0
"""Cost over the baseline's from which on compiled code is tried like code that does not compile."""
SUITE = "7x7"
_COST_LIMIT = Limit(nodes=NODES)
_SEED = 1
SLOW = 200_000.0
"""Cost in nanoseconds per node above which uncompiled code plays no games: they would take over a minute."""


@dataclass(frozen=True, eq=False)
class TrialSettings:
    """Settings of a trial, the same for all functions of a file, on boards of one size.

    The `baseline` is opponent and standard of comparison; None for iterative deepening with `BASELINE`. The `limit` is
    per move of the heuristic's search. Solved positions exist only for the board of `SUITE`. `measures_python`: also
    measure the cost per node in Python if the heuristic compiles.
    """

    baseline: Agent | None = None
    limit: Limit = Limit(nodes=NODES)
    size: Size = USUAL_SIZE
    measures_python: bool = True

    @property
    def opponent(self) -> Agent:
        """Return the baseline as an agent."""
        return self.baseline or _searching("ID:improved", heuristics.get(BASELINE), self.limit)


@dataclass(frozen=True)
class Answers:
    """Moves of a heuristic's search and of the baseline's in solved positions."""

    suite: Suite
    baseline: AgentAnswers
    contender: AgentAnswers


@dataclass(frozen=True)
class Trial:
    """Findings of a trial: whether it returns numbers, in test positions and in all games played here.

    `problem` is why the heuristic does not compile, or None, and `line` that of the construct that prevents it, if
    known; `is_difference`: it compiles, but the compiled code computes something else than Python. `cost` is the cost
    per node of its compiled search, divided by the baseline's: None if it does not compile or is not sound; a text with
    the reason if it cannot be measured. `python_cost` is the same ratio with both searches in Python. `interval` is the
    score against the baseline over pairs of games, or None if its values are not sound or it is too slow; `screening`
    is its search compared with the baseline's in selected positions, None for the same reasons. `answers` are the moves
    of both in the solved positions.
    """

    problem: str | None
    line: int | None
    cost: Cost | str | None
    python_cost: Cost | str | None
    findings: list[CheckResult]
    interval: PairInterval | None
    screening: Screening | None
    is_difference: bool = False
    settings: TrialSettings = TrialSettings()
    answers: Answers | None = field(default=None, repr=False, compare=False)

    @property
    def is_dear(self) -> bool:
        """Return whether a node of its compiled search costs so much that it is tried in few games and positions."""
        return isinstance(self.cost, Cost) and self.cost.times >= DEAR

    @property
    def is_sound(self) -> bool:
        """Return whether every check was passed (notes do not count as failures)."""
        return all(finding.ok or finding.is_note for finding in self.findings)


def try_heuristic(
    heuristic: Heuristic,
    pairs: int = PAIRS,
    python_pairs: int = PYTHON_PAIRS,
    settings: TrialSettings = TrialSettings(),
    show: Callable[[str], None] = lambda what: None,
) -> Trial:
    """Try a heuristic, with `pairs` of games against the baseline.

    Code that does not compile or is dear, and any code under a time limit, plays `python_pairs` instead, and none if it
    is slow.
    """
    findings = check_values(heuristic, settings.size)
    is_sound = findings[0].ok
    problem, line, is_difference = None, None, False
    try:
        with prevent_exit():
            compile_heuristic(heuristic)
    except CompileError as error:
        problem, line, is_difference = error.reason, error.line, error.is_difference
    except WantsToEnd as error:
        problem = f"it {error}"
    trial = Trial(problem, line, None, None, findings, None, None, is_difference, settings)
    if not is_sound:
        return trial
    in_python = problem is not None
    show("measuring what a node costs")
    python_cost = _cost(heuristic, settings, interpreted=True) if in_python or settings.measures_python else None
    cost = None if in_python else _cost(heuristic, settings, interpreted=False)
    trial = replace(trial, cost=cost, python_cost=python_cost)
    measured = python_cost if in_python else cost
    is_slow = measured.nanoseconds >= SLOW if isinstance(measured, Cost) else "takes longer than" in str(measured)
    if in_python and is_slow:
        return trial
    if isinstance(measured, Cost):
        show(f"a node costs {measured.times:.3g} × as much; playing a quick match")
    else:
        findings.append(CheckResult("cost", False, f"fails during the cost measurement: {measured}"))
    takes_time = in_python or trial.is_dear or not settings.limit.is_reproducible
    interval, failures = _quick_match(heuristic, python_pairs if takes_time else pairs, settings)
    answers = screening = None
    if str(settings.size) == SUITE:
        suite, baseline = _baseline_answers(settings, takes_time)
        answers = Answers(suite, baseline, ask(_searching("it", heuristic, settings.limit), suite.positions))
        screening = screen(suite, baseline, [answers.contender])
    findings += _failures_in_play(heuristic, interval, failures, screening, settings)
    return replace(trial, interval=interval, screening=screening, answers=answers)


def _cost(heuristic: Heuristic, settings: TrialSettings, interpreted: bool) -> Cost | str:
    agents = [_searching(BASELINE, heuristics.get(BASELINE), _COST_LIMIT), _searching("it", heuristic, _COST_LIMIT)]
    return measure_costs(agents, settings.size, interpreted=interpreted)[1]


def _quick_match(
    heuristic: Heuristic, pairs: int, settings: TrialSettings
) -> tuple[PairInterval, list[tuple[str, list[int]]]]:
    """Return the score of a quick match, and the games lost by an error: detail and preceding moves."""
    contender, baseline = _searching("contender", heuristic, settings.limit), settings.opponent
    drawn = random_openings(2 * pairs, OPENING_PLIES, settings.size, seed=_SEED)
    openings = list(dict.fromkeys(drawn))[:pairs]
    first = play_games(contender, baseline, openings, range(len(openings)), settings.size)
    second = play_games(baseline, contender, openings, range(len(openings)), settings.size)
    won = (first.winner == 1).astype(int) + (second.winner == 2)
    counts = PairCounts(*(int((won == number).sum()) for number in range(3)))
    return pair_interval(counts), [*_errors(first, side=1), *_errors(second, side=2)]


def _errors(games: GameBatch, side: int) -> Iterator[tuple[str, list[int]]]:
    for index in np.flatnonzero((games.reason == Reason.ERROR) & (games.winner != side)).tolist():
        yield games.detail[index], games.moves[games.offsets[index] : games.offsets[index + 1]].tolist()


def _failures_in_play(
    heuristic: Heuristic,
    interval: PairInterval,
    failures: list[tuple[str, list[int]]],
    screening: Screening | None,
    settings: TrialSettings,
) -> list[CheckResult]:
    """Report how many games and solved positions a heuristic failed in, with the first reason and position."""
    counts = [f"{len(failures):,} of {2 * interval.pairs.n:,} games"]
    if screening:
        ((score, _),) = screening.contenders
        counts.append(f"{score.failed:,} of {score.repeats * len(screening.suite):,} solved positions")
        failures = failures + [(score.detail, list(score.failed_at))] * (score.failed > 0)
    if not failures:
        return []
    detail, moves = failures[0]
    seen = f"fails in {' and '.join(counts)}, first by {detail}"
    root = Board.from_moves(moves, settings.size)
    board = failing_position(_searching("it", heuristic, settings.limit), root) or root
    return [CheckResult("play", False, seen, fen=board.fen)]


@lru_cache(maxsize=2)
def _baseline_answers(settings: TrialSettings, is_sample: bool) -> tuple[Suite, AgentAnswers]:
    """Return the solved positions and the baseline's moves there, which are the same for all functions of a file."""
    suite = read_suite(SUITE, "screen")
    suite = suite.sample(PYTHON_POSITIONS, _SEED) if is_sample else suite
    return suite, ask(settings.opponent, suite.positions)


def _searching(name: str, heuristic: Heuristic, limit: Limit) -> SearchAgent:
    return SearchAgent(name, "alphabeta", heuristic, name, limit)
