"""A league: its entries, board and tournament, its extension by late submissions, and its results.

Results of what is no run, or of one with a damaged log, are a ValueError.
"""

from __future__ import annotations

import json
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import joblib
import pandas as pd

from knights_isolation.isolation.loading.load_user_code import expand_path
from knights_isolation.isolation.processes.subprocess_player import file_name
from knights_isolation.isolation.rules.edition import THIRD
from knights_isolation.isolation.rules.game import ON_THE_BOARD, USUAL_SIZE, Limit, Reason, Size, parse_size
from knights_isolation.isolation.rules.third_edition import unsupported_size_reason
from knights_isolation.isolation.suggestions import COMMAND, Failed, advice, command, tell

from ..exact.labelling import UnsolvableRunError, label_run
from ..exact.labels import has_labels, labelled_games, labelled_plies
from ..plan import complete, parse_limit, parse_spec, run_keeping
from ..plan.config import CLASSIC_OPPONENTS, Config, check_jobs, load_config
from ..plan.tournament_plan import Plan, make_plan
from ..play.run_extension import extend, extended_config
from ..play.runner import RunOutcome
from ..queries import named_games
from ..record import log, run_directory
from ..record.schema import RunInfo
from ..statistics.ratings import Ratings, rate
from ..statistics.run_results import RunResults, load_findings
from .entries import Counting, Entry, LeagueEntries, collect_entries, keep, newest_of, played_in, read_book, write_book
from .submissions import Skipped, find_submissions

LeagueSchedule = Literal["round-robin", "classic"]
USUAL: dict[str, Any] = {"pairs": 10, "limit": "cpu_ms=150", "hard_cap": 2.0}
"""Default configuration of a league. The limit is CPU time, which other programs on the machine do not reduce."""


class TooFewPlayersError(Failed, ValueError):
    """Fewer than two players of a class can play."""


@dataclass(frozen=True)
class ChosenBoard:
    """The board of a league, and a sentence that names it and the reason for it."""

    size: Size
    sentence: str


