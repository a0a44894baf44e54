"""A league: its entries, board and tournament, and its extension by late submissions."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import joblib

from knights_isolation.isolation.loading.load_user_code import expand_path
from knights_isolation.isolation.rules.edition import THIRD
from knights_isolation.isolation.rules.game import USUAL_SIZE, Size, parse_size
from knights_isolation.isolation.rules.third_edition import unsupported_size_reason
from knights_isolation.isolation.suggestions import COMMAND, Failed, advice, command, tell

from ..plan import complete, parse_limit, parse_spec, run_keeping
from ..plan.config import CLASSIC_OPPONENTS, Config, check_jobs, load_config
from ..plan.tournament_plan import Plan, make_plan
from ..play.run_extension import extend, extended_config
from ..play.runner import RunOutcome
from ..record import run_directory
from ..record.log import count_games
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
        """Return what would be played, and how many games of it a league to resume has already.

        Raises:
            ValueError: as for `play`.
        """
        if self.run is None:
            return make_plan(self._begun()[1]), 0
        late = self._late(self._players()[0])
        if late and run_directory.is_finished(self.run):
            extension = extend(self.run, self._extended(late))
            return extension.plan, extension.games
        plan = make_plan(run_keeping.requested_config(run_directory.load_run(self.run), self.jobs))
        names = ", ".join(entry.player.name for entry in late)
        notes = (*plan.notes, f"After these games {names} would be added.") if late else plan.notes
        return replace(plan, notes=notes), count_games(self.run)

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
    players = [
        replace(each, file=played.get(each.name) or each.file) for each in (entry.player for entry in book.entries)
    ]
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
    goes_on = advice(
        command("league", submissions, "--resume", out), f"ki.league({str(submissions)!r}, resume={out!r})"
    )
    raise ValueError(f"{out} already holds a league: resume with {goes_on}, or choose another --out")


def choose_board(book: LeagueEntries, asked_for: str | None = None) -> ChosenBoard:
    """Return the requested size, or the one most submissions were written for: 9x11 for the third edition, else 7x7."""
    total = len(book.entries)
    third = sum(entry.player.edition == THIRD.name for entry in book.entries)
    players = f"{third} of {total} players {'is' if third == 1 else 'are'} of the third edition"
    if asked_for is not None:
        size = parse_size(asked_for)
        return ChosenBoard(size, f"Board: {size}, as asked for; {players}, which was made for {THIRD.usual_size}.")
    if 2 * third > total:
        size = THIRD.usual_size
        return ChosenBoard(size, f"Board: {size}, since {players}, which was made for it; the others play on any.")
    if not third:
        return ChosenBoard(USUAL_SIZE, f"Board: {USUAL_SIZE}, the usual one; no player is of the third edition.")
    return ChosenBoard(
        USUAL_SIZE,
        f"Board: {USUAL_SIZE}, the usual one; {players}, which was made for {THIRD.usual_size}: they play in the "
        f"middle of their own board (--board {THIRD.usual_size} for all).",
    )


def fit_for(book: LeagueEntries, size: Size) -> LeagueEntries:
    """Return the class with all who cannot play on a board of this size moved to those that do not play."""
    why = unsupported_size_reason(*size)
    third = [entry.player.name for entry in book.entries if entry.player.edition == THIRD.name]
    return book.without([Skipped(name, why) for name in third]) if why else book


def league_config(book: LeagueEntries, schedule: LeagueSchedule, keys: Mapping[str, Any]) -> Config:
    """Configure the tournament of a class as a round-robin; with `classic`, including the seven classic opponents.

    These have names that none of the players has.

    Raises:
        TooFewPlayersError: fewer than two would play.
    """
    players = {entry.player.name: entry.player.spec for entry in book.entries}
    usual = [(spec, complete(parse_spec(spec)).name) for spec in CLASSIC_OPPONENTS if schedule == "classic"]
    others = [f"Classic_{name}={spec}" if name in players else spec for spec, name in usual]
    if not players or len(players) + len(others) < 2:
        raise TooFewPlayersError(f"a league needs two players; only {len(players)} of the submissions can play")
    return load_config(None, {**keys, "format": "round-robin", "contenders": (*players.values(), *others)})
