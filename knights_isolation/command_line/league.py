"""The `league` command."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from knights_isolation.command_line.cli_errors import Interrupted, interruptible
from knights_isolation.command_line.completion import complete_run
from knights_isolation.command_line.options import format_option, jobs_option
from knights_isolation.command_line.output import print_sections
from knights_isolation.reports.text.rendering import Format

if TYPE_CHECKING:
    from knights_isolation.experiments.league.entries import LeagueEntries
    from knights_isolation.experiments.plan.tournament_plan import Plan
    from knights_isolation.experiments.play.runner import RunOutcome

SCHEDULES = ("round-robin", "classic")
_OF_THE_RUN = ("pairs", "limit", "hard_cap", "board", "schedule")


@click.command("league")
@click.argument("submissions", type=click.Path(path_type=Path))
@click.option(
    "--pairs", type=click.IntRange(min=1), help="Openings per pairing, each played with sides swapped (default 10)."
)
@click.option("--limit", help="Limit per move (default cpu_ms=150); ms=N is wall time. Near 10 ms, players that keep "
"10 ms in reserve forfeit.")  # fmt: skip
@click.option("--hard-cap", type=float, help="Seconds per move before a player forfeits (default 2).")
@click.option("--board", help="Board size (default 7x7; 9x11 if most are of the third edition, made for it).")
@click.option("--schedule", type=click.Choice(SCHEDULES), help="classic: the seven classic agents also play.")
@jobs_option
@click.option("--out", help="Directory of the run.")
@click.option("--resume", metavar="RUN", shell_complete=complete_run,
              help="Resume a league and add late submissions.")  # fmt: skip
@click.option("--check-only", is_flag=True,
              help="Check all submissions, print a table, play nothing. Exit code 1 if any is refused.")  # fmt: skip
@click.option(
    "--dry-run", is_flag=True, help="Check, then print the planned games and the estimated time; play nothing."
)
@format_option
def league(
    submissions: Path, resume: str | None, jobs: int, out: str | None, check_only: bool, dry_run: bool, output: Format,
    **options: Any,
) -> None:  # fmt: skip
    """Play a league: one folder or archive per submission, everyone meets everyone; writes result pages.

    Submissions run only in sandboxed processes; docs/how-to/run-a-class.md says what that protects against.
    """
    _check_folder(submissions)
    if check_only and dry_run:
        raise ValueError("--check-only and --dry-run exclude each other: use one of them")
    given = {key: value for key, value in options.items() if value is not None}
    if resume and (unfit := [key for key in _OF_THE_RUN if key in given]):
        raise ValueError(f"--resume keeps the settings of {resume}: omit --{unfit[0].replace('_', '-')}")
    if "board" in given:
        given["board"] = _size(given["board"])
    run = Path(resume) if resume else None
    if check_only:
        _check(submissions, run, jobs, given.get("board"), output)
        return
    from knights_isolation.league import begin_league, resume_league
    from knights_isolation.reports.watch.run_progress import play_shown

    # If a program reads stdout, it gets the tables only.
    with interruptible(f"{resume} is unchanged" if resume else ""), _notes_to_stderr(output):
        keys = {**given, "jobs": jobs, "out": out}
        if dry_run:
            plan, played = _resumable(submissions, run, jobs, out) if run else (_planned(submissions, keys), 0)
        elif run:
            book, outcome = resume_league(submissions, run, jobs, out, click.echo, play_shown)
        else:
            with _few_players_fail():
                book, outcome = begin_league(submissions, keys, click.echo, play_shown)
    if dry_run:
        _print_plan(plan, played, output)
    else:
        _tell(submissions, book, outcome, jobs, output)


def _notes_to_stderr(output: Format) -> Any:
    return redirect_stdout(sys.stdout if output == "table" else sys.stderr)


def _size(board: str) -> str:
    from knights_isolation.isolation.rules.geometry import format_size, parse_size

    try:
        return format_size(*parse_size(board))
    except ValueError as error:
        raise ValueError(f"--board: {error}") from None


def _check_folder(path: Path) -> None:
    """Raise an error if a path is not a folder of submissions; explain what to do with archives."""
    from knights_isolation.experiments.league.archives import is_foreign, stem_of

    if path.is_dir():
        return
    if path.exists():
        is_archive = stem_of(path.name) or is_foreign(path.name)
        raise ValueError(
            f"{path} is {'an archive: unpack it' if is_archive else 'a file'}; name a folder of submissions"
        )
    archive = next((other for other in sorted(path.parent.glob("*")) if stem_of(other.name) == path.name), None)
    raise ValueError(f"{path}: no such directory" + (f"; there is {archive}: unpack it" if archive else ""))


def _check(submissions: Path, run: Path | None, jobs: int, board: str | None, output: Format) -> None:
    """Print what is known about all submissions without a game; exit code 1 if one is refused."""
    from knights_isolation.experiments.league.league_config import choose_board, fit_for
    from knights_isolation.league import checked_submissions, continued_league
    from knights_isolation.reports.league.league_tables import check_sections

    if run:
        book = continued_league(submissions, run, jobs, click.echo)[1]
    else:
        book = checked_submissions(submissions, jobs)
        chosen = choose_board(book, board)
        book = fit_for(book, chosen.size)
        click.echo(chosen.sentence, err=output != "table")
    print_sections(check_sections(book), output)
    if book.refused:
        click.get_current_context().exit(1)


def _planned(submissions: Path, given: Mapping[str, Any]) -> Plan:
    """Return the plan of a league."""
    from knights_isolation.experiments.plan.tournament_plan import make_plan
    from knights_isolation.league import designed_league

    with _few_players_fail():
        return make_plan(designed_league(submissions, given, click.echo)[1])


@contextmanager
def _few_players_fail() -> Iterator[None]:
    """Fail instead of refusing the request if too few submissions can play.

    Raises:
        click.ClickException: with exit code 1.
    """
    from knights_isolation.experiments.league.league_config import TooFewPlayersError

    try:
        yield
    except TooFewPlayersError as error:
        raise click.ClickException(str(error)) from error


def _resumable(submissions: Path, named: Path, jobs: int, out: str | None) -> tuple[Plan, int]:
    """Return the plan for resuming a league, and the number of its games."""
    from knights_isolation.experiments.league.league_config import extension_of, newcomers
    from knights_isolation.experiments.plan.tournament_plan import make_plan
    from knights_isolation.experiments.play.run_extension import extend
    from knights_isolation.experiments.record.log import count_games
    from knights_isolation.experiments.record.run_directory import is_finished, load_run, requested_config
    from knights_isolation.league import continued_league, note_submissions

    run, book = continued_league(submissions, named, jobs, click.echo)
    note_submissions(book, click.echo)
    late = [entry.player.name for entry in newcomers(run, book)]
    if late and is_finished(run):
        extension = extend(run, extension_of(run, book, {"jobs": jobs, "out": out}))
        return extension.plan, extension.games
    plan = make_plan(requested_config(load_run(run), jobs))
    notes = (f"After these games {', '.join(late)} would be added.",) if late else ()
    return replace(plan, notes=(*plan.notes, *notes)), count_games(run)


def _print_plan(plan: Plan, played: int, output: Format) -> None:
    from knights_isolation.reports.studies.dry_run import dry_run_section

    print_sections([dry_run_section(plan, played)], output)


def _tell(submissions: Path, book: LeagueEntries, outcome: RunOutcome, jobs: int, output: Format) -> None:
    """Evaluate the games, write the pages, and print the ranking; for an interrupted league, how to resume it."""
    from knights_isolation.isolation.shell import command
    from knights_isolation.reports.watch.run_progress import what_is_kept

    kept, goes_on = what_is_kept(outcome), command("league", submissions, "--resume", outcome.path)
    if not outcome.finished:
        raise Interrupted(kept, goes_on)
    with interruptible(kept, goes_on=goes_on):
        _judge(book, outcome, jobs, output)


def _judge(book: LeagueEntries, outcome: RunOutcome, jobs: int, output: Format) -> None:
    """Print the tables, the path of the pages, and finally the verdict."""
    from knights_isolation.league import league_results
    from knights_isolation.reports.league.league_tables import leading, league_sections, verdict_section
    from knights_isolation.reports.league.write_pages import write_pages
    from knights_isolation.reports.text.rendering import terminal_width, wrapped

    say: Callable[[str], None] = partial(click.echo, err=output != "table")
    results = league_results(outcome, jobs)
    for note in outcome.plan.notes:
        say(wrapped(f"Note: {note}", terminal_width()))
    sections = league_sections(book, results)
    print_sections(sections if output == "table" else (*sections, verdict_section(results)), output)
    say(f"\n{outcome.logged:,} of {outcome.total:,} games, logged in {outcome.path}")
    say(f"Pages: {write_pages(outcome.path, book, results)}")
    say(wrapped(leading(results), terminal_width()))


COMMANDS = (league,)