@dataclass(frozen=True)
class League:
    """A league of the submissions in a folder, to be checked, planned or played; warnings say who does not play.

    Attributes:
        submissions: the folder.
        resumes: the run of the league to resume, and to extend by late submissions; None for a new league.
        given: its settings that differ from the default: `schedule`, and keys of the configuration.
        jobs: worker processes; 0 for one per core.
        out: directory of a new run; by default one in `runs/`, or beside the run that is extended.
        counting: shows how many submissions are checked.
    """

    submissions: Path
    resumes: Path | None
    given: Mapping[str, Any]
    jobs: int
    out: str | None
    counting: Counting

    @cached_property
    def run(self) -> Path | None:
        """The latest run of the league to resume."""
        run = newest_of(self.resumes) if self.resumes else None
        if run != self.resumes:
            warnings.warn(f"{self.resumes} continues in {run}; resuming there", stacklevel=2)
        return run

    def entries(self) -> tuple[LeagueEntries, ChosenBoard]:
        """Check the submissions, and return the class and its board; players that do not know the board do not play.

        Raises:
            ValueError: the folder has no submissions, or there is no such run.
        """
        if self.run:
            find_submissions(self.submissions)  # unpacks archives again if the cache was cleared
        played = played_in(self.run) if self.run else None
        with self.counting("checked") as show:
            book = collect_entries(self.submissions, check_jobs(self.jobs) or joblib.cpu_count(), played, show)
        if self.run:
            size = run_directory.load_run(self.run).size
            board = ChosenBoard(size, f"Board: {size}, as in {self.run}.")
        else:
            board = choose_board(book, self.given.get("board"))
        return fit_for(book, board.size), board

    def plan(self) -> tuple[Plan, int]:
        """Return what would be played, and how many games of it a league to resume has already; see `play`."""
        if self.run is None:
            return make_plan(self._begun()[1]), 0
        late = self._late(self._players()[0])
        if late and run_directory.is_finished(self.run):
            extension = extend(self.run, self._extended(late))
            return extension.plan, extension.games
        plan = make_plan(run_keeping.requested_config(run_directory.load_run(self.run), self.jobs))
        names = ", ".join(entry.player.name for entry in late)
        notes = (*plan.notes, f"After these games {names} would be added.") if late else plan.notes
        return replace(plan, notes=notes), log.count_games(self.run)

    def play(self, play: Callable[..., RunOutcome]) -> tuple[LeagueEntries, RunOutcome]:
        """Play the missing games of a league, then late submissions in a run of their own; return the class.

        `play` plays a run, as `runner.play_tournament` does.

        Raises:
            TooFewPlayersError: fewer than two would play.
            ValueError: a setting is invalid, there is no such league, or there is nothing to write into `out`.
        """
        if self.run is None:
            book, config = self._begun()
            return book, play(_with_copies(config, book, {}))
        book, board = self._players()
        _say(board.sentence)
        late = self._late(book)
        if self.out and not late:
            raise ValueError(
                f"--out: {self.run} has no new submissions, so there is nothing to write to another directory"
            )
        outcome = play(run_keeping.requested_config(run_directory.load_run(self.run), self.jobs), resume=True)
        write_book(self.run, book)
        if late and run_directory.is_finished(self.run):
            config = _with_copies(self._extended(late), book, played_in(self.run).files)
            write_book(self.run, replace(book, goes_on_in=os.path.relpath(str(config.out), self.run)))
            outcome = play(config, extends=self.run)
        return book, outcome

    def _players(self) -> tuple[LeagueEntries, ChosenBoard]:
        """Return the class and its board; warn of submissions that do not play, or not by their folder's name."""
        book, board = self.entries()
        for submission in book.refused:
            warnings.warn(f"{submission.name} does not play: {submission.why}", stacklevel=2)
        for sentence in book.renamed:
            warnings.warn(sentence, stacklevel=2)
        return book, board

    def _begun(self) -> tuple[LeagueEntries, Config]:
        """Return the class and the configuration of a new league."""
        _refuse_league(self.submissions, self.out)
        keys = {**USUAL, **self.given, "jobs": self.jobs, "out": self.out}
        schedule = keys.pop("schedule", "round-robin")
        if parse_limit(keys["limit"]).is_reproducible:
            raise ValueError(f"--limit: players from files need a time limit, ms or cpu_ms, not {keys['limit']}")
        if not keys["hard_cap"] > 0:
            raise ValueError("--hard-cap must be above 0 seconds: a league stops players that do not answer")
        run_keeping.new_directory(load_config(None, keys))
        book, board = self._players()
        config = league_config(book, schedule, {**keys, "board": str(board.size)})
        _say(board.sentence)
        return book, config

    def _late(self, book: LeagueEntries) -> list[Entry]:
        """Return the entries of a class that the run does not have yet."""
        assert self.run
        known = run_directory.load_run(self.run).agents
        return [entry for entry in book.entries if entry.player.name not in known]

    def _extended(self, late: Iterable[Entry]) -> Config:
        """Configure the extension of the finished run by late submissions."""
        assert self.run
        assert self.resumes
        contenders = tuple(entry.player.spec for entry in late)
        out = self.out or str(run_keeping.unused(self.resumes))
        return extended_config(self.run, {"jobs": self.jobs, "out": out, "contenders": contenders})


def _say(line: str) -> None:
    """Say what users should know before the games: a line of the command line, a warning in Python."""
    if COMMAND.get():
        tell(line)
    else:
        warnings.warn(line, stacklevel=2)


def _with_copies(config: Config, book: LeagueEntries, played: Mapping[str, Path | None]) -> Config:
    """Copy all submissions into the folder of a new run, and return its configuration with the copies in their place.

    `played` are the files from which those play that have played in a run before.
    """
    run = run_keeping.new_directory(config)
    submitted = [entry.player for entry in book.entries]
    players = [replace(player, file=played.get(player.name) or player.file) for player in submitted]
    contenders = run_keeping.with_files(config.contenders, keep(players, run))
    write_book(run, book)
    return config.model_copy(update={"contenders": tuple(contenders), "out": str(run)})


def _refuse_league(submissions: Path, out: str | None) -> None:
    """Raise an error if the path contains a league already; explain how to resume it."""
    if out is None or not run_directory.is_run(expand_path(out)):
        return
    try:
        read_book(expand_path(out))
    except ValueError:  # a run, but not a league's
        return
    resuming = command("league", submissions, "--resume", out)
    goes_on = advice(resuming, f"ki.league({str(submissions)!r}, resume={out!r})")
    raise ValueError(f"{out} already holds a league: resume with {goes_on}, or choose another --out")


