"""Help: the eight most important commands, the others by task, or all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import click
from click.shell_completion import CompletionItem

FIRST = ("new", "analyse", "match", "tournament", "compare", "lab", "board", "league")
"""Commands shown by `isolation` alone, in the order of the work."""
TASKS = {
    "write": (
        "Write a heuristic",
        ("new", "try", "analyse", "eval", "heuristics", "test-agent", "screen", "suite", "ci"),
    ),
    "improve": ("Improve a heuristic", ("research", "evaluate", "discover", "features", "fit", "tune", "sweep")),
    "play": ("Play", ("match", "tournament", "league", "watch", "plan", "play", "scheduler", "worker")),
    "results": (
        "Analyse results",
        ("compare", "summary", "ratings", "sprt", "diff", "plot", "report", "runs", "tried", "published"),
    ),
    "games": ("Look at games", ("lab", "games", "replay", "board", "show", "sql", "export", "import")),
    "engines": ("Players in any language", ("engine", "test-engine")),
    "perfect": ("Perfect play", ("solve", "label", "accuracy", "refute", "dataset")),
    "system": ("The engine and the shell", ("perft", "bench", "cache", "completion", "help")),
}
"""Commands by task."""


def write_first(formatter: click.HelpFormatter, commands: Mapping[str, click.Command]) -> None:
    """List the most important commands, and how to see the others."""
    _write(formatter, "Start here", FIRST, commands)
    with formatter.section("More"):
        tasks = [(f"help {task}", f"{title}: {', '.join(names)}.") for task, (title, names) in TASKS.items()]
        formatter.write_dl([*tasks, ("help all", "All commands."), ("COMMAND --help", "One command in detail.")])


def _write(
    formatter: click.HelpFormatter, title: str, names: Iterable[str], commands: Mapping[str, click.Command]
) -> None:
    with formatter.section(title):
        formatter.write_dl([(name, first_sentence(commands[name])) for name in names])


def first_sentence(command: click.Command) -> str:
    """Return the first sentence of a command's help."""
    text = " ".join((command.help or "").split())
    return re.split(r"(?<=\.) ", text, maxsplit=1)[0]


def complete_topic(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a task or a command."""
    root = context.find_root().command
    names = [*TASKS, "all", *(root.commands if isinstance(root, click.Group) else ())]
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@click.command("help")
@click.argument("topic", required=False, shell_complete=complete_topic)
@click.pass_context
def show_help(context: click.Context, topic: str | None) -> None:
    """Show the commands for a task (write, improve, play, results, games, engines, perfect, system), or all."""
    root = context.find_root()
    assert isinstance(root.command, click.Group)
    commands = root.command.commands
    if topic is None:
        click.echo(root.get_help())
    elif topic in TASKS or topic == "all":
        click.echo(task_page([topic] if topic in TASKS else list(TASKS), commands))
    elif topic in commands:
        with click.Context(commands[topic], info_name=topic, parent=root) as described:
            click.echo(described.get_help())
    else:
        raise ValueError(f"there is no task or command {topic!r}: tasks are {', '.join(TASKS)}, all")


def task_page(tasks: Sequence[str], commands: Mapping[str, click.Command]) -> str:
    """Return the commands of tasks, with a line each."""
    formatter = click.HelpFormatter(max_width=100)
    for task in tasks:
        title, names = TASKS[task]
        _write(formatter, title, names, commands)
    return formatter.getvalue().strip("\n")


COMMANDS = (show_help,)
