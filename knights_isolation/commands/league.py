"""Leagues: everyone of a class plays everyone else."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from knights_isolation.isolation.suggestions import advice
from knights_isolation.isolation.suggestions import command as shown_command
from knights_isolation.reports.answers import Result, drawn

from ..inputs import Count, Jobs, Run, run_path
from ..parameters import command
from ..surface import COMMAND, Failed, Stopped, keeping, play, tell

if TYPE_CHECKING:
    from knights_isolation.experiments.league.entries import LeagueEntries, Played
    from knights_isolation.experiments.league.league_results import Results
    from knights_isolation.experiments.plan.config import Config
    from knights_isolation.experiments.plan.tournament_plan import Plan
    from knights_isolation.experiments.play.runner import RunOutcome


@command("tables", "plot")
def league(
    submissions: str | Path,
    *,
    pairs: Count | None = None,
    limit: str | None = None,
    hard_cap: float | None = None,
    board: str | None = None,
    schedule: Literal["round-robin", "classic"] | None = None,
    jobs: Jobs = 0,
    out: str | Path | None = None,
    resume: Run | None = None,
    check_only: bool = False,
    dry_run: bool = False,
) -> Result[Results]:
    """Play a league: one folder or archive per submission, everyone meets everyone; writes result pages.

    Submissions run only in sandboxed processes; docs/how-to/run-a-class.md says what that protects against. In Python
    warnings are its notes; the last one of an interrupted league says how to resume it.

    Args:
        pairs: openings per pairing, each played with sides swapped (default 10).
        limit: limit per move (default cpu_ms=150); ms=N is wall time; near 10 ms, players with such a reserve forfeit.
        hard_cap: seconds per move before a player forfeits (default 2).
        board: board size (default 7x7; 9x11 if most are of the third edition, made for it).
        schedule: classic: the seven classic agents also play.
        out: directory of the run.
        resume: resume a league and add late submissions.
        check_only: check all submissions, print a table, play nothing. Exit code 1 if any is refused.
        dry_run: check, then print the planned games and the estimated time; play nothing.

    Examples:
        isolation league submissions --check-only
        isolation league submissions --pairs 20 --limit cpu_ms=300 --out runs/class

    Raises:
        ValueError: there is no such folder, fewer than two submissions can play, or an argument is invalid.
    """
    from knights_isolation.experiments.league.submissions import check_folder
    from knights_isolation.isolation.rules.geometry import format_size, parse_size

    folder = Path(submissions)
    check_folder(folder)
    if check_only and dry_run:
        raise ValueError("--check-only and --dry-run exclude each other: use one of them")
    given = {"pairs": pairs, "limit": limit, "hard_cap": hard_cap, "board": board, "schedule": schedule}
    keys: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    if resume and keys:
        raise ValueError(f"--resume keeps the settings of {resume}: omit --{next(iter(keys)).replace('_', '-')}")
    if board:
        try:
            keys["board"] = format_size(*parse_size(board))
        except ValueError as error:
            raise ValueError(f"board: {error}") from None
    named = run_path(resume) if resume else None
    if check_only:
        return _checked(folder, named, jobs, keys.get("board"))
    return _asked_for(folder, named, keys | {"jobs": jobs, "out": str(out) if out else None}, dry_run)


def _asked_for(folder: Path, named: Path | None, keys: Mapping[str, Any], is_dry: bool) -> Result[Any]:
    """Play or resume a league, or return what would be played."""
    from knights_isolation.experiments.league.league_config import TooFewPlayersError

    with keeping(f"{named} is unchanged" if named else ""):
        try:
            if is_dry:
                return _dry_run(folder, named, keys)
            begun = _resumed(folder, named, keys["jobs"], keys["out"]) if named else _begun(folder, keys)
        except TooFewPlayersError as error:
            if COMMAND.get():
                raise Failed(str(error)) from error
            raise
    return _answer(folder, *begun, keys["jobs"])


def _answer(folder: Path, book: LeagueEntries, outcome: RunOutcome, jobs: int) -> Result[Results]:
    """Evaluate the games, write the pages, and return the ranking."""
    from knights_isolation.reports.charts.interval_charts import ladder
    from knights_isolation.reports.league.league_pages import leading, league_sections, verdict_section, write_pages
    from knights_isolation.reports.text.rendering import render_sections, terminal_width, wrapped
    from knights_isolation.reports.watch.run_progress import what_is_kept

    if not (outcome.logged or COMMAND.get()):
        raise Stopped()
    kept, goes_on = what_is_kept(outcome), shown_command("league", folder, "--resume", outcome.path)
    if not outcome.finished and COMMAND.get():
        raise Stopped(kept, goes_on)
    if not outcome.finished:
        warnings.warn(f"interrupted: {kept}; resume='{outcome.path}' plays the others", stacklevel=4)
    with keeping(kept, goes_on=goes_on):
        results = _results(outcome, jobs)
        pages = write_pages(outcome.path, book, results)
        ranking, *others = league_sections(book, results)
        lines = [wrapped(f"Note: {note}", terminal_width()) for note in outcome.plan.notes]
        lines.append(render_sections((ranking, *others), "table"))
        lines.append(f"\n{outcome.logged:,} of {outcome.total:,} games, logged in {outcome.path}")
        lines += [f"Pages: {pages}", wrapped(leading(results), terminal_width())]
        ranking = replace(ranking, notes=(*ranking.notes, f"Pages: {pages}"))
        figure = partial(drawn, ladder(results.ratings), "Nobody has a rating.")
        sections = (ranking, *others, verdict_section(results))
        return Result(results, sections, figure, text="\n".join(lines))


def _checked(submissions: Path, run: Path | None, jobs: int, board: str | None) -> Result[Any]:
    """Return what is known about all submissions without a game."""
    from knights_isolation.experiments.league.league_config import choose_board, fit_for
    from knights_isolation.reports.league.league_pages import check_sections

    if run:
        book = _continued(submissions, run, jobs)[1]
    else:
        book = _checked_submissions(submissions, jobs)
        chosen = choose_board(book, board)
        book = fit_for(book, chosen.size)
        tell(chosen.sentence)
    return Result(book, check_sections(book), passes=not book.refused)


def _dry_run(submissions: Path, run: Path | None, keys: Mapping[str, Any]) -> Result[Plan]:
    """Return the planned games and the estimated time."""
    from knights_isolation.experiments.league.league_config import extension_of, newcomers
    from knights_isolation.experiments.plan.tournament_plan import make_plan
    from knights_isolation.experiments.play.run_extension import extend
    from knights_isolation.experiments.record.log import count_games
    from knights_isolation.experiments.record.run_directory import is_finished, load_run, requested_config
    from knights_isolation.reports.studies.planning import dry_run_section

    if run is None:
        plan = make_plan(_designed(submissions, keys)[1])
        return Result(plan, (dry_run_section(plan, 0),))
    run, book = _continued(submissions, run, keys["jobs"])
    _note_submissions(book)
    late = [entry.player.name for entry in newcomers(run, book)]
    if late and is_finished(run):
        extension = extend(run, extension_of(run, book, {"jobs": keys["jobs"], "out": keys["out"]}))
        return Result(extension.plan, (dry_run_section(extension.plan, extension.games),))
    plan = make_plan(requested_config(load_run(run), keys["jobs"]))
    notes = (f"After these games {', '.join(late)} would be added.",) if late else ()
    plan = replace(plan, notes=(*plan.notes, *notes))
    return Result(plan, (dry_run_section(plan, count_games(run)),))


def _begun(submissions: Path, keys: Mapping[str, Any]) -> tuple[LeagueEntries, RunOutcome]:
    """Check all submissions, and play a league of them."""
    from knights_isolation.experiments.league.entries import write_book
    from knights_isolation.experiments.league.league_config import playing_copies
    from knights_isolation.experiments.record.run_directory import new_directory

    book, config = _designed(submissions, keys)
    run = new_directory(config)
    config = playing_copies(config, book, run, {})
    write_book(run, book)
    return book, play(config)


def _designed(submissions: Path, given: Mapping[str, Any]) -> tuple[LeagueEntries, Config]:
    """Check all submissions, and configure a league of them;"""
    from knights_isolation.experiments.league.league_config import choose_board, fit_for, league_config, league_keys

    _refuse_league(submissions, given["out"])
    keys = league_keys({key: value for key, value in given.items() if key != "schedule"})
    book = _checked_submissions(submissions, given["jobs"])
    board = choose_board(book, keys.get("board"))
    book = fit_for(book, board.size)
    _note_submissions(book)
    config = league_config(book, given.get("schedule", "round-robin"), {**keys, "board": board.size})
    _say(board.sentence)
    return book, config


def _resumed(submissions: Path, named: Path, jobs: int, out: str | None) -> tuple[LeagueEntries, RunOutcome]:
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

    run, book = _continued(submissions, named, jobs)
    _note_submissions(book)
    info = load_run(run)
    _say(f"Board: {info.requested['board']}, as in {run}.")
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


def _continued(submissions: Path, named: Path, jobs: int) -> tuple[Path, LeagueEntries]:
    """Return the run of the league to resume, and its class including late submissions."""
    from knights_isolation.experiments.league.entries import newest_of, played_in
    from knights_isolation.experiments.league.league_config import fit_for
    from knights_isolation.experiments.league.submissions import find_submissions
    from knights_isolation.experiments.record.run_directory import load_run

    run = newest_of(named)
    if run != named:
        _say(f"Note: {named} continues in {run}; resuming there")
    find_submissions(submissions)  # unpacks archives again if the cache was cleared
    book = _checked_submissions(submissions, jobs, played_in(run))
    return run, fit_for(book, load_run(run).requested["board"])


def _checked_submissions(submissions: Path, jobs: int, played: Played | None = None) -> LeagueEntries:
    """Find and check the submissions."""
    import joblib

    from knights_isolation.experiments.league.entries import collect_entries
    from knights_isolation.experiments.plan.config import check_jobs
    from knights_isolation.reports.watch.run_progress import counting

    with counting("checked") as show:
        return collect_entries(submissions, check_jobs(jobs) or joblib.cpu_count(), played, show)


def _note_submissions(book: LeagueEntries) -> None:
    """Report which submissions do not play, and which have another name than their folder."""
    from knights_isolation.reports.league.league_pages import renamed

    for submission in book.refused:
        _say(f"Note: {submission.name} does not play: {submission.why}")
    for sentence in renamed(book):
        _say(f"Note: {sentence}")


def _results(outcome: RunOutcome, jobs: int) -> Results:
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

    if out is None or not is_run(expand_path(out)):
        return
    try:
        read_book(expand_path(out))
    except ValueError:  # a run, but not a league's
        return
    goes_on = advice(
        shown_command("league", submissions, "--resume", out), f"ki.league({str(submissions)!r}, resume={out!r})"
    )
    raise ValueError(f"{out} already holds a league: resume with {goes_on}, or choose another --out")


def _say(line: str) -> None:
    """Say what users should know before the games: as a note, or another line of the command line."""
    if line.startswith("Note: ") or not COMMAND.get():
        warnings.warn(line.removeprefix("Note: "), stacklevel=5)
    else:
        tell(line)