def choose_board(book: LeagueEntries, asked_for: str | None = None) -> ChosenBoard:
    """Return the requested size, or the one most submissions were written for: 9x11 for the third edition, else 7x7."""
    total = len(book.entries)
    third = sum(entry.player.edition == THIRD.name for entry in book.entries)
    players = f"{third} of {total} players {'is' if third == 1 else 'are'} of the third edition"
    size, why = USUAL_SIZE, "the usual one; no player is of the third edition."
    if asked_for is not None:
        size, why = parse_size(asked_for), f"as asked for; {players}, which was made for {THIRD.usual_size}."
    elif 2 * third > total:
        size, why = THIRD.usual_size, f"since {players}, which was made for it; the others play on any."
    elif third:
        why = (
            f"the usual one; {players}, which was made for {THIRD.usual_size}: they play in the middle of their own "
            f"board (--board {THIRD.usual_size} for all)."
        )
    return ChosenBoard(size, f"Board: {size}, {why}")


def fit_for(book: LeagueEntries, size: Size) -> LeagueEntries:
    """Return the class with all who cannot play on a board of this size moved to those that do not play."""
    why = unsupported_size_reason(*size)
    third = [entry.player.name for entry in book.entries if entry.player.edition == THIRD.name]
    return book.without([Skipped(name, why) for name in third]) if why else book


def league_config(book: LeagueEntries, schedule: LeagueSchedule, keys: Mapping[str, Any]) -> Config:
    """Configure the tournament of a class as a round-robin; TooFewPlayersError if fewer than two would play.

    With `classic`, it includes the seven classic opponents, under names that none of the players has.
    """
    players = {entry.player.name: entry.player.spec for entry in book.entries}
    usual = [(spec, complete(parse_spec(spec)).name) for spec in CLASSIC_OPPONENTS if schedule == "classic"]
    others = [f"Classic_{name}={spec}" if name in players else spec for spec, name in usual]
    if not players or len(players) + len(others) < 2:
        raise TooFewPlayersError(f"a league needs two players; only {len(players)} of the submissions can play")
    return load_config(None, {**keys, "format": "round-robin", "contenders": (*players.values(), *others)})


MOST_LABELLED = 1000
"""Number of games whose moves are compared with perfect play, sampled from those that were decided on the board."""
LABELS_LIMIT = Limit(nodes=2_000_000)
"""Limit per position: some hundredths of a second; solves all but the first plies of 7x7."""
SMALL, FIRST_OF_LARGE = 64, 48
"""Largest board, in cells, that is analysed from ply 0, and the first ply analysed on larger ones (9x11)."""
MOST_MISTAKES = 5
_COLUMNS = ("game_id", "agent_1", "agent_2", "opening", "moves", "winner", "reason", "detail")


@dataclass(frozen=True)
class PlayerForfeits:
    """Games that an agent lost for the same reason: the reason, the games, and the line of its code if known."""

    agent: str
    reason: str
    detail: str
    games: tuple[int, ...]
    traceback: str


