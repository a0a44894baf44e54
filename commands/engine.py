"""Commands about the engine: counting positions, its speed, its compiled code."""

from __future__ import annotations

import click

from commands.options import board_option, format_option, moves_option
from commands.output import print_rows
from reports.tables import Format


@click.command("perft")
@board_option
@click.option("--depth", type=click.IntRange(min=1), default=5, show_default=True, help="Count up to so many plies.")
@moves_option
@format_option
def count_moves(size: str, depth: int, moves: str, output: Format) -> None:
    """Count the move sequences of 1, 2, … plies."""
    from isolation import perft
    from isolation.transcript import position_after

    counts = perft(position_after(moves, size), depth)
    print_rows([{"depth": d, "sequences": count} for d, count in enumerate(counts, start=1)], output)


@click.command("bench")
@format_option
def bench(output: Format) -> None:
    """Measure the speed of searches, games and start-up on this machine, as ratios to a comparator in the same run."""
    from experiments.bench import measure

    print_rows(measure(), output)


@click.command("cache")
@click.option("--clear", is_flag=True, help="Delete all compiled code.")
def compiled_code(clear: bool) -> None:
    """Say where compiled code is kept and how large it is."""
    from isolation.compiling import library

    click.echo(f"{library.folder()}: {len(library.files())} files, {library.size() / 1e6:.1f} MB")
    if clear:
        library.clear()
        click.echo("Cleared.")


COMMANDS = (count_moves, bench, compiled_code)
