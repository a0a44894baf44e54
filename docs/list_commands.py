"""Write docs/reference/command-line.md: every command with its options, defaults and examples, from click."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from cli import main  # noqa: E402
from isolation_cli.help_pages import TASKS  # noqa: E402

VALUES = {"integer": "N", "integer range": "N", "float": "X", "float range": "X"}
"""What stands for a value, by the name of click's type."""
PAGE = ROOT / "docs" / "reference" / "command-line.md"
HEAD = """# Command line

For everybody who types commands. Here are all commands by task, with every argument, option and default; `make
reference` writes this page from the program. `isolation COMMAND --help` prints the same for one command.

Every command ends with exit code 0 on success, 2 if the request is invalid (an unknown option, a missing file, an
unknown name), and 1 if it failed on the way or a check failed: an interrupted run, a full disk, a function that raises.
Without a run, commands that read runs take the latest one below `runs/` and name it.
`eval "$(isolation completion bash)"` in `~/.bashrc` completes commands, runs, heuristics and specs; `zsh` and `fish`
work as well. On Windows, only commands that read runs work.
"""


def help_lines(command: click.Command) -> Iterator[str]:
    r"""Yield a command's help as Markdown; paragraphs behind `\b` are examples."""
    for paragraph in (command.help or "").split("\n\n"):
        lines = [line.strip() for line in paragraph.splitlines() if line.strip()]
        if lines and lines[0] == "\b":
            yield "\n".join(["```", *lines[1:], "```"])
        elif lines:
            yield " ".join(lines)


def value_of(option: click.Option) -> str:
    """What an option takes."""
    if option.is_flag:
        return ""
    if isinstance(option.type, click.Choice):
        return " ".join(f"`{choice}`" for choice in option.type.choices)
    low = getattr(option.type, "min", None)
    value = option.metavar or VALUES.get(option.type.name, option.type.name.upper())
    return f"`{value}`" + (f", at least {low}" if low else "")


def default_of(option: click.Option) -> str:
    """The default of an option, where there is one to show."""
    if option.is_flag or option.default == "" or not isinstance(option.default, int | float | str):
        return ""
    return f"`{option.default}`"


def row(option: click.Option) -> str:
    """The row of an option in its table."""
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    repeated = " May be repeated." if option.multiple and "repeated" not in (option.help or "") else ""
    cells = (names, value_of(option), default_of(option), (option.help or "") + repeated)
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def section(name: str, command: click.Command) -> Iterator[str]:
    """Yield the paragraphs about a command, and about the commands of a group."""
    pieces = command.collect_usage_pieces(click.Context(command, info_name=name))
    yield f"### {name}"
    yield "```\nisolation " + " ".join([name, *pieces]) + "\n```"
    yield from help_lines(command)
    options = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
    if options:
        yield "\n".join(["| option | value | default | meaning |", "|---|---|---|---|", *map(row, options)])
    if isinstance(command, click.Group):
        for inner in command.list_commands(click.Context(command)):
            yield from section(f"{name} {inner}", command.commands[inner])


def command_list() -> str:
    """Return the page."""
    parts = [HEAD.strip()]
    for title, names in TASKS.values():
        parts.append(f"## {title}")
        parts += [part for name in names for part in section(name, main.commands[name])]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(command_list(), encoding="utf-8")
