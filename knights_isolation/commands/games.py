"""Games: select, replay, show, query, export, import, play them, and look at all of it in a browser."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, cast

from knights_isolation.isolation.suggestions import COMMAND
from knights_isolation.isolation.suggestions import command as shown_command
from knights_isolation.reports.answers import Result, run_path, run_paths
from knights_isolation.reports.text.cell_values import pluralise
from knights_isolation.reports.text.rendering import Section, speaks_ascii_only

from ..inputs import Agent, AnyHeuristic, Moves, NoOpen, Output, Port, Run, RunLike, Size
from ..parameters import About, command
from . import rooms
from .results import results

if TYPE_CHECKING:
    from pandas import DataFrame

    from knights_isolation.experiments.statistics.run_results import RunResults
    from knights_isolation.isolation.games.match import GameRecord
    from knights_isolation.reports.replay import Replay

GameLike: TypeAlias = "RunLike | GameRecord | Sequence[int]"
Ascii = Annotated[bool, About(help="Draw boards in plain ASCII.")]
ShownSize = Annotated[Size, About(flags=("--board",))]
_ITS_FEN = "its own"
"""Value of --fen without a FEN."""


@command("rows")
def games(
    run: Run | None = None,
    *,
    where: str = "",
    kind: Annotated[Literal["all", "longest", "shortest", "upsets", "forfeits"], About(flags=("--show",))] = "all",
    limit: Annotated[int, About(low=1)] | None = None,
) -> Result[DataFrame]:
    """Select games of a run, the most remarkable first; `isolation replay RUN GAME_ID` shows one.

    Args:
        run: by default the latest one.
        where: a condition, as in "won_by == 'Random' and plies > 30".
        kind: kind of games; the most remarkable first.
        limit: show at most this many, on the command line 20 by default.

    Examples:
        isolation games --show upsets
        isolation games runs/first --where "won_by == 'Random' and plies > 30"
    """
    return rooms.games_found(run, kind, where, limit)


@command("rows")
def replay(
    source: Annotated[GameLike, About(metavar="[RUN] GAME_ID | FILE", complete="run")] | None = None,
    game_id: int | None = None,
    *,
    size: ShownSize = "7x7",
    moves: Moves = "",
    ascii: Ascii = False,
    gif: Annotated[str | Path, About(suffixes=(".gif",))] | None = None,
    pace: Annotated[float, About(low=0.05, high=60)] = 1.0,
    html: Annotated[str | Path, About(suffixes=(".html", ".htm"))] | None = None,
) -> Result[Replay]:
    """Step through a game of a run, a saved game, or --moves; or write it as a GIF or a page.

    In a notebook its card is a board to step through, with the players' scores.

    Args:
        source: a run, by default the latest one; or a saved game, FILE; in Python also what `isolation.play` returned,
            or the cells played, both placements first.
        game_id: which game of the run.
        gif: write the game as an animated GIF.
        pace: GIF: seconds per ply.
        html: write the game as one self-contained page.

    Examples:
        isolation replay runs/first 12
        isolation replay --moves d3,a2,e5 --gif game.gif
    """
    return rooms.replayed(rooms.find_replay(source, game_id, size, moves), ascii, gif, pace, html)


@command()
def show(
    *,
    size: ShownSize | None = None,
    moves: Moves = "",
    ascii: Ascii = False,
    fen: Annotated[str, About(metavar="[FEN]", flag_value=_ITS_FEN)] | None = None,
    svg: Annotated[str | Path, About(suffixes=(".svg",))] | None = None,
    png: Annotated[str | Path, About(suffixes=(".png",))] | None = None,
) -> str:
    """Show a position, as text or as a picture.

    Args:
        size: board size, ROWSxCOLUMNS; 7x7 by default.
        fen: show this FEN instead; without a value, print the FEN of the position.
        svg: write the position as SVG.
        png: write the position as PNG.

    Examples:
        isolation show --moves d3,a2
        isolation show --fen '7/7/n6/3N3/7/7/7 w - - 0 1' --svg position.svg
    """
    board = rooms.position_of(size, moves, None if fen == _ITS_FEN else fen)
    if fen == _ITS_FEN:
        return board.fen
    if svg:
        Path(svg).write_text(rooms.to_svg(board), encoding="utf-8")
    if png:
        rooms.write_png(Path(png), board)
    written = [f"Wrote {path}" for path in (svg, png) if path]
    return "\n".join(written) or rooms.to_text(board, ascii or speaks_ascii_only())


@command()
def board(
    *runs: Run,
    agent: Annotated[Sequence[Agent], About(help="Add this agent, also from a file.")] = (),
    file: Annotated[Sequence[AnyHeuristic], About(help="Add a heuristic of your own.")] = (),
    port: Port = 0,
    no_open: NoOpen = False,
) -> None:
    """Serve the analysis board to this machine's browser. Without a RUN, it offers those under runs/.

    Examples:
        isolation board
        isolation board runs/first --file my_heuristic.py
    """
    rooms.serve_board(runs, file, agent, port, not no_open)


@command()
def lab(
    *,
    runs: Annotated[str | Path, About(help="Directory of the runs; runs/ by default.")] | None = None,
    port: Port = 0,
    no_open: Annotated[bool, About(help="Do not open a browser.", hidden=("--no-browser",))] = False,
) -> None:
    """Serve all runs, reports, heuristics and the board to this machine's browser.

    Runs appear while they are played. Heuristics are the shipped ones and those in files of the current directory.

    Examples:
        isolation lab
        isolation lab --runs elsewhere/runs --no-open
    """
    rooms.serve_lab(Path(runs) if runs else None, port, not no_open)


@command()
def watch(run: Run | None = None, *, port: Port = 0, no_open: NoOpen = False) -> None:
    """Serve a live page of a run in progress: standings, forfeits, finished games.

    Examples:
        isolation watch
        isolation watch runs/first
    """
    rooms.serve_run(run, port, not no_open)


@command()
def play(
    *,
    against: Annotated[Agent, About(help="Agent to play against.")] = "ID:improved",
    side: Literal["first", "second"] = "first",
    board: Size = "7x7",
    saved: Annotated[str | Path, About(flags=("--from",))] | None = None,
    log: Output | None = None,
    ascii: Ascii = False,
) -> str:
    """Play against an agent in the terminal.

    Args:
        side: your side.
        saved: continue a saved game.
        log: add the finished game to this log of games.

    Examples:
        isolation play
        isolation play --against ID:territory@nodes=2000 --side second
    """
    return rooms.play_in_terminal(against, side, board, saved, log, ascii or speaks_ascii_only())


@command("rows")
def sql(query: str, *runs: Run) -> DataFrame:
    """Answer an SQL query over runs by DuckDB: views games, plays, plies, agents, labels; in Python as a frame.

    Examples:
        isolation sql 'SELECT agent, avg(won::int) AS share FROM plays GROUP BY agent' runs/first
        isolation sql 'SELECT ply, avg(nodes) FROM plies WHERE NOT is_opening GROUP BY ply' runs/first --format csv
    """
    table = rooms.query_runs(query, run_paths(runs))
    exact = Result(table, (Section("answer", "", tuple(table.to_pylist())),))  # a frame may not keep the values
    return cast("DataFrame", exact if COMMAND.get() else table.to_pandas())


@command()
def export(
    run: Run,
    to: Annotated[Literal["pgn", "csv", "jsonl", "duckdb"], About(place="option")],
    out: Annotated[str | Path, About(place="option", suffixes=("",))] | None = None,
) -> Path | str:
    """Export the games of a run: PGN, CSV, JSON lines, or a DuckDB database; return the path, or the text without one.

    Args:
        to: output format.
        out: output file; must not exist yet.

    Examples:
        isolation export runs/first --to pgn --out games.pgn
        isolation export runs/first --to csv
    """
    pieces = rooms.export_run(run_path(run), to, None if out is None else Path(out))
    if out is None and COMMAND.get():
        sys.stdout.writelines(pieces)
        return ""
    return "".join(pieces) if out is None else Path(out)


@command()
def import_games(file: str | Path, out: Annotated[Output, About(place="option")]) -> Result[RunResults]:
    """Import games played elsewhere as a run; FILE is PGN.

    Args:
        out: directory of the run.

    Examples:
        isolation import games.pgn --out runs/imported
        isolation results runs/imported
    """
    games, notes = rooms.import_pgn(Path(file), Path(out))
    for note in notes:
        warnings.warn(note, stacklevel=3)
    return replace(results(out), text=f"{pluralise(games, 'game')} in {out}: {shown_command('results', out)}")
