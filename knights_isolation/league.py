"""Play a league: the function is the command `league`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from knights_isolation.result import Result, drawn

if TYPE_CHECKING:
    from knights_isolation.experiments.league.entries import LeagueEntries, Played
    from knights_isolation.experiments.league.league_results import Results
    from knights_isolation.experiments.plan.config import Config
    from knights_isolation.experiments.play.runner import RunOutcome

Say = Callable[[str], None]


def league(
    submissions: str | Path,
    *,
    pairs: int | None = None,
    limit: str | None = None,
    hard_cap: float | None = None,
    board: str | None = None,
    schedule: Literal["round-robin", "classic"] = "round-robin",
    jobs: int = 0,
    out: str | Path | None = None,
    resume: str | Path | None = None,
) -> Result[Results]:
    """Play a league: one folder or archive per submission, everyone meets everyone; writes result pages.

    Submissions run only in sandboxed processes; docs/how-to/run-a-class.md says what that protects against. Warnings
    are its notes; the last one of an interrupted league says how to resume it.

    Args:
        submissions: folder of the submissions.
        pairs: openings per pairing, each played with sides swapped; 10 by default.
        limit: per move, `cpu_ms=150` by default.
        hard_cap: seconds per move before a player forfeits; 2 by default.
        board: by default 7x7, or 9x11 if most submissions are of the third edition.
        schedule: "classic": the seven classic agents also play.
        out: directory of the run.
        resume: a league to resume; late submissions are added.

    Raises:
        ValueError: there is no such folder, fewer than two submissions can play, or an argument is invalid.
        KeyboardInterrupt: it was interrupted before its first game.
    """
    from knights_isolation.reports.charts.interval_rows import ladder
    from knights_isolation.reports.league.league_tables import league_sections, verdict_section
    from knights_isolation.reports.league.write_pages import write_pages
    from knights_isolation.reports.watch.run_progress import play_in_view, what_is_kept

    folder = Path(submissions)
    if not folder.is_dir():
        raise ValueError(f"{folder}: no such folder of submissions")
    given = {"pairs": pairs, "limit": limit, "hard_cap": hard_cap, "board": board}
    keys: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    if resume and keys:
        raise ValueError(f"resume keeps the settings of {resume}: omit {next(iter(keys))}")
    path = str(out) if out else None
    if resume:
        book, outcome = resume_league(folder, Path(resume), jobs, path, _warn, play_in_view)
    else:
        keys |= {"schedule": schedule, "jobs": jobs, "out": path}
        book, outcome = begin_league(folder, keys, _warn, play_in_view)
    if not outcome.logged:
        raise KeyboardInterrupt
    if not outcome.finished:
        warnings.warn(f"interrupted: {what_is_kept(outcome)}; resume='{outcome.path}' plays the others", stacklevel=2)
    results = league_results(outcome, jobs)
    pages = write_pages(outcome.path, book, results)
    ranking, *others = league_sections(book, results)
    ranking = replace(ranking, notes=(*ranking.notes, f"Pages: {pages}"))
    figure = partial(drawn, ladder(results.ratings), "Nobody has a rating.")
    return Result(results, (ranking, *others, verdict_section(results)), figure)


def begin_league(
    submissions: Path, given: Mapping[str, Any], say: Say, play: Callable[..., RunOutcome]
) -> tuple[LeagueEntries, RunOutcome]:
    """Check all submissions, and play a league of them; `say` gets what users should know before.

    Raises:
        TooFewPlayersError: fewer than two of them can play.
        ValueError: a setting is invalid.
    """
    from knights_isolation.experiments.league.entries import write_book
    from knights_isolation.experiments.league.league_config import playing_copies
    from knights_isolation.experiments.record.run_directory import new_directory

    book, config = designed_league(submissions, given, say)
    run = new_directory(config)
    config = playing_copies(config, book, run, {})
    write_book(run, book)
    return book, play(config)


def designed_league(submissions: Path, given: Mapping[str, Any], say: Say) -> tuple[LeagueEntries, Config]:
    """Check all submissions, and configure a league of them; see `begin_league`."""
    from knights_isolation.experiments.league.league_config import choose_board, fit_for, league_config, league_keys

    _refuse_league(submissions, given["out"])
    keys = league_keys({key: value for key, value in given.items() if key != "schedule"})
    book = checked_submissions(submissions, given["jobs"])
    board = choose_board(book, keys.get("board"))
    book = fit_for(book, board.size)
    note_submissions(book, say)
    config = league_config(book, given.get("schedule", "round-robin"), {**keys, "board": board.size})
    say(board.sentence)
    return book, config


def resume_league(
    submissions: Path, named: Path, jobs: int, out: str | None, say: Say, play: Callable[..., RunOutcome]
) -> tuple[LeagueEntries, RunOutcome]:
    """Play the missing games of a league, and then late submissions in a run of their own.

    Raises:
        ValueError: there is no such league, or `out` is given and there is nothing to write there.
    """
    from knights_isolation.experiments.league.entries import played_in, write_book
    from knights_isolation.experiments.league.league_config import extension_of, newcomers, playing_copies
    from knights_isolation.experiments.record.run_directory import (
        is_finished,
        load_run,
        new_directory,
        requested_config,
        unused,
    )

    run, book = continued_league(submissions, named, jobs, say)
    note_submissions(book, say)
    info = load_run(run)
    say(f"Board: {info.requested['board']}, as in {run}.")
    late = newcomers(run, book)
    if out and not late:
        raise ValueError(f"--out: {run} has no new submissions, so there is nothing to write to another directory")
    outcome = play(requested_config(info, jobs), resume=True)
    write_book(run, book)
    if late and is_finished(run):
        extended = extension_of(run, book, {"jobs": jobs, "out": out or str(unused(named))})
        path = new_directory(extended)
        extended = playing_copies(extended, book, path, played_in(run).files)
        write_book(path, book)
        write_book(run, replace(book, goes_on_in=os.path.relpath(path, run)))
        outcome = play(extended, extends=run)
    return book, outcome


def continued_league(submissions: Path, named: Path, jobs: int, say: Say) -> tuple[Path, LeagueEntries]:
    """Return the run of the league to resume, and its class including late submissions."""
    from knights_isolation.experiments.league.entries import newest_of, played_in
    from knights_isolation.experiments.league.league_config import fit_for
    from knights_isolation.experiments.league.submissions import find_submissions
    from knights_isolation.experiments.record.run_directory import load_run

    run = newest_of(named)
    if run != named:
        say(f"Note: {named} continues in {run}; resuming there")
    find_submissions(submissions)  # unpacks archives again if the cache was cleared
    book = checked_submissions(submissions, jobs, played_in(run))
    return run, fit_for(book, load_run(run).requested["board"])


def checked_submissions(submissions: Path, jobs: int, played: Played | None = None) -> LeagueEntries:
    """Find and check the submissions."""
    import joblib

    from knights_isolation.experiments.league.entries import collect_entries
    from knights_isolation.experiments.plan.config import check_jobs
    from knights_isolation.reports.watch.run_progress import counting

    with counting("checked") as show:
        return collect_entries(submissions, check_jobs(jobs) or joblib.cpu_count(), played, show)


def note_submissions(book: LeagueEntries, say: Say) -> None:
    """Report which submissions do not play, and which have another name than their folder."""
    from knights_isolation.reports.league.league_tables import renamed

    for submission in book.refused:
        say(f"Note: {submission.name} does not play: {submission.why}")
    for sentence in renamed(book):
        say(f"Note: {sentence}")


def league_results(outcome: RunOutcome, jobs: int) -> Results:
    """Compare moves with perfect play, with progress on the terminal, and evaluate the games."""
    import joblib

    from knights_isolation.experiments.league.league_results import label_games, note_never_moved, read_results
    from knights_isolation.reports.watch.run_progress import counting

    with counting("compared with perfect play") as show:
        why_unlabelled = label_games(outcome.path, jobs or joblib.cpu_count(), show)
    note_never_moved(outcome.path)
    return read_results(outcome.path, why_unlabelled)


def _refuse_league(submissions: Path, out: str | None) -> None:
    """Raise an error if the path contains a league already; explain how to resume it."""
    from knights_isolation.experiments.league.entries import read_book
    from knights_isolation.experiments.record.run_directory import is_run
    from knights_isolation.isolation.loading.load_user_code import expand_path
    from knights_isolation.isolation.shell import advice, command

    if out is None or not is_run(expand_path(out)):
        return
    try:
        read_book(expand_path(out))
    except ValueError:  # a run, but not a league's
        return
    goes_on = advice(
        command("league", submissions, "--resume", out), f"ki.league({str(submissions)!r}, resume={out!r})"
    )
    raise ValueError(f"{out} already holds a league: resume with {goes_on}, or choose another --out")


def _warn(note: str) -> None:
    warnings.warn(note.removeprefix("Note: "), stacklevel=5)
