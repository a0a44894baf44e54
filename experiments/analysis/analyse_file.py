"""Analyse a file: check, compile and screen its heuristics, and play gauntlets at equal nodes and at equal cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from joblib import cpu_count

from knights_isolation.isolation.checks.agent_checks import check_player
from knights_isolation.isolation.checks.answers import CheckResult
from knights_isolation.isolation.loading.load_user_code import load_player
from knights_isolation.isolation.rules.game import ON_THE_BOARD, Cost, Limit, Size

from ..plan.config import load_config, playable_size
from ..plan.run_keeping import digest_of
from ..play.runner import Play, play_kept
from ..record.run_directory import HOME, games_at_end
from ..statistics.contender_verdicts import Verdicts, judge_together
from ..statistics.paired_differences import Comparison, HeadToHead
from ..statistics.run_results import RunResults, load_findings, relative_costs
from ..studies.screening import Mistake, Screening, screen, worst_mistakes
from .quick_trial import FileContents, Show, Trial, try_functions

RunKind = Literal["nodes", "cost", "python", "players", "dear-nodes", "dear-cost"]
"""Kinds of gauntlets."""
DEAR_RUN = "dear-"
"""Prefix of the gauntlets of functions whose nodes cost very much, which are played last."""

MOST_PAIRS = 500
_PAIRS = 1600
"""Pairs against each opponent, divided among all functions: about a minute of games."""
LARGE_BOARD = 4
"""Factor by which a game takes longer on boards of more than 64 cells."""
PYTHON_LIMIT, PYTHON_PAIRS = Limit(nodes=100), 10
"""Limit and pairs for functions that do not compile, which are much slower."""
PLAYER_LIMIT, PLAYER_PAIRS = Limit(cpu_ms=50), 2
"""Limit and pairs for players, which use all the time they are given."""


@dataclass(frozen=True)
class TrialConditions:
    """Test conditions for the functions and players of a file, on a board ROWSxCOLUMNS.

    The `baseline` is the agent to beat; None for ID_Improved. Empty `opponents` are the seven classic ones. The `limit`
    is per move. `pairs` are openings against each opponent, each played with sides swapped; None for as many as a
    minute allows. The `seed` is of openings and games.
    """

    baseline: str | None = None
    opponents: tuple[str, ...] = ()
    limit: Limit = Limit(nodes=10_000)
    size: str = "7x7"
    pairs: int | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        try:
            playable_size(self.size)
        except ValueError as error:
            raise ValueError(f"board {self.size}: {error}") from None

    @property
    def board(self) -> Size:
        """Return the size of the board."""
        return playable_size(self.size)

    @property
    def is_of_nodes(self) -> bool:
        """Return whether the limit counts nodes, so that searches can also be compared at equal cost."""
        return self.limit.unit == "nodes"


def play_gauntlet(
    contents: FileContents,
    names: Sequence[str],
    kind: RunKind,
    question: TrialConditions,
    jobs: int,
    play: Play,
    among: int = 0,
) -> RunResults:
    """Play a gauntlet of these functions or players and return its results. Finished games are not played again.

    `among` is the number of functions that the time of an analysis is divided among; by default that of `names`.
    KeyboardInterrupt if the run was interrupted.
    """
    pairs, limit = size_of_run(among or len(names), kind, question)
    form = "{name}={path}:{name}" if kind == "players" else "{name}=ID:{path}:{name}"
    limits = f"@{PLAYER_LIMIT}" if kind == "players" and question.is_of_nodes else ""
    keys: dict[str, Any] = {
        "contenders": tuple(form.format(name=name, path=contents.path) + limits for name in names),
        "control": kind.removeprefix(DEAR_RUN) in ("nodes", "cost"),
        "board": question.size,
        "pairs": question.pairs or pairs,
        "limit": str(limit),
        "equal_cost": kind.removeprefix(DEAR_RUN) == "cost",
        "seed": question.seed,
    }
    keys |= {"baseline": question.baseline} if question.baseline else {}
    keys |= {"opponents": question.opponents} if question.opponents else {}
    name = f"{Path(contents.path).stem}-{digest_of([contents.content_hash, keys])}-{kind}"
    path = HOME / name
    if games_at_end(path) is None:
        play_kept(load_config(None, {**keys, "jobs": jobs, "out": str(path)}), play)
    return load_findings([path])


def size_of_run(functions: int, kind: RunKind, question: TrialConditions) -> tuple[int, Limit]:
    """Return the number of pairs against each opponent and the limit per move."""
    if kind == "players":
        return PLAYER_PAIRS, question.limit
    if kind == "python":
        return PYTHON_PAIRS, PYTHON_LIMIT if question.is_of_nodes else question.limit
    if not question.is_of_nodes:
        return PYTHON_PAIRS, question.limit
    pairs = min(MOST_PAIRS, _PAIRS // (functions + 1))
    return max(1, pairs // (LARGE_BOARD if question.board.cells > 64 else 1)), question.limit


MISTAKES = 2
CLASSIC_OPPONENTS, OWN_PLIES = 7, 0.37
"""Number of opponents by default, and the share of a board's cells that a player visits in a game."""
QUICK_LIMIT = Limit(nodes=1000)