@dataclass(frozen=True)
class Results:
    """Results of a class.

    Attributes:
        findings, ratings: without the games of players that never made a legal move.
        games: a row for each game: its columns of the log, `won_by` and `lost_by`, and whether it `is_forfeit`.
        blunders: a row for each move that threw a won game away, the worst first: `game_id`, the `ply` (the first
            placement is 1), the `player`, and the numbers of `winning` and of `legal` moves.
        labelled: ids of the games that were compared with perfect play.
        why_unlabelled: the reason if there are none.
    """

    findings: RunResults
    ratings: Ratings
    games: pd.DataFrame
    forfeits: tuple[PlayerForfeits, ...]
    blunders: pd.DataFrame
    labelled: frozenset[int]
    why_unlabelled: str

    @property
    def info(self) -> RunInfo:
        """What `run.json` says."""
        return self.findings.sources[0].info

    @property
    def never_moved(self) -> frozenset[str]:
        """Players that made no legal move in any of their games, and have no rank."""
        return self.findings.unranked

    @cached_property
    def ranks(self) -> dict[str, int | None]:
        """Ranks of all players, best first; players without a rank come last, by name."""
        ranked = {rating.agent: rank for rank, rating in zip(self.ratings.ranks, self.ratings.ratings, strict=True)}
        unranked = sorted({*self.games["won_by"], *self.games["lost_by"]} - ranked.keys())
        return {**ranked, **dict.fromkeys(unranked)}

    def won(self, agent: str) -> tuple[int, int]:
        """Return the games an agent has won and played; for ranked agents only games among themselves."""
        rated = next((rating for rating in self.ratings.ratings if rating.agent == agent), None)
        if rated:
            return rated.wins, rated.games
        games = self.of(agent)
        return int((games["won_by"] == agent).sum()), len(games)

    @property
    def resigned(self) -> pd.DataFrame:
        """The games that a player resigned where every move loses; they are no forfeits."""
        return self.games[self.games["reason"] == Reason.RESIGNED.word]

    def of(self, agent: str) -> pd.DataFrame:
        """Return the games of an agent, with the `opponent`, and whether the agent `has_won`."""
        has_won, has_lost = self.games["won_by"] == agent, self.games["lost_by"] == agent
        opponents = self.games["lost_by"].where(has_won, self.games["won_by"])
        return self.games.assign(opponent=opponents, has_won=has_won)[has_won | has_lost]

    def forfeited(self, agent: str) -> Counter[str]:
        """Count the games an agent forfeited, by reason."""
        return Counter(lost.reason for lost in self.forfeits if lost.agent == agent for _ in lost.games)

    def worst_of(self, agent: str) -> pd.DataFrame:
        """Return the worst mistakes of an agent, at most one per game."""
        own = self.blunders[self.blunders["player"] == agent]
        return own.drop_duplicates("game_id").head(MOST_MISTAKES)


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
    games = _games(run)
    chosen = zip(games["agent_1"], games["agent_2"], games["opening"], games["moves"], strict=True)
    moved = {
        (first, second)[ply % 2] for first, second, opening, moves in chosen for ply in range(len(opening), len(moves))
    }
    run_keeping.note_unranked(run, {*games[games["is_forfeit"]]["lost_by"]} - moved)
    return read_results(run, why_unlabelled)


def read_results(run: Path, why_unlabelled: str = "") -> Results:
    """Evaluate the games that a run of a class has so far."""
    findings, games = load_findings([run]), _games(run)
    blunders, labelled = _blunders(run)
    return Results(findings, rate(findings), games, _forfeits(run, games), blunders, labelled, why_unlabelled)


def _games(run: Path) -> pd.DataFrame:
    games = named_games(run, _COLUMNS)
    return games.assign(is_forfeit=~games["reason"].isin(ON_THE_BOARD))


def _forfeits(run: Path, games: pd.DataFrame) -> tuple[PlayerForfeits, ...]:
    """Return the forfeits with equal reasons together, the most frequent first."""
    lost = games[games["is_forfeit"]].astype({"reason": str})
    equal: Any = lost.groupby(["lost_by", "reason", "detail"])["game_id"].agg(tuple).items()
    traces = {agent: _tracebacks(run, agent) for agent in lost["lost_by"].unique()}
    return tuple(
        PlayerForfeits(agent, reason, detail, ids, traces[agent].get(detail, ""))
        for (agent, reason, detail), ids in sorted(equal, key=lambda item: (-len(item[1]), item[0]))
    )


def _tracebacks(run: Path, agent: str) -> dict[str, str]:
    tracebacks: dict[str, str] = {}
    with suppress(OSError):
        file = run / run_directory.ENGINES / f"{file_name(agent)}.jsonl"
        for line in file.read_text(encoding="utf-8").splitlines():
            with suppress(ValueError, KeyError, TypeError):  # truncated because a process was killed
                said = json.loads(line)
                tracebacks.setdefault(str(said["detail"]), str(said["traceback"]))
    return tracebacks


def _blunders(run: Path) -> tuple[pd.DataFrame, frozenset[int]]:
    """Return the moves that threw wins away, by the share of winning moves, and the ids of the examined games."""
    if not has_labels(run):
        return pd.DataFrame(columns=["game_id", "ply", "player", "winning", "legal"]), frozenset()
    games, labels = labelled_games(run, ("agent_1", "agent_2"))
    plies = labelled_plies(games.to_pandas(), labels)
    lost = plies[plies["kept"] == 0].astype({"agent_1": object, "agent_2": object})
    player = lost["agent_1"].where(lost["ply"] % 2 == 0, lost["agent_2"])
    lost = lost.assign(player=player, ply=lost["ply"] + 1, share=lost["winning"] / lost["legal"].clip(lower=1))
    worst = lost.sort_values(["share", "winning", "game_id", "ply"], ascending=[False, False, True, True])
    return worst[["game_id", "ply", "player", "winning", "legal"]], frozenset(games["game_id"].to_pylist())
