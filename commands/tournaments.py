"""Commands that play runs, and list them."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from commands.completion import complete_run, complete_spec
from commands.options import cluster_option, format_option, number, whole_number
from commands.output import print_rows, print_sections, write_new
from reports.tables import Format


def run_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that tournaments and matches share; each replaces a key of the configuration."""
    options = [
        click.option("--pairs", help="Openings a match, each played with sides swapped; or 'all'."),
        click.option("--openings", help="random:PLIES, placements or file:PATH, with ,same or ,other behind it."),
        click.option("--limit", help="Limit of agents that name none: nodes=N, depth=N, ms=N or cpu_ms=N."),
        click.option("--board", help="Board size, ROWSxCOLUMNS."),
        click.option("--seed", type=int, help="Seed of the openings and of every game."),
        click.option("--jobs", type=click.IntRange(min=0), help="Processes; 0 is one a core."),
        cluster_option,
        click.option(
            "--hard-cap", type=float, help="Seconds after which a user's agent hangs: 60 if not given; 0 is never."
        ),
        click.option("--sprt", metavar="ELO0,ELO1", help="Stop as soon as this sequential test decides."),
        click.option("--out", help="Directory of the run."),
        click.option(
            "--resume", metavar="RUN", shell_complete=complete_run, help="Play what is missing of an interrupted run."
        ),
        click.option(
            "--dry-run",
            is_flag=True,
            default=None,
            help="Say what would be played, and about how long it takes; play nothing.",
        ),
        click.option(
            "--retry-forfeits",
            is_flag=True,
            default=None,
            help="With --resume: replay games lost by a dead process.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command("tournament")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--contender", "contenders", multiple=True, metavar="SPEC", help="A contender; may be repeated.",
              shell_complete=complete_spec)  # fmt: skip
@click.option("--opponent", "opponents", multiple=True, metavar="SPEC", help="An opponent; may be repeated.",
              shell_complete=complete_spec)  # fmt: skip
@click.option("--baseline", metavar="SPEC", shell_complete=complete_spec, help="What contenders are compared with.")
@click.option("--equal-cost", is_flag=True, default=None, help="Scale node limits so that moves cost the same time.")
@click.option("--extend", metavar="RUN", help="Play further contenders in a finished run's tournament; see the docs.")
@click.option("--init", is_flag=True, help="Write a commented tournament.toml and stop.")
@run_options
def tournament(file: Path | None, init: bool, resume: str | None, extend: str | None, **options: Any) -> None:
    """Play a tournament: the classic evaluation, or that of a TOML FILE.

    Every game is logged; agents are named like ID:improved@nodes=2000, ID:path/to/my.py:score or
    path/to/game_agent.py:CustomPlayer; docs/tournaments.md has them all.
    """
    if init:
        from experiments.config import example_toml

        write_new(Path("tournament.toml"), example_toml())
        click.echo("Wrote tournament.toml. Play it with: isolation tournament tournament.toml")
        return
    play_run(file, options, resume, extend)


@click.command("match")
@click.argument("agent_1", metavar="A", shell_complete=complete_spec)
@click.argument("agent_2", metavar="B", shell_complete=complete_spec)
@run_options
def match(agent_1: str, agent_2: str, resume: str | None, **options: Any) -> None:
    """Play agents A and B head to head, from random openings of four plies."""
    setup = {"format": "head-to-head", "contenders": (agent_1,), "baseline": agent_2, "openings": "random:4"}
    with speaking_of({"contenders[0]": "A", "contenders": "A and B", "baseline": "B"}):
        play_run(None, {**setup, **{key: value for key, value in options.items() if value is not None}}, resume)


@contextmanager
def speaking_of(words: Mapping[str, str]) -> Iterator[None]:
    """Have errors about keys of the configuration speak of what stands for them on the command line.

    Raises:
        ValueError: what was wrong.
    """
    try:
        yield
    except ValueError as error:
        key, colon, message = str(error).partition(": ")
        if not colon or key not in words:
            raise
        raise ValueError(f"{words[key]}: {message}") from error


@click.command("runs")
@click.argument("home", required=False, type=click.Path(path_type=Path))
@format_option
def list_runs(home: Path | None, output: Format) -> None:
    """List the runs below a directory, runs/ by default: when, what, how many games, finished or not."""
    from experiments.runs import HOME
    from reports.runs import run_rows

    if home and not home.is_dir():
        raise ValueError(f"{home}: no such directory")
    rows = run_rows(home or HOME)
    if rows or output != "table":
        print_rows(rows, output)
    else:
        click.echo(f"There are no runs in {home or HOME}/.")


def play_run(file: Path | None, options: dict[str, Any], resume: str | None, extend: str | None = None) -> None:
    """Play a tournament or a match, show it live, and say where the log lies and what to do next."""
    from experiments.play.interrupts import heard_once

    is_dry = options.pop("dry_run", None)
    retry = bool(options.pop("retry_forfeits", None))
    if retry and not resume:
        raise ValueError("--retry-forfeits goes on with a run: name it with --resume")
    if resume and extend:
        raise ValueError("--resume goes on with a run, --extend begins another from one: choose")
    if file and extend:
        raise ValueError(f"--extend plays by the settings of {extend}: leave {file} out")
    keys = run_keys(options)
    if is_dry:
        say_what_would_be_played(file, keys, resume, extend)
        return
    with heard_once():
        try:
            from experiments.play.extension import extended_config
            from experiments.runs import asked_for
            from reports.progress import play_shown, print_outcome, what_next

            config = extended_config(extend, keys) if extend else asked_for(file, keys, resume)
            extends = Path(extend) if extend else None
            outcome = play_shown(config, resume=resume is not None, retry_forfeits=retry, extends=extends)
        except KeyboardInterrupt:
            kept = f"{resume} is as it was" if resume else "nothing was written"
            click.echo(f"Interrupted before there was a game to play; {kept}.")
            is_finished = False
        else:
            print_outcome(outcome)
            click.echo(what_next(outcome))
            is_finished = outcome.finished
    if not is_finished:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Nothing is left to do but to end.
        sys.exit(1)


def say_what_would_be_played(file: Path | None, keys: dict[str, Any], resume: str | None, run: str | None) -> None:
    """Print the agents, the number of games, and a guess at the time; `run` is what is to be extended, if anything."""
    from experiments.design import make_plan
    from experiments.log import count_games
    from experiments.play.extension import extend, extended_config
    from experiments.runs import asked_for
    from reports.dry_run import dry_run_section

    if run:
        extension = extend(Path(run), extended_config(run, keys))
        plan, played = extension.plan, extension.games
    else:
        plan, played = make_plan(asked_for(file, keys, resume)), count_games(Path(resume)) if resume else 0
    print_sections([dry_run_section(plan, played)], "table")


def run_keys(options: dict[str, Any]) -> dict[str, Any]:
    """Options as the configuration has them; lists of them that are empty were not given."""
    keys = {key: value for key, value in options.items() if value not in (None, ())}
    if "pairs" in keys and keys["pairs"] != "all":
        keys["pairs"] = whole_number("--pairs", keys["pairs"], "or 'all'")
    if "sprt" in keys:
        keys["sprt"] = tuple(number("--sprt", word) for word in keys["sprt"].split(","))
    return keys


COMMANDS = (tournament, match, list_runs)
