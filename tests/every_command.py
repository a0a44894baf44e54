"""The commands of the command line: by name, and those of a group by both words."""

import click

from cli import main


def commands_of(group: click.Group) -> dict[str, click.Command]:
    """The commands and groups of a group."""
    context = click.Context(group)
    found = {name: group.get_command(context, name) for name in group.list_commands(context)}
    return {name: command for name, command in found.items() if command}


NAMED = commands_of(main)
"""Commands and groups by their first word."""
EVERY = {
    f"{name} {last}".strip(): command
    for name, first in NAMED.items()
    for last, command in (commands_of(first).items() if isinstance(first, click.Group) else (("", first),))
}
"""Every command by all of its words."""