@dataclass(frozen=True)
class PlayerResult:
    """A player of a file, the findings of its checks, and its results (no games if it fails a check)."""

    name: str
    checks: tuple[CheckResult, ...]
    won: int = 0
    games: int = 0
    forfeits: int = 0


@dataclass(frozen=True)
class Analysis:
    """Results of analysing a file's heuristics and players, and the conditions of the analysis.

    `screening` has moves in solved positions of the functions that compile; None if none compiles. `mistakes` are wins
    that a function throws away, the most telling first. `runs` are the gauntlets that were played, by kind.
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
        comparisons = (comparison for verdicts in self._judged(kind) for comparison in verdicts.comparisons)
        return next((comparison for comparison in comparisons if comparison.contender == name), None)

    def _judged(self, kind: RunKind) -> list[Verdicts]:
        """Return the verdicts of a kind of gauntlet, and of that of the dear functions."""
        return [verdicts for played, verdicts in self.verdicts.items() if played.removeprefix(DEAR_RUN) == kind]

    def head_to_head(self, name: str, kind: RunKind) -> HeadToHead | None:
        """Return the games of a function with the baseline itself in a gauntlet, or None if they did not meet there."""
        met = (verdicts.against_baseline(name) for verdicts in self._judged(kind))
        return next((duel for duel in met if duel), None)

    def cost(self, name: str) -> Cost | str | None:
        """Return the cost of a function's compiled search: the one that set the nodes of the games at equal cost."""
        runs = [results for kind, results in self.runs.items() if kind.removeprefix(DEAR_RUN) == "cost"]
        used = {agent: cost for results in runs for agent, cost in relative_costs(results).items()}
        return used.get(name, self.trials[name].cost)

    @property
    def ranked(self) -> list[str]:
        """Names of the functions: those that played first, best first."""

        def lead(name: str) -> float:
            comparison = self.comparison(name, "nodes")
            return comparison.difference.estimate if comparison else -2.0

        return sorted(self.trials, key=lead, reverse=True)


Guard = Callable[[], AbstractContextManager[None]]
"""Context in which the user's functions run in this process, for example to capture their output."""


