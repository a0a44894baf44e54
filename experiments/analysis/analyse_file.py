"""Analyse a file: check, compile and screen its heuristics, and play them against the baseline's opponents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property

from experiments.analysis import quick_trial
from experiments.analysis.file_contents import FileContents
from experiments.analysis.gauntlets import RunKind, TrialConditions, play_gauntlet
from experiments.analysis.quick_trial import Trial, TrialSettings
from experiments.inference.contenders.baseline_comparison import Comparison
from experiments.inference.contenders.head_to_head import HeadToHead
from experiments.play.runner import Play
from experiments.roster import parse_agent, parse_limit
from experiments.statistics.agent_costs import relative_costs
from experiments.statistics.run_results import RunResults
from experiments.suite.screening import Mistake, Screening, screen, worst_mistakes
from experiments.verdicts.contender_verdicts import Verdicts, judge_together
from isolation.checks.agent_checks import check_player
from isolation.checks.check_result import CheckResult
from isolation.checks.search_cost import Cost
from isolation.loading.load_user_code import load_player
from isolation.rules.outcome import ON_THE_BOARD

MISTAKES = 2
QUICK_LIMIT = "nodes=1000"


@dataclass(frozen=True)
class PlayerResult:
    """A player of a file, the findings of its checks, and its results (no games if it fails a check)."""

    name: str
    checks: tuple[CheckResult, ...]
    won: int = 0
    games: int = 0
    forfeits: int = 0

    @property
    def is_sound(self) -> bool:
        """Return whether every check was passed (notes do not count as failures)."""
        return all(check.ok or check.is_note for check in self.checks)


@dataclass(frozen=True)
class Analysis:
    """Results of analysing a file's heuristics and players.

    Attributes:
        contents: heuristics and players of the file.
        question: opponents, limit and board of the analysis.
        trials: by function, whether it compiles, its cost, its failures, and a quick match.
        screening: moves in solved positions of the functions that compile; None if none compiles.
        mistakes: wins that the leading function throws away, the most telling first.
        players: the file's players.
        runs: the gauntlets that were played, by kind.
    """

    contents: FileContents
    question: TrialConditions
    trials: dict[str, Trial]
    screening: Screening | None
    mistakes: dict[str, tuple[Mistake, ...]]
    players: tuple[PlayerResult, ...]
    runs: dict[RunKind, RunResults]

    @cached_property
    def verdicts(self) -> dict[RunKind, Verdicts]:
        """Verdicts by gauntlet: all functions of all gauntlets are judged together."""
        kinds: list[RunKind] = [kind for kind in self.runs if kind != "players"]
        return dict(zip(kinds, judge_together([self.runs[kind] for kind in kinds]), strict=True))

    def comparison(self, name: str, kind: RunKind) -> Comparison | None:
        """Return the comparison of a function with the baseline in a gauntlet, or None if it did not play there."""
        judged = self.verdicts[kind].comparisons if kind in self.verdicts else ()
        return next((comparison for comparison in judged if comparison.contender == name), None)

    def head_to_head(self, name: str, kind: RunKind) -> HeadToHead | None:
        """Return the games of a function with the baseline itself in a gauntlet, or None if they did not meet there."""
        return self.verdicts[kind].against_baseline(name) if kind in self.verdicts else None

    def cost(self, name: str) -> Cost | str | None:
        """Return the cost of a function's compiled search: the one that set the nodes of the games at equal cost."""
        used = relative_costs(self.runs["cost"]) if "cost" in self.runs else {}
        return used.get(name, self.trials[name].cost)

    @property
    def ranked(self) -> list[str]:
        """Names of the functions: those that played first, best first."""

        def lead(name: str) -> float:
            comparison = self.comparison(name, "nodes")
            return comparison.difference.estimate if comparison else -2.0

        return sorted(self.trials, key=lead, reverse=True)


Show = Callable[[str], None]
"""Called with progress messages."""
Guard = Callable[[], AbstractContextManager[None]]
"""Context in which the user's functions run in this process, for example to capture their output."""


