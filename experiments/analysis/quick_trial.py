"""Heuristics and players of a file, and a quick trial of each: compilation, cost, return values, quick match."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from knights_isolation import heuristics
from knights_isolation.isolation.checks.agent_checks import check_values
from knights_isolation.isolation.checks.answers import CheckResult
from knights_isolation.isolation.checks.search_cost import measure_costs, random_openings
from knights_isolation.isolation.compiling.compile_heuristic import CompileError, compile_heuristic
from knights_isolation.isolation.games.match import GameBatch, play_games
from knights_isolation.isolation.loading.load_user_code import (
    LoadError,
    content_hash,
    data_hash,
    is_player,
    load_heuristic,
    load_module,
    load_player,
)
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.edition import THIRD, is_of_third_edition
from knights_isolation.isolation.rules.game import USUAL_SIZE, Cost, Limit, Reason, Size
from knights_isolation.isolation.rules.parameters import unpartial
from knights_isolation.isolation.rules.third_edition import StateHeuristic
from knights_isolation.isolation.search.agents import Agent, SearchAgent
from knights_isolation.isolation.usercode.output_capture import WantsToEnd, prevent_exit

from ..plan import AgentLike, parse_agent, split_reference
from ..plan.user_files import likely_heuristics, other_definitions
from ..statistics.proportions import PairCounts, PairInterval, pair_interval
from ..studies.screening import AgentAnswers, Screening, ask, failing_position, screen
from ..suite.suite_file import Suite, read_suite

Heuristic = Callable[[Any, Any], float]
Show = Callable[[str], None]
"""Called with progress messages."""
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


@dataclass(frozen=True)
class FileContents:
    """Heuristics by name, and names of the player classes, of a file; `size` is the usual board of its edition.

    `content_hash` is that of its source, of the local modules it imports, and of the data it read. `skipped` are its
    other functions and classes, each with why it is neither; empty if one function was named.
    """

    path: str
    content_hash: str
    functions: dict[str, Heuristic]
    players: tuple[str, ...]
    size: Size
    skipped: dict[str, str]


def read_file(reference: str) -> FileContents:
    """Return the heuristics and players of ``FILE``, or the one heuristic of ``FILE:FUNCTION``.

    Helpers that happen to take two arguments are excluded, and imported functions unless the file defines none of its
    own. LoadError if the file cannot be loaded, has no such function, or nothing to analyse.
    """
    path, name = split_reference(reference)
    if name:
        functions = {name: load_heuristic(path, name).value}
        players: tuple[str, ...] = ()
        skipped: dict[str, str] = {}
    else:
        functions, players = _heuristics(path), _players(path)
        skipped = other_definitions(path, {*functions, *players})
    if not functions and not players:
        why = "".join(f"; {name} {reason}" for name, reason in skipped.items())
        raise LoadError(
            f"{path} has no heuristic, a function of (game, player), and no player, a class with get_move{why}"
        )
    module = load_module(path)
    is_third = is_of_third_edition(Path(str(module.__file__)).read_bytes())
    size = THIRD.usual_size if is_third else USUAL_SIZE
    return FileContents(path, content_hash(path) + data_hash(path), functions, players, size, skipped)


def agents_named(agent: AgentLike) -> list[AgentLike]:
    """Return the heuristics of FILE.py, or that of FILE.py:NAME, as agents; other agents as they are.

    LoadError if the file cannot be loaded.
    """
    reference, at, limit = agent.partition("@") if isinstance(agent, str) else ("", "", "")
    if not re.fullmatch(r"(?!\w+:)[^=]+\.py(:[\w.]+)?", reference):
        return [agent]
    path = reference.rpartition(":")[0] or reference
    try:
        functions = read_file(reference).functions
    except LoadError:
        if path == reference:
            raise
        return [agent]  # it may be a player
    return [f"ID:{path}:{name}{at}{limit}" for name in functions] or [agent]


def _heuristics(path: str) -> dict[str, Heuristic]:
    candidates = likely_heuristics(path)
    home = load_module(path).__name__
    own = {name: function for name, function in candidates.items() if _home_of(function) == home}
    return own or candidates


def _home_of(function: Any) -> str:
    function = unpartial(function)
    function = function.__wrapped__ if isinstance(function, StateHeuristic) else inspect.unwrap(function)
    return str(getattr(function, "__module__", "") or type(function).__module__)


def _players(path: str) -> tuple[str, ...]:
    """Return the names of the player classes that the file defines, without private ones and those that cannot play."""
    module = load_module(path)
    players = []
    for name, value in vars(module).items():
        is_own = name[:1] != "_" and inspect.isclass(value) and value.__module__ == module.__name__
        if is_own and is_player(value):
            with suppress(LoadError):
                load_player(path, name)
                players.append(name)
    return tuple(players)


@dataclass(frozen=True, eq=False)
class TrialSettings:
    """Settings of a trial, the same for all functions of a file, on boards of one size.

    The `baseline` is opponent and standard of comparison; None for iterative deepening with `BASELINE`. The `limit` is
    per move of the heuristic's search. `measures_python`: also measure the cost per node in Python if it compiles.
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
    score against the baseline over pairs of games, `screening` compares their searches in solved positions; None if its
    values are not sound or it is too slow. `answers` are the moves of both there.
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
    show: Show = lambda what: None,
) -> Trial:
    """Try a heuristic, with `pairs` of games against the baseline; in `python_pairs` if it takes time, none if slow."""
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


def try_functions(
    contents: FileContents, baseline: str | None, limit: Limit, *, in_python: bool, show: Show = lambda what: None
) -> dict[str, Trial]:
    """Check and compile each function of a file, and try it in a quick match and in solved positions."""
    settings = TrialSettings(parse_agent(baseline, limit) if baseline else None, limit, contents.size, in_python)
    trials = {}
    for name, function in contents.functions.items():
        show(f"checking {name}")

        def of_it(what: str, name: str = name) -> None:
            show(f"{name}: {what}")

        trials[name] = trial = try_heuristic(function, settings=settings, show=of_it)
        match = trial.interval
        games = f"won {100 * match.estimate:.1f} % of {2 * match.pairs.n} games" if match else ""
        how = "compiles" if trial.problem is None else "runs in Python"
        of_it(", ".join(filter(None, ["passes its checks" if trial.is_sound else "fails", how, games])))
    return trials