def analyse(
    contents: FileContents,
    question: TrialConditions,
    play: Play,
    jobs: int = 0,
    show: Show = lambda what: None,
    guard: Guard = nullcontext,
) -> Iterator[Analysis]:
    """Check, compile, screen and play everything that a file has; yield the analysis when all of it is done.

    Functions whose nodes cost very much play last. Before that, the analysis is yielded without their games. `play`
    plays or resumes a run, with `jobs` worker processes; 0: one per core. KeyboardInterrupt if a run was interrupted:
    the same call resumes it.
    """
    with guard():
        trials = try_functions(contents, question.baseline, QUICK_LIMIT, in_python=True, show=show)
        players = []
        for name in contents.players:
            show(f"checking {name}")
            players.append(PlayerResult(name, tuple(check_player(load_player(contents.path, name).value))))
        answers = {name: trial.answers for name, trial in trials.items() if trial.answers}
        # all that compile are screened together, so that intervals and p-values hold for all of them at once
        compiled = [asked for name, asked in answers.items() if not (trials[name].problem or trials[name].is_dear)]
        contenders = [asked.contender for asked in compiled]
        screening = screen(compiled[0].suite, compiled[0].baseline, contenders) if compiled else None
        mistakes = {
            name: tuple(worst_mistakes(asked.suite, asked.contender, asked.baseline, MISTAKES))
            for name, asked in answers.items()
        }
    for runs in _play_all(contents, question, trials, players, jobs, play, show):
        if "players" in runs:
            players = [_with_games(player, runs["players"]) for player in players]
        yield Analysis(contents, question, trials, screening, mistakes, tuple(players), runs)


def _play_all(
    contents: FileContents,
    question: TrialConditions,
    trials: dict[str, Trial],
    players: Sequence[PlayerResult],
    jobs: int,
    play: Play,
    show: Show,
) -> Iterator[dict[RunKind, RunResults]]:
    """Play the gauntlets: equal nodes and equal cost for compiled functions, short ones for all others."""
    # Yields the results twice if there are dear functions besides others: before they have played, and after.
    compiled = [name for name, trial in trials.items() if trial.problem is None and trial.is_sound]
    dear = [name for name in compiled if trials[name].is_dear]
    first = [name for name in compiled if name not in dear] or dear
    last = dear if first != dear else []
    interpreted = [name for name, trial in trials.items() if trial.problem and trial.is_sound and trial.interval]
    sound = [player.name for player in players if all(check.ok or check.is_note for check in player.checks)]
    wanted: list[tuple[RunKind, list[str], str]] = [
        ("nodes", first, f"playing at {question.limit}"),
        ("cost", first if question.is_of_nodes else [], "playing at equal cost"),
        ("python", interpreted, "playing in Python"),
        ("players", sound, "playing with the file's players"),
        ("dear-cost", last if question.is_of_nodes else [], f"playing {', '.join(last)} at equal cost"),
        ("dear-nodes", last, f"playing {', '.join(last)} at {question.limit}"),
    ]
    for name in dear:
        show(_warning(name, trials[name], question, len(compiled), jobs))
    runs: dict[RunKind, RunResults] = {}
    for kind, names, what in wanted:
        if names:
            if kind.startswith(DEAR_RUN):
                yield dict(runs)
            show(what)
            among = len(compiled) if kind.removeprefix(DEAR_RUN) in ("nodes", "cost") else 0
            runs[kind] = play_gauntlet(contents, names, kind, question, jobs, play, among)
    yield runs


def _warning(name: str, trial: Trial, question: TrialConditions, functions: int, jobs: int) -> str:
    """Return how long the games of a function with dear nodes take, roughly: half of a game's plies are its own."""
    if not (isinstance(trial.cost, Cost) and question.is_of_nodes):
        return f"{name} is slow and plays last"
    pairs = question.pairs or size_of_run(functions, "nodes", question)[0]
    games = 2 * pairs * (len(question.opponents) or CLASSIC_OPPONENTS)
    nodes = games * question.board.cells * OWN_PLIES * int(question.limit.value)
    minutes = nodes * trial.cost.nanoseconds / 60e9 / (jobs or cpu_count())
    took = f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.0f} h"
    return (
        f"{name}: a node costs {trial.cost.times:.0f} × as much, so its {games:,} games at {question.limit} take about "
        f"{took} and come last; Ctrl-C keeps what is done"
    )


def _with_games(player: PlayerResult, results: RunResults) -> PlayerResult:
    games = [row for row in results.table.to_pylist() if player.name in (row["agent_1"], row["agent_2"])]
    lost = [row for row in games if row[f"agent_{row['winner']}"] != player.name]
    forfeits = sum(row["reason"] not in ON_THE_BOARD for row in lost)
    return replace(player, won=len(games) - len(lost), games=len(games), forfeits=forfeits)