def analyse(
    contents: FileContents,
    question: TrialConditions,
    play: Play,
    jobs: int = 0,
    show: Show = lambda what: None,
    guard: Guard = nullcontext,
) -> Analysis:
    """Check, compile, screen and play everything that a file has.

    Args:
        contents: heuristics and players of the file.
        question: opponents, limit and board.
        play: plays or resumes a run.
        jobs: worker processes; 0: one per core.

    Raises:
        KeyboardInterrupt: a run was interrupted; calling this again with the same arguments resumes it.
    """
    with guard():
        trials = try_functions(contents, question.baseline, QUICK_LIMIT, in_python=True, show=show)
        players = check_players(contents, show)
        screening, mistakes = screen_together(trials), _mistakes(trials)
    runs = _play_all(contents, question, trials, players, jobs, play, show)
    if "players" in runs:
        players = [_with_games(player, runs["players"]) for player in players]
    return Analysis(contents, question, trials, screening, mistakes, tuple(players), runs)


def try_functions(
    contents: FileContents, baseline: str | None, limit: str, *, in_python: bool, show: Show = lambda what: None
) -> dict[str, Trial]:
    """Check and compile each function of a file, and try it in a quick match and in solved positions."""
    opponent = parse_agent(baseline, parse_limit(limit)) if baseline else None
    settings = TrialSettings(opponent, parse_limit(limit), contents.size, in_python)
    trials = {}
    for name, function in contents.functions.items():
        show(f"checking {name}")
        trials[name] = quick_trial.try_heuristic(function, settings=settings)
    return trials


def check_players(contents: FileContents, show: Show = lambda what: None) -> list[PlayerResult]:
    """Return what `test-agent` finds about each player of a file."""
    players = []
    for name in contents.players:
        show(f"checking {name}")
        players.append(PlayerResult(name, tuple(check_player(load_player(contents.path, name).value))))
    return players


def screen_together(trials: dict[str, Trial]) -> Screening | None:
    """Screen all functions that compile together, so that intervals and p-values hold for all of them at once."""
    asked = [trial.answers for trial in trials.values() if trial.answers and trial.problem is None]
    if not asked:
        return None
    return screen(asked[0].suite, asked[0].baseline, [question.contender for question in asked])


def _mistakes(trials: dict[str, Trial]) -> dict[str, tuple[Mistake, ...]]:
    """Return the most telling mistakes of each function that was asked for moves in solved positions."""
    return {
        name: tuple(worst_mistakes(trial.answers.suite, trial.answers.contender, trial.answers.baseline, MISTAKES))
        for name, trial in trials.items()
        if trial.answers
    }


def _play_all(
    contents: FileContents,
    question: TrialConditions,
    trials: dict[str, Trial],
    players: Sequence[PlayerResult],
    jobs: int,
    play: Play,
    show: Show,
) -> dict[RunKind, RunResults]:
    """Play the gauntlets: equal nodes and equal cost for compiled functions, short ones for all others."""
    compiled = [name for name, trial in trials.items() if trial.problem is None and trial.is_sound]
    interpreted = [name for name, trial in trials.items() if trial.problem and trial.is_sound and trial.interval]
    sound = [player.name for player in players if player.is_sound]
    wanted: list[tuple[RunKind, list[str], str]] = [
        ("nodes", compiled, f"playing at {question.limit}"),
        ("cost", compiled if question.is_of_nodes else [], "playing at equal cost"),
        ("python", interpreted, "playing in Python"),
        ("players", sound, "playing with the file's players"),
    ]
    runs: dict[RunKind, RunResults] = {}
    for kind, names, what in wanted:
        if names:
            show(what)
            runs[kind] = play_gauntlet(contents, names, kind, question, jobs, play)
    return runs


def _with_games(player: PlayerResult, results: RunResults) -> PlayerResult:
    """Return a player with the number of its games won and of its games lost by forfeit."""
    games = [row for row in results.table.to_pylist() if player.name in (row["agent_1"], row["agent_2"])]
    lost = [row for row in games if row[f"agent_{row['winner']}"] != player.name]
    forfeits = sum(row["reason"] not in ON_THE_BOARD for row in lost)
    return replace(player, won=len(games) - len(lost), games=len(games), forfeits=forfeits)
