"""Commands that play runs and list them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from knights_isolation.command_line.cli_errors import Interrupted, interruptible, same_again
from knights_isolation.command_line.completion import complete_run, complete_spec
from knights_isolation.command_line.options import (
    cluster_option,
    equal_cost_option,
    format_option,
    no_open_option,
    number,
    run_or_latest,
    whole_number,
)
from knights_isolation.command_line.output import print_rows, print_sections, write_new
from knights_isolation.experiments.play.pools.interrupts import until_interrupted
from knights_isolation.reports.text.rendering import Format, is_terminal
from knights_isolation.tried import note_run

if TYPE_CHECKING:
    from knights_isolation.experiments.plan.config import Config
    from knights_isolation.experiments.play.runner import RunOutcome


def run_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that tournaments and matches share; each replaces a key of the configuration."""
    options = [
        click.option("--pairs", help="Openings per match, each played with sides swapped; or 'all' (default 180)."),
        click.option(
            "--openings", help="random:PLIES, placements or file:PATH, optionally with ,same ,other ,fit or ,screen."
        ),
        click.option(
            "--limit", help="Limit of agents without one: nodes=N, depth=N, ms=N or cpu_ms=N (default nodes=10000)."
        ),
        equal_cost_option,
        click.option("--board", help="Board size, ROWSxCOLUMNS (default 7x7)."),
        click.option("--seed", type=int, help="Random seed of the openings and of every game (default 1)."),
        click.option("--jobs", type=click.IntRange(min=0), help="Worker processes (default 0: one per core)."),
        cluster_option,
        click.option(
            "--hard-cap", type=float, help="Seconds per move before a user agent forfeits (default 60; 0: never)."
        ),
        click.option("--sprt", metavar="ELO0,ELO1[,ERROR]", help="Stop as soon as this sequential test decides."),
        click.option("--elo-model", type=click.Choice(["logistic", "normalized"]), help="Elo model of --sprt."),
        click.option("--out", help="Directory of the run (default: a new one in runs/)."),
        click.option("--resume", metavar="RUN", shell_complete=complete_run, help="Resume an interrupted run."),
        click.option("--watch", is_flag=True, default=None, help="Also show a live page in the browser."),
        click.option(
            "--dry-run",
            is_flag=True,
            default=None,
            help="Print the planned games and the estimated time without playing.",
        ),
        click.option(
            "--retry-forfeits", is_flag=True, default=None, help="With --resume: replay games lost by a dead process."
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command("tournament")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--contender", "contenders", multiple=True, metavar="SPEC", help="A contender; may be repeated.",
              shell_complete=complete_spec)  # fmt: skip
@click.option("--opponent", "opponents", multiple=True, metavar="SPEC", help="An opponent; may be repeated.",
              shell_complete=complete_spec)  # fmt: skip
@click.option(
    "--baseline", metavar="SPEC", shell_complete=complete_spec, help="Baseline that contenders are compared with."
)
@click.option("--extend", metavar="RUN", help="Add contenders to a finished run, or openings by --pairs.")
@click.option("--init", is_flag=True, help="Write a commented tournament.toml and stop.")
@run_options
def tournament(file: Path | None, init: bool, resume: str | None, extend: str | None, **options: Any) -> None:
    """Play a tournament: the classic evaluation, or the one a TOML FILE describes.

    Every game is logged; agents are named like ID:improved@nodes=2000, ID:path/to/my.py:score or
    path/to/game_agent.py:CustomPlayer; docs/reference/agents.md has them all.
    """
    if init:
        from knights_isolation.experiments.plan.config import example_toml

        write_new(Path("tournament.toml"), example_toml())
        click.echo("Wrote tournament.toml. Play it with: isolation tournament tournament.toml")
        return
    play_run(file, options, resume, extend)


@click.command("match")
@click.argument("agent_1", metavar="A", required=False, shell_complete=complete_spec)
@click.argument("agent_2", metavar="B", required=False, shell_complete=complete_spec)
@run_options
def match(agent_1: str | None, agent_2: str | None, resume: str | None, **options: Any) -> None:
    """Play agents A and B head to head from random four-ply openings.

    With --resume RUN, A and B may be omitted.
    """
    if resume and agent_1 is None:
        play_run(None, options, resume)
        return
    if agent_1 is None or agent_2 is None:
        raise click.UsageError(f"Missing argument '{'A' if agent_1 is None else 'B'}'.")
    setup = {"format": "head-to-head", "contenders": (agent_1,), "baseline": agent_2, "openings": "random:4"}
    words = {"contenders[0]": "first agent (A)", "contenders": "agents A and B", "baseline": "second agent (B)"}
    with errors_by_option_name(words):
        play_run(None, {**setup, **{key: value for key, value in options.items() if value is not None}}, resume)


@contextmanager
def errors_by_option_name(words: Mapping[str, str]) -> Iterator[None]:
    """Rewrite errors about keys of the configuration in terms of the command line's options.

    Raises:
        ValueError: the rewritten error.
    """
    try:
        yield
    except ValueError as error:
        key, colon, message = str(error).partition(": ")
        if not colon or key not in words:
            raise
        raise ValueError(f"{words[key]}: {message}") from error


@click.command("watch")
@click.argument("run", required=False, type=click.Path(path_type=Path), shell_complete=complete_run)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to serve on; any free one by default.")
@no_open_option
def watch_run(run: Path | None, port: int, no_open: bool) -> None:
    """Serve a live page of a run in progress: standings, forfeits, finished games."""
    from knights_isolation.experiments.record.run_directory import load_run
    from knights_isolation.reports.board.resources import Resources
    from knights_isolation.reports.lab.server import page_of_run, serve

    path = load_run(run_or_latest(run)).path

    def announce(address: str) -> None:
        click.echo(f"Live page: {address} (Ctrl-C to stop)")

    with until_interrupted():
        serve(Resources((path,)), port, announce, page_of_run(path), not no_open)


@click.command("runs")
@click.argument("home", required=False, type=click.Path(path_type=Path))
@click.option("--verify", "is_verified", is_flag=True,
              help="Verify all files that verdicts rest on instead; exit code 1 if one is damaged.")  # fmt: skip
@format_option
def list_runs(home: Path | None, is_verified: bool, output: Format) -> None:
    """List the runs in a directory (runs/ by default): date, design, games, status."""
    from knights_isolation import runs

    if is_verified:
        print_verified(home, output)
        return
    listed = runs(home).sections[0]
    if listed.rows or output != "table":
        print_rows(listed.rows, output, keep=listed.keep)
    else:
        click.echo(listed.title)


def print_verified(home: Path | None, output: Format) -> None:
    """Print the state of each file of a project; exit code 1 if one is damaged."""
    from knights_isolation.experiments.record.run_directory import HOME
    from knights_isolation.experiments.record.verification import verify

    verified = verify(home or HOME)
    print_rows(
        [{"file": each.file, "what": each.what, "state": each.state} for each in verified], output, keep=("state",)
    )
    if any(each.is_damaged for each in verified):
        sys.exit(1)


def play_run(file: Path | None, options: dict[str, Any], resume: str | None, extend: str | None = None) -> None:
    """Play a tournament or a match with live display, and print the path of the log and the next steps."""
    from knights_isolation.experiments.record.run_directory import run_called

    resume, extend = (run and str(run_called(run)) for run in (resume, extend))
    is_dry, is_watched = options.pop("dry_run", None), options.pop("watch", None)
    retry = bool(options.pop("retry_forfeits", None))
    if retry and not resume:
        raise ValueError("--retry-forfeits needs --resume RUN")
    if resume and extend:
        raise ValueError("--resume and --extend exclude each other: use one of them")
    if file and extend:
        raise ValueError(f"--extend keeps the settings of {extend}: omit {file}")
    wanted = RunRequest(file, run_keys(options), resume, extend, retry)
    if is_dry:
        print_dry_run(wanted)
    elif is_watched:
        play_with_page(wanted)
    else:
        play_in_terminal(wanted)


@dataclass(frozen=True)
class RunRequest:
    """A request to play: a file and keys that override it, or a run to resume, or one to extend."""

    file: Path | None
    keys: dict[str, Any]
    resume: str | None
    extend: str | None
    retry: bool

    def config(self) -> Config:
        """Return the configuration of the request."""
        from knights_isolation.experiments.play.run_extension import extended_config
        from knights_isolation.experiments.record.run_directory import asked_for

        return extended_config(self.extend, self.keys) if self.extend else asked_for(self.file, self.keys, self.resume)


def play_with_page(wanted: RunRequest) -> None:
    """Play while serving the page of the run, and keep serving it until Ctrl-C."""
    from knights_isolation.experiments.record.run_directory import new_directory
    from knights_isolation.reports.board.resources import Resources
    from knights_isolation.reports.lab.server import page_of_run, serve_in_background

    path = Path(wanted.resume) if wanted.resume else new_directory(wanted.config())
    shelf = Resources((path,))
    with serve_in_background(shelf, page_of_run(path), lambda address: click.echo(f"Live page: {address}")) as stay:
        play_in_terminal(wanted if wanted.resume else replace(wanted, keys={**wanted.keys, "out": str(path)}))
        click.echo("Press Ctrl-C to close the page.")
        with until_interrupted():
            stay()


def play_in_terminal(wanted: RunRequest) -> None:
    """Play with display on the terminal, and print the outcome."""
    from knights_isolation.experiments.record.run_directory import resume_advice
    from knights_isolation.isolation.shell import command
    from knights_isolation.reports.watch.run_progress import end_message, play_shown, print_outcome, what_is_kept

    with interruptible(f"{wanted.resume} is unchanged" if wanted.resume else ""):
        config, extends = wanted.config(), Path(wanted.extend) if wanted.extend else None
        resume, retry = wanted.resume is not None, wanted.retry
        outcome = play_shown(config, resume=resume, retry_forfeits=retry, extends=extends)
    kept = what_is_kept(outcome)
    goes_on = command("compare", outcome.path) if outcome.finished else resume_advice(outcome.path)
    with interruptible(kept, goes_on=goes_on):
        print_outcome(outcome)
        if not outcome.finished:
            raise Interrupted(kept, goes_on)
        if outcome.played:
            note_run(str(click.get_current_context().info_name), outcome.path)
        click.echo(end_message(outcome))


def play_kept_run(config: Config, *, resume: bool) -> RunOutcome:
    """Play or resume a run of a command's own; with live display on a terminal, otherwise with lines on stderr.

    Raises:
        Interrupted: with what was kept; the same command resumes it.
    """
    from knights_isolation.reports.watch.run_progress import play_shown, what_is_kept

    outcome = play_shown(config, resume=resume, into_stderr=not is_terminal())
    if not outcome.finished:
        raise Interrupted(what_is_kept(outcome), same_again())
    with interruptible(what_is_kept(outcome)):
        if outcome.played:
            note_run(str(click.get_current_context().info_name), outcome.path)
    return outcome


def print_dry_run(wanted: RunRequest) -> None:
    """Print the agents, the number of games, and the estimated time."""
    from knights_isolation.experiments.plan.tournament_plan import make_plan
    from knights_isolation.experiments.play.pools.equal_cost_limits import check_scalable
    from knights_isolation.experiments.play.run_extension import extend
    from knights_isolation.experiments.record.log import count_games
    from knights_isolation.experiments.record.run_directory import load_run, planned_like
    from knights_isolation.reports.studies.dry_run import dry_run_section

    if wanted.extend:
        extension = extend(Path(wanted.extend), wanted.config())
        plan, played = extension.plan, extension.games
    elif wanted.resume:
        plan, played = planned_like(load_run(wanted.resume), wanted.config()), count_games(Path(wanted.resume))
    else:
        plan, played = make_plan(wanted.config()), 0
        if plan.config.equal_cost:
            check_scalable(plan)
    print_sections([dry_run_section(plan, played)], "table")


def run_keys(options: dict[str, Any]) -> dict[str, Any]:
    """Convert options to keys of the configuration; empty lists count as not given."""
    keys = {key: value for key, value in options.items() if value not in (None, ())}
    if "pairs" in keys and keys["pairs"] != "all":
        keys["pairs"] = whole_number("--pairs", keys["pairs"], "or 'all'")
    if "sprt" in keys:
        keys["sprt"] = tuple(number("--sprt", word) for word in keys["sprt"].split(","))
    return keys


COMMANDS = (tournament, match, watch_run, list_runs)
