"""The command line: the group of all commands, its help, and how it ends when something was asked wrongly.

What a command needs is imported when it runs, so that `--help` answers at once.
"""

from __future__ import annotations

import atexit
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import Any, cast

import click

from knights_isolation.experiments.play.pools.interrupts import arrived, listen
from knights_isolation.isolation.suggestions import TYPED, command

from .. import registry
from ..parameters import command_of
from ..registry import FIRST, GROUPS, OLD, READING, TASKS
from .build import build
from .cli_errors import one_line_errors


class Registered(click.Group):
    """A group of commands of the registry, each of which is made when it is asked for."""

    def __init__(self, prefix: str = "", **settings: Any) -> None:
        super().__init__(**settings)
        self._prefix = prefix

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names of the commands in the order of the registry."""
        names = (name.removeprefix(self._prefix) for name in registry.COMMANDS if name.startswith(self._prefix))
        return [*dict.fromkeys(name.split()[0] for name in names)]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return a command, also by its former name, or a group of them."""
        full = f"{self._prefix}{name}"
        if full in OLD:
            click.echo(f"Note: {command(name)} is now {command(*OLD[full].split())}.", err=True)
            full = OLD[full]
        if full in registry.COMMANDS:
            return build(full)
        return Registered(f"{full} ", name=name, help=GROUPS[full]) if full in GROUPS else None


class Commands(Registered):
    """All commands, whose user errors end in one line."""

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands that most people need, and how to see the others."""
        _list(formatter, "Start here", FIRST)
        with formatter.section("More"):
            words = {key: [name.removeprefix(f"{key} ") for name in task.commands] for key, task in TASKS.items()}
            tasks = [(f"help {key}", f"{task.title}: {', '.join(words[key])}.") for key, task in TASKS.items()]
            formatter.write_dl([*tasks, ("help all", "All commands."), ("COMMAND --help", "One command in detail.")])

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names of all commands; `help` is none of the registry."""
        return [*super().list_commands(context), "help"]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return a command, or `help`."""
        return show_help if name == "help" else super().get_command(context, name)

    def make_context(self, info_name: str | None, args: list[str], *arguments: Any, **options: Any) -> click.Context:
        """Read what stands before the command, and keep all of it for messages."""
        typed = command(*args)
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):  # a terminal that lacks a character shows another in its place
                stream.reconfigure(errors="replace")
        with one_line_errors():
            context = super().make_context(info_name, args, *arguments, **options)
        context.call_on_close(partial(TYPED.reset, TYPED.set(typed)))
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


def _list(formatter: click.HelpFormatter, title: str, names: Iterable[str]) -> None:
    """List commands with the first sentences of their help."""
    texts = {name: " ".join(command_of(registry.function_of(name)).help.split()) for name in names}
    with formatter.section(title):
        formatter.write_dl([(name, re.split(r"(?<=\.) ", text, maxsplit=1)[0]) for name, text in texts.items()])


_TOPICS = (*TASKS, "all", *registry.COMMANDS)


@click.command("help", epilog="\b\nExamples:\n  isolation help play\n  isolation help all")
@click.argument("topic", nargs=-1, shell_complete=lambda *at: [topic for topic in _TOPICS if topic.startswith(at[2])])
@click.pass_context
def show_help(context: click.Context, topic: tuple[str, ...]) -> None:
    """Show the commands for a task, or all."""
    root, name = context.find_root(), " ".join(topic)
    if name in TASKS or name == "all":
        formatter = click.HelpFormatter(max_width=100)
        for key in [name] if name in TASKS else TASKS:
            _list(formatter, TASKS[key].title, TASKS[key].commands)
        click.echo(formatter.getvalue().strip("\n"))
    elif name in {"", "help", *registry.COMMANDS, *GROUPS, *OLD}:
        root.command.main([*topic, "--help"], prog_name=root.info_name)
    else:
        raise ValueError(f"there is no task or command {name!r}: tasks are {', '.join(TASKS)}, all")


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="knights-isolation")
def main() -> None:
    """Experiment with heuristics in knight's Isolation."""
    errors = sys.stderr  # while user code runs, another stream is in its place
    printed: set[str] = set()

    def show(message: Warning | str, category: type[Warning], file: str, line: int, *_: Any, **options: Any) -> None:
        from knights_isolation.isolation.usercode.user_exceptions import is_user_file

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
