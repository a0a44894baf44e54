"""Shared options and how they are parsed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from knights_isolation.isolation.files.atomic_write import check_output
from knights_isolation.reports.text.rendering import FORMATS

if TYPE_CHECKING:
    from knights_isolation.isolation import Board


class OutputPath(click.Path):
    """A file or folder to write, which is checked before the command computes anything."""

    def __init__(self, *suffixes: str, makes_folders: bool = False, file_okay: bool = True) -> None:
        super().__init__(path_type=Path, file_okay=file_okay)
        self._suffixes, self._makes_folders = suffixes, makes_folders

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, or fail if it cannot be written."""
        path: Any = super().convert(value, param, ctx)
        try:
            check_output(Path(path), self._suffixes, makes_folders=self._makes_folders)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return path


PICTURE, PAGE = OutputPath(".svg", ".png"), OutputPath(".html", ".htm")
format_option = click.option(
    "--format", "output", type=click.Choice(FORMATS), default="table", show_default=True, help="How to print tables."
)
board_option = click.option("--board", "size", default="7x7", show_default=True, help="Board size, ROWSxCOLUMNS.")
moves_option = click.option(
    "--moves", default="", help="Moves so far, as in d3,a2 or as cells 24,14 (row * columns + column)."
)
fen_option = click.option("--fen", metavar="FEN", help="Position as a quoted FEN, instead of --moves.")
cluster_option = click.option(
    "--cluster", metavar="ADDRESS|FILE", help="Use a cluster: address of its scheduler, or the scheduler's file."
)
jobs_option = click.option("--jobs", type=click.IntRange(min=0), default=0, help="Worker processes; 0: one per core.")
equal_cost_option = click.option(
    "--equal-cost", is_flag=True, default=None, help="Scale node limits so that all agents cost the same CPU time."
)
no_open_option = click.option("--no-open", is_flag=True, help="Do not open a browser.")
full_option = click.option("--full", is_flag=True, help="Print all tables with all notes.")
table_option = click.option("--table", "only", metavar="NAME", help="Print only this table.")


def position_asked_for(moves: str, size: str, fen: str | None) -> Board:
    """Return the position after --moves on a --board, or that of a --fen.

    Raises:
        ValueError: it is invalid, or a FEN was given with moves or a board.
    """
    from knights_isolation.isolation import Board
    from knights_isolation.isolation.games.transcript import board_after

    if fen is None:
        return board_after(moves, size)
    if moves:
        raise ValueError("--moves and --fen exclude each other: use one of them")
    if click.get_current_context().get_parameter_source("size") == click.core.ParameterSource.COMMANDLINE:
        raise ValueError("a FEN contains its board: omit --board")
    return Board.from_fen(fen)


def run_or_latest(run: Path | None) -> Path:
    """Return the named run, or the latest one, whose name is printed.

    Raises:
        ValueError: none was named, and there is none.
    """
    from knights_isolation.experiments.record.run_directory import (
        games_in,
        has_games,
        is_finished,
        latest_run,
        load_run,
        run_called,
    )

    if run is not None:
        named = run_called(run)
        return named if named.exists() else load_run(named).path
    latest, without_games = latest_run()
    state = "" if is_finished(latest) else f", which is not finished ({games_in(latest)})"
    skipped = f"; no games yet in {', '.join(map(str, without_games))}" if without_games else ""
    kind = "the latest with games" if has_games(latest) else "the latest"
    click.echo(f"No run named: using {kind}, {latest}{state}{skipped}.", err=True)
    return latest


def whole_number(option: str, text: str, alternative: str = "") -> int:
    """Parse a positive whole number."""
    if not text.isdecimal() or not int(text):
        raise ValueError(f"{option} must be a positive whole number {alternative}".rstrip() + f", not {text!r}")
    return int(text)


def number(option: str, text: str) -> float:
    """Parse a number."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{option}: {text!r} is not a number") from None
