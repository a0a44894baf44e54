"""The command line: the group of all commands, and how it ends when something was asked wrongly.

What a command needs is imported when it runs, so that `--help` answers at once.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path
from typing import Any, cast

import click

from knights_isolation.experiments.play.pools.interrupts import arrived, listen
from knights_isolation.isolation.suggestions import command
from knights_isolation.isolation.usercode.user_exceptions import is_user_file
from knights_isolation.registry import COMMANDS, GROUPS, OLD, READING

from .build import build
from .cli_errors import WORDS, one_line_errors
from .help_pages import show_help, write_first


class Registered(click.Group):
    """A group of commands of the registry, each of which is made when it is asked for."""

    def __init__(self, prefix: str = "", **settings: Any) -> None:
        super().__init__(**settings)
        self._prefix = prefix

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names of the commands in the order of the registry."""
        names = (name.removeprefix(self._prefix) for name in COMMANDS if name.startswith(self._prefix))
        return [*dict.fromkeys(name.split()[0] for name in names)]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return a command, or a group of them."""
        full = f"{self._prefix}{name}"
        if full in COMMANDS:
            return build(full)
        if full in GROUPS:
            return Registered(f"{full} ", name=name, help=GROUPS[full])
        return None


class Commands(Registered):
    """All commands, whose user errors end in one line."""

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands that most people need, and how to see the others."""
        write_first(formatter, context)

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names of all commands; `help` is none of the registry."""
        return [*super().list_commands(context), "help"]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return a command, also by its former name."""
        found = show_help if name == "help" else super().get_command(context, name)
        if found is None and name in OLD:
            click.echo(f"Note: {command(name)} is now {command(*OLD[name].split())}.", err=True)
            group, _, last = OLD[name].rpartition(" ")
            home = self.get_command(context, group) if group else self
            assert isinstance(home, click.Group)
            return home.get_command(context, last)
        return found

    def make_context(self, info_name: str | None, args: list[str], *arguments: Any, **options: Any) -> click.Context:
        """Read what stands before the command, and keep all of it for messages."""
        words = tuple(args)
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):  # a terminal that lacks a character shows another in its place
                stream.reconfigure(errors="replace")
        with one_line_errors():
            context = super().make_context(info_name, args, *arguments, **options)
        context.meta[WORDS] = words
        return context

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; where nothing can be played, only those that read what there is."""
        name, command, remaining_arguments = super().resolve_command(context, arguments)
        is_playing = OLD.get(name or "", name) not in READING
        if sys.platform == "win32" and is_playing and not {"-h", "--help"} & {*remaining_arguments}:
            raise click.ClickException(f"{name} needs Linux or macOS; here runs can be read, by {', '.join(READING)}")
        return name, command, remaining_arguments

    def invoke(self, context: click.Context) -> Any:
        """Run a command; a ValueError is the user's, and says what was wrong and what would be right."""
        with one_line_errors():
            try:
                return super().invoke(context)
            except BrokenPipeError:
                # The reader has gone, as in `isolation heuristics | head`: nothing is left to say.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                context.exit(0)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="knights-isolation")
def main() -> None:
    """Experiment with heuristics in knight's Isolation."""
    errors = sys.stderr  # while user code runs, another stream is in its place
    printed: set[str] = set()

    def show(message: Warning | str, category: type[Warning], file: str, line: int, *_: Any, **options: Any) -> None:
        note = f"Note: {message} ({Path(file).name}, line {line})" if is_user_file(file) else f"Note: {message}"
        if note not in printed:
            printed.add(note)
            click.echo(note, file=errors)

    warnings.showwarning = cast("Callable[..., None]", show)


def run() -> None:
    """The program. It ends when its work is done, whatever threads user code has left behind."""
    # Matrices are small here: threads that wait for each other's piece of one take five times the processor's time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    listen()
    try:
        main(prog_name="isolation")
    except SystemExit as end:
        arrived()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # nothing is left to do but to end
        left = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
        if any(not thread.daemon for thread in left):
            atexit._run_exitfuncs()
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            os._exit(end.code if isinstance(end.code, int) else int(end.code is not None))
        raise
