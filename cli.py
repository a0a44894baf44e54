"""The command line: each command reads options, calls one function and prints.

What a command needs is imported when it runs, so that `--help` answers at once.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from isolation.board import Board
    from reports.tables import Format

FORMATS = ("table", "json", "csv", "markdown")


class BadInput(click.ClickException):
    """The user's input was wrong; the message is one line."""

    exit_code = 2


class Commands(click.Group):
    """Commands in the order they are written, whose user errors end in one line."""

    def list_commands(self, context: click.Context) -> list[str]:
        """The commands in the order of the file."""
        return list(self.commands)

    def invoke(self, context: click.Context) -> Any:
        """Run a command; a ValueError is the user's, and says what was wrong and what would be right."""
        try:
            return super().invoke(context)
        except BrokenPipeError:
            # The reader has gone, as in `isolation heuristics | head`: nothing is left to say.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            context.exit(0)
        except ValueError as error:
            raise BadInput(str(error)) from error
        except OSError as error:
            raise click.ClickException(f"{error.strerror or error}: {error.filename or ''}".rstrip(": ")) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="knights-isolation")
def main() -> None:
    """Experiment with heuristics in knight's Isolation."""
    warnings.showwarning = lambda message, *rest, **more: click.echo(f"Note: {message}", err=True)


format_option = click.option(
    "--format", "output", type=click.Choice(FORMATS), default="table", show_default=True, help="How to print tables."
)
board_option = click.option("--board", "size", default="7x7", show_default=True, help="Board size, ROWSxCOLUMNS.")
moves_option = click.option("--moves", default="", help="Cells played so far, as in 24,14 (row * columns + column).")


def position(size: str, moves: str) -> Board:
    """The position after some moves, as given on the command line."""
    from isolation.board import Board

    words = [word.strip() for word in moves.split(",") if word.strip()]
    for word in words:
        if not word.isdecimal():
            raise ValueError(f"--moves is a list of cells like 24,14, and {word!r} is not a cell")
    return Board.from_moves([int(word) for word in words], size)


def print_rows(rows: Sequence[dict[str, Any]], output: Format, title: str = "") -> None:
    """Print rows as a table or in another format."""
    from reports.tables import render_rows

    click.echo(render_rows(rows, output, title))


# --- heuristics ---------------------------------------------------------------------------------------------------


@main.command("new")
@click.argument("file", type=click.Path(path_type=Path))
def new_heuristic(file: Path) -> None:
    """Write a commented template of a heuristic."""
    from experiments.template import TEMPLATE

    if file.suffix != ".py":
        raise ValueError(f"a heuristic lives in a Python file, such as {file.with_suffix('.py')}, not in {file}")
    with file.open("x", encoding="utf-8") as new:
        new.write(TEMPLATE)
    click.echo(f"Wrote {file}. Try it out with: isolation try {file}")


@main.command("try")
@click.argument("reference", metavar="FILE[:FUNCTION]")
def try_out(reference: str) -> None:
    """Say of a heuristic whether it compiles, what it costs, whether it is sound, and how it does at first sight."""
    from experiments.trial import try_heuristic
    from isolation.loading import load_heuristic
    from reports.trial import describe_trial

    path, name = split_file(reference, find_heuristic)
    click.echo(describe_trial(f"{path}:{name}", try_heuristic(load_heuristic(path, name).value)))


@main.command("eval")
@board_option
@moves_option
@click.option("--file", "references", multiple=True, metavar="FILE[:FUNCTION]", help="A heuristic of your own.")
@format_option
def evaluate(size: str, moves: str, references: tuple[str, ...], output: Format) -> None:
    """Show what every heuristic says of a position, to both players."""
    import heuristics
    from isolation.loading import load_heuristic
    from isolation.render import to_text

    board = position(size, moves)
    functions: dict[str, Callable[[Any, Any], float]] = {name: heuristics.get(name) for name in heuristics.names()}
    for reference in references:
        path, name = split_file(reference, find_heuristic)
        functions[f"{Path(path).name}:{name}"] = load_heuristic(path, name).value
    if output == "table":
        click.echo(to_text(board) + "\n")
    print_rows([evaluation(name, function, board) for name, function in functions.items()], output)


def evaluation(name: str, function: Callable[[Any, Any], float], board: Board) -> dict[str, Any]:
    """One heuristic's values of a position; what it raises stands in a value's place."""
    row: dict[str, Any] = {"heuristic": name}
    for player in board.players:
        try:
            row[f"player {player}"] = float(function(board.copy(), player))
        except Exception as error:
            row[f"player {player}"] = f"{type(error).__name__}: {error}"
    return row


@main.command("heuristics")
@click.option("--file", "file", type=click.Path(path_type=Path), help="List the functions of this file instead.")
@format_option
def list_heuristics(file: Path | None, output: Format) -> None:
    """List the heuristics: name, meaning, and whether they compile or why not."""
    from experiments.catalogue import file_catalogue, registry_catalogue

    entries = file_catalogue(file) if file else registry_catalogue()
    print_rows([{"name": e.name, "meaning": e.meaning, "compiles": e.verdict} for e in entries], output)


@main.command("test-agent")
@click.argument("reference", metavar="FILE[:CLASS]")
def test_agent(reference: str) -> None:
    """Check a classic player: signature, legal moves, time limit, fixed-depth search."""
    from isolation.checkup import check_player
    from isolation.loading import load_player

    path, name = split_file(reference, find_player)
    findings = check_player(load_player(path, name).value)
    click.echo(f"{path}:{name}")
    for finding in findings:
        click.echo(f"  {'ok  ' if finding.ok else 'FAIL'}  {finding.check}: {finding.seen}")
    if not all(finding.ok for finding in findings):
        sys.exit(1)


def split_file(reference: str, find: Callable[[str], str]) -> tuple[str, str]:
    """The file and the name in it; without a name, the one that `find` finds."""
    path, colon, name = reference.rpartition(":")
    return (path, name) if colon and path.endswith(".py") else (reference, find(reference))


def find_heuristic(path: str) -> str:
    """The name of a file's heuristic."""
    from experiments.catalogue import only_heuristic

    return only_heuristic(path)


def find_player(path: str) -> str:
    """The name of a file's player class."""
    from experiments.catalogue import only_player

    return only_player(path)


# --- the engine ---------------------------------------------------------------------------------------------------


@main.command("perft")
@board_option
@click.option("--depth", type=click.IntRange(min=1), default=5, show_default=True, help="Count up to so many plies.")
@moves_option
@format_option
def count_moves(size: str, depth: int, moves: str, output: Format) -> None:
    """Count the move sequences of 1, 2, … plies."""
    from isolation import perft

    counts = perft(position(size, moves), depth)
    print_rows([{"depth": d, "sequences": count} for d, count in enumerate(counts, start=1)], output)


@main.command("bench")
@format_option
def bench(output: Format) -> None:
    """Measure the speed of searches, games and start-up on this machine, as ratios to a comparator in the same run."""
    from experiments.bench import measure

    print_rows(measure(), output)


@main.command("cache")
@click.option("--clear", is_flag=True, help="Delete all compiled code.")
def compiled_code(clear: bool) -> None:
    """Say where compiled code is kept and how large it is."""
    from isolation import library

    click.echo(f"{library.folder()}: {len(library.files())} files, {library.size() / 1e6:.1f} MB")
    if clear:
        library.clear()
        click.echo("Cleared.")


if __name__ == "__main__":
    main()
