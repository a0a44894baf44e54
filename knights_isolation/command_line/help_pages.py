"""Help: the eight most important commands, the others by task, or all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

from knights_isolation.registry import COMMANDS, FIRST, TASKS


def write_first(formatter: click.HelpFormatter, context: click.Context) -> None:
    """List the most important commands, and how to see the others."""
    _write(formatter, "Start here", FIRST, context)
    with formatter.section("More"):
        tasks = [(f"help {key}", f"{task.title}: {', '.join(_last_words(key))}.") for key, task in TASKS.items()]
        formatter.write_dl([*tasks, ("help all", "All commands."), ("COMMAND --help", "One command in detail.")])


def _last_words(task: str) -> list[str]:
    """Return the commands of a task, without the task itself in front."""
    return [name.removeprefix(f"{task} ") for name in TASKS[task].commands]


def _write(formatter: click.HelpFormatter, title: str, names: Iterable[str], context: click.Context) -> None:
    with formatter.section(title):
        formatter.write_dl(
            [(name, first_sentence(found)) for name in names if (found := command_called(name, context))]
        )


def command_called(name: str, context: click.Context) -> click.Command | None:
    """Return a command by all of its words."""
    found: click.Command | None = context.find_root().command
    for word in name.split():
        found = found.get_command(context, word) if isinstance(found, click.Group) else None
    return found


def first_sentence(command: click.Command) -> str:
    """Return the first sentence of a command's help."""
    text = " ".join((command.help or "").split())
    return re.split(r"(?<=\.) ", text, maxsplit=1)[0]


def help_text(topic: str | None, context: click.Context) -> str:
    """Return the help of a task, of a command, or of all."""
    root = context.find_root()
    if topic is None:
        return root.get_help()
    if topic in TASKS or topic == "all":
        formatter = click.HelpFormatter(max_width=100)
        for key in [topic] if topic in TASKS else TASKS:
            _write(formatter, TASKS[key].title, TASKS[key].commands, root)
        return formatter.getvalue().strip("\n")
    if found := command_called(topic, root):
        with click.Context(found, info_name=topic, parent=root) as described:
            return found.get_help(described)
    raise ValueError(f"there is no task or command {topic!r}: tasks are {', '.join(TASKS)}, all")


def complete_topic(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a task or a command."""
    return [CompletionItem(name) for name in (*TASKS, "all", *COMMANDS) if name.startswith(incomplete)]


@click.command("help", epilog="\b\nExamples:\n  isolation help play\n  isolation help all")
@click.argument("topic", nargs=-1, shell_complete=complete_topic)
@click.pass_context
def show_help(context: click.Context, topic: tuple[str, ...]) -> None:
    """Show the commands for a task, or all."""
    click.echo(help_text(" ".join(topic) or None, context))
