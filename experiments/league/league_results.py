"""Results of a league: ranking, forfeits, blunders. Without a run or with a damaged log, ValueError is raised."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from knights_isolation.isolation.processes.subprocess_player import file_name
from knights_isolation.isolation.rules.game import ON_THE_BOARD, Limit, Reason, Size

from ..exact.labelling import UnsolvableRunError, label_run
from ..exact.labels import has_labels, labelled_games
from ..plan import run_keeping
from ..record import log, run_directory
from ..statistics.ratings import Ratings, rate
from ..statistics.run_results import RunResults, load_findings
from .entries import Counting

MOST_LABELLED = 1000
"""Number of games whose moves are compared with perfect play, sampled from those that were decided on the board."""
LABELS_LIMIT = Limit(nodes=2_000_000)
"""Limit per position: some hundredths of a second; solves all but the first plies of 7x7."""
SMALL, FIRST_OF_LARGE = 64, 48
"""Largest board, in cells, that is analysed from ply 0, and the first ply analysed on larger ones (9x11)."""
MOST_MISTAKES = 5
_COLUMNS = ("game_id", "rows", "columns", "agent_1", "agent_2", "opening", "moves", "winner", "reason", "detail")


@dataclass(frozen=True)
class ClassGame:
    """A game of the class between two `agents`; `detail` describes an unusual end."""

    id: int
    size: Size
    agents: tuple[str, str]
    opening: int
    moves: tuple[int, ...]
    winner: str
    loser: str
    reason: str
    detail: str

    @property
    def is_forfeit(self) -> bool:
        """Return whether it was not decided on the board."""
        return self.reason not in ON_THE_BOARD

    def opponent_of(self, agent: str) -> str:
        """Return the other agent."""
        return self.agents[1 - self.agents.index(agent)]


@dataclass(frozen=True)
class PlayerForfeits:
    """Games that an agent lost for the same reason: the reason, the games, and the line of its code if known."""

    agent: str
    reason: str
    detail: str
    games: tuple[int, ...]
    traceback: str


@dataclass(frozen=True)
class Blunder:
    """A move that threw a won game away: the ply (the first placement is 1) and the number of winning moves."""

    game: ClassGame
    ply: int
    winning: int
    legal: int

    @property
    def player(self) -> str:
        """Name of the agent that made the move."""
        return self.game.agents[(self.ply - 1) % 2]


@dataclass(frozen=True)
class Results:
    """Results of a class.

    `findings` and `ratings` are without the games of players that never made a legal move. `labelled` are the ids of
    the games that were compared with perfect play; `why_unlabelled` is the reason if there are none.
    """

    findings: RunResults
    ratings: Ratings
    games: tuple[ClassGame, ...]
    forfeits: tuple[PlayerForfeits, ...]
    blunders: tuple[Blunder, ...]
    labelled: frozenset[int]
    why_unlabelled: str

    @property
    def never_moved(self) -> frozenset[str]:
        """Players that made no legal move in any of their games, and have no rank."""
        return self.findings.unranked

    @cached_property
    def ranks(self) -> dict[str, int | None]:
        """Ranks of all players, best first; players without a rank come last, by name."""
        ranked = {rating.agent: rank for rank, rating in zip(self.ratings.ranks, self.ratings.ratings, strict=True)}
        unranked = sorted({agent for game in self.games for agent in game.agents} - ranked.keys())
        return {**ranked, **dict.fromkeys(unranked)}

    def won(self, agent: str) -> tuple[int, int]:
        """Return the games an agent has won and played; for ranked agents only games among themselves."""
        rated = next((rating for rating in self.ratings.ratings if rating.agent == agent), None)
        if rated:
            return rated.wins, rated.games
        games = self.of(agent)
        return sum(game.winner == agent for game in games), len(games)

    @property
    def resigned(self) -> tuple[ClassGame, ...]:
        """The games that a player resigned where every move loses; they are no forfeits."""
        return tuple(game for game in self.games if game.reason == Reason.RESIGNED.word)

    def of(self, agent: str) -> tuple[ClassGame, ...]:
        """Return the games of an agent."""
        return tuple(game for game in self.games if agent in game.agents)

    def forfeited(self, agent: str) -> Counter[str]:
        """Count the games an agent forfeited, by reason."""
        return Counter(lost.reason for lost in self.forfeits if lost.agent == agent for _ in lost.games)

    def worst_of(self, agent: str) -> tuple[Blunder, ...]:
        """Return the worst mistakes of an agent, at most one per game."""
        by_game: dict[int, Blunder] = {}
        for blunder in self.blunders:
            if blunder.player == agent:
                by_game.setdefault(blunder.game.id, blunder)
        return tuple(by_game.values())[:MOST_MISTAKES]


def judge_league(run: Path, jobs: int, counting: Counting) -> Results:
    """Compare moves of a run with perfect play if feasible, and evaluate its games.

    Players that forfeited and made no legal move in any game so far are recorded: readers of the run leave them out.
    `counting` shows how many games have been compared by so many `jobs`.
    """
    board = run_directory.load_run(run).size
    first_ply = 0 if board.cells <= SMALL else FIRST_OF_LARGE
    why_unlabelled = ""
    with counting("compared with perfect play") as show:
        try:
            label_run(
                run, sample=MOST_LABELLED, forfeits=False, first_ply=first_ply, limit=LABELS_LIMIT, jobs=jobs, show=show
            )
        except UnsolvableRunError:
            why_unlabelled = f"{board} is too large for exact results"
        except ValueError as error:
            why_unlabelled = str(error)
    games = tuple(_games(run))
    moved = {game.agents[ply % 2] for game in games for ply in range(game.opening, len(game.moves))}
    run_keeping.note_unranked(run, {game.loser for game in games if game.is_forfeit} - moved)
    return read_results(run, why_unlabelled)


def read_results(run: Path, why_unlabelled: str = "") -> Results:
    """Evaluate the games that a run of a class has so far."""
    findings = load_findings([run])
    games = tuple(_games(run))
    blunders, labelled = _blunders(run, games) if has_labels(run) else ((), frozenset())
    forfeits = tuple(_forfeits(run, games))
    return Results(findings, rate(findings), games, forfeits, blunders, labelled, why_unlabelled)


def _games(run: Path) -> Iterator[ClassGame]:
    for row in log.read_table(run, _COLUMNS).sort_by("game_id").to_pylist():
        yield ClassGame(
            row["game_id"], Size(row["rows"], row["columns"]), (row["agent_1"], row["agent_2"]),
            len(row["opening"]), tuple(row["moves"]), row[f"agent_{row['winner']}"], row[f"agent_{3 - row['winner']}"],
            row["reason"], row["detail"],
        )  # fmt: skip


def _forfeits(run: Path, games: tuple[ClassGame, ...]) -> Iterator[PlayerForfeits]:
    alike: dict[tuple[str, str, str], list[int]] = {}
    for game in games:
        if game.is_forfeit:
            alike.setdefault((game.loser, game.reason, game.detail), []).append(game.id)
    traces = {agent: _tracebacks(run, agent) for agent, _, _ in alike}
    for (agent, reason, detail), ids in sorted(alike.items(), key=lambda item: (-len(item[1]), item[0])):
        yield PlayerForfeits(agent, reason, detail, tuple(ids), traces[agent].get(detail, ""))


def _tracebacks(run: Path, agent: str) -> dict[str, str]:
    tracebacks: dict[str, str] = {}
    try:
        lines = (run / run_directory.ENGINES / f"{file_name(agent)}.jsonl").read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    for line in lines:
        try:
            said = json.loads(line)
            tracebacks.setdefault(str(said["detail"]), str(said["traceback"]))
        except (ValueError, KeyError, TypeError):  # truncated because a process was killed
            continue
    return tracebacks


def _blunders(run: Path, games: tuple[ClassGame, ...]) -> tuple[tuple[Blunder, ...], frozenset[int]]:
    """Return the moves that threw wins away, by number of winning alternatives, and the ids of the examined games."""
    table, labels = labelled_games(run, log.read_table(run, ("game_id", "plies")))
    by_id = {game.id: game for game in games}
    blunders = [
        Blunder(by_id[row["game_id"]], ply + 1, row["winning"][ply], row["legal"][ply])
        for row in labels.to_pylist()
        for ply in np.flatnonzero(np.array(row["kept"]) == 0).tolist()
    ]
    blunders.sort(
        key=lambda blunder: (-blunder.winning / max(blunder.legal, 1), -blunder.winning, blunder.game.id, blunder.ply)
    )
    return tuple(blunders), frozenset(table["game_id"].to_pylist())
