"""The `league` command."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commands.cli_errors import Interrupted, interruptible
from commands.completion import complete_run
from commands.options import jobs_option
from commands.output import print_sections

if TYPE_CHECKING:
    from experiments.league.entries import LeagueEntries
    from experiments.plan.config import Config
    from experiments.play.runner import RunOutcome

FORMATS = ("round-robin", "classic")
_OF_THE_RUN = ("pairs", "limit", "hard_cap", "format")


@click.command("league")
@click.argument("submissions", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--pairs", type=click.IntRange(min=1), help="Openings per pairing, each played with sides swapped (default 10)."
)
@click.option("--limit", help="Limit per move (default cpu_ms=150); ms=N is wall time. Near 10 ms, players that keep "
"10 ms in reserve forfeit.")  # fmt: skip
@click.option("--hard-cap", type=float, help="Seconds per move before a player forfeits (default 2).")
@click.option("--format", "format_", type=click.Choice(FORMATS), help="classic: the seven classic agents also play.")
@jobs_option
@click.option("--out", help="Directory of the run.")
@click.option("--resume", metavar="RUN", shell_complete=complete_run,
              help="Resume a league and add late submissions.")  # fmt: skip
def league(submissions: Path, resume: str | None, jobs: int, out: str | None, **options: Any) -> None:
    """Play a league: one submission per folder, everyone meets everyone; writes result pages.

    Submissions run only in sandboxed processes; docs/how-to/run-a-class.md says what that protects against.
    """
    given = {{"format_": "format"}.get(key, key): value for key, value in options.items() if value is not None}
    if resume and (unfit := [key for key in _OF_THE_RUN if key in given]):
        raise ValueError(f"--resume keeps the settings of {resume}: omit --{unfit[0].replace('_', '-')}")
    with interruptible(f"{resume} is unchanged" if resume else ""):
        book, outcome = _resumed(submissions, Path(resume), jobs, out) if resume else _begun(
            submissions, {**given, "jobs": jobs, "out": out}
        )  # fmt: skip
    _tell(submissions, book, outcome, jobs)


def _begun(submissions: Path, given: Mapping[str, Any]) -> tuple[LeagueEntries, RunOutcome]:
    """Check all, and play a league of them."""
    from experiments.league.league_config import league_config, league_keys

    _refuse_league(submissions, given["out"])
    keys = league_keys({key: value for key, value in given.items() if key != "format"})
    book = _looked_through(submissions, given["jobs"])
    return book, _play(league_config(book, given.get("format", "round-robin"), keys), book)


def _refuse_league(submissions: Path, out: str | None) -> None:
    """Say of a league that lies there already how it goes on."""
    from experiments.league.entries import read_book
    from experiments.record.run_directory import is_run
    from isolation.loading.load_user_code import expand_path
    from isolation.shell import command

    if out is None or not is_run(expand_path(out)):
        return
    try:
        read_book(expand_path(out))
    except ValueError:  # a run, and no league's
        return
    goes_on = command("league", submissions, "--resume", out)
    raise ValueError(f"{out} already holds a league: resume with {goes_on}, or choose another --out")


def _resumed(submissions: Path, run: Path, jobs: int, out: str | None) -> tuple[LeagueEntries, RunOutcome]:
    """Play what is missing of a league, and then with those who came late, in a run of its own."""
    from experiments.league.entries import names_in, newest_of, read_book, write_book
    from experiments.league.league_config import extension_of, folder_beside, newcomers
    from experiments.record.run_directory import is_finished, load_run, requested_config
    from isolation.loading.load_user_code import expand_path

    named, run = run, newest_of(run)
    if run != named:
        click.echo(f"Note: {named} continues in {run}; resuming there")
    info = load_run(run)
    book = _looked_through(submissions, jobs, read_book(run), names_in(run))
    late = newcomers(run, book)
    if out and not late:
        raise ValueError(f"--out: {run} has no new submissions, so there is nothing to write to another directory")
    outcome = _play(requested_config(info, jobs), book, resume=True)
    if late and is_finished(run):
        extended = extension_of(run, book, {"jobs": jobs, "out": out or str(folder_beside(named))})
        assert extended.out is not None
        write_book(run, replace(book, goes_on_in=os.path.relpath(expand_path(extended.out), run)))
        outcome = _play(extended, book, extends=run)
    return book, outcome


def _looked_through(
    submissions: Path, jobs: int, known: LeagueEntries | None = None, names: Mapping[str, Path | None] | None = None
) -> LeagueEntries:
    """Find and check the submissions, and say who does not play, and who does by another name than its folder's."""
    import joblib

    from experiments.league.entries import collect_entries
    from experiments.plan.config import check_jobs
    from reports.watch.run_progress import counting

    with counting("checked") as show:
        book = collect_entries(submissions, check_jobs(jobs) or joblib.cpu_count(), known, names, show)
    for submission in book.skipped:
        click.echo(f"Note: {submission.name} does not play: {submission.why}")
    for player in (entry.player for entry in book.entries):
        if player.is_renamed:
            click.echo(f"Note: the player of the folder {player.folder!r} is called {player.name}")
    return book


def _play(config: Config, book: LeagueEntries, **how: Any) -> RunOutcome:
    from experiments.league.entries import write_book
    from reports.watch.run_progress import play_shown

    outcome = play_shown(config, **how)
    write_book(outcome.path, book)
    return outcome


def _tell(submissions: Path, book: LeagueEntries, outcome: RunOutcome, jobs: int) -> None:
    """Judge what was played, write the pages, and print the ranking; of an interrupted league how to go on."""
    from isolation.shell import command
    from reports.watch.run_progress import what_is_kept

    kept, goes_on = what_is_kept(outcome), command("league", submissions, "--resume", outcome.path)
    if not outcome.finished:
        raise Interrupted(kept, goes_on)
    with interruptible(kept, goes_on=goes_on):
        _judge(book, outcome, jobs)


def _judge(book: LeagueEntries, outcome: RunOutcome, jobs: int) -> None:
    from experiments.league.league_results import read_results
    from reports.league.league_tables import league_sections
    from reports.league.write_pages import write_pages
    from reports.text.rendering import terminal_width, wrapped

    results = read_results(outcome.path, _labelled(outcome, jobs))
    for note in outcome.plan.notes:
        click.echo(wrapped(f"Note: {note}", terminal_width()))
    print_sections(league_sections(book, results), "table")
    click.echo(f"{outcome.logged:,} of {outcome.total:,} games, logged in {outcome.path}")
    click.echo(f"Pages: {write_pages(outcome.path, book, results)}")


def _labelled(outcome: RunOutcome, jobs: int) -> str:
    """Compare moves with perfect play, shown on the terminal; why not, where that cannot be done."""
    import joblib

    from experiments.league.league_results import label_games
    from reports.watch.run_progress import counting

    with counting("compared with perfect play") as show:
        return label_games(outcome.path, jobs or joblib.cpu_count(), show)


COMMANDS = (league,)
