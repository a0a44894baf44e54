"""Games: select, replay, show, query, export, import, play them, and look at all of it in a browser."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, cast

from knights_isolation.isolation.files.atomic_write import write_new
from knights_isolation.isolation.suggestions import command as shown_command
from knights_isolation.reports.answers import Result
from knights_isolation.reports.text.rendering import Section

from ..inputs import (
    AgentLike,
    Count,
    NoOpen,
    Output,
    Port,
    Run,
    RunLike,
    Size,
    agent_spec,
    run_path,
    run_paths,
)
from ..parameters import About, command
from ..surface import COMMAND, tell
from .results import results

if TYPE_CHECKING:
    from pandas import DataFrame

    from knights_isolation.experiments.statistics.run_results import RunResults
    from knights_isolation.isolation.games.match import GameRecord
    from knights_isolation.reports.board.resources import Resources
    from knights_isolation.reports.replay.replay import Replay

GameLike: TypeAlias = "RunLike | GameRecord | Sequence[int]"
Moves = Annotated[str, About(help="Moves so far, as in d3,a2 or as cells 24,14 (row * columns + column).")]
Ascii = Annotated[bool, About(help="Draw boards in plain ASCII.")]
ShownSize = Annotated[Size, About(help="Board size, ROWSxCOLUMNS.", flags=("--board",))]
_ITS_FEN = "its own"
"""Value of --fen without a FEN."""


@command("rows")
def games(
    run: Run | None = None,
    *,
    where: str = "",
    kind: Annotated[Literal["all", "longest", "shortest", "upsets", "forfeits"], About(flags=("--show",))] = "all",
    limit: Count | None = None,
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

    Raises:
        ValueError: there is no such run, or the condition is wrong.
    """
    from knights_isolation.experiments.exchange.find_games import SHOWN, find_games, with_mistakes
    from knights_isolation.experiments.record.run_directory import missing_sentence
    from knights_isolation.reports.text.cell_values import Identifier
    from knights_isolation.reports.text.rendering import render_rows, terminal_width, without_room, wrapped

    path = run_path(run)
    limit = limit or (20 if COMMAND.get() else None)
    found = find_games(path, kind, where)
    rows = with_mistakes(path, found.head(limit) if limit else found, SHOWN)
    shown = tuple({**row, "game_id": Identifier(row["game_id"])} for row in rows)
    title = f"{len(rows):,} of {len(found):,} games." if len(found) else "No matching games."
    tell(wrapped(missing_sentence(path), terminal_width()))
    lines = [title]
    are_apart = kind == "forfeits" and "detail" in without_room(shown)
    if are_apart:
        lines = [*(wrapped(f"Game {row['game_id']}: {row['detail']}", terminal_width()) for row in shown), title]
    if rows and "mistakes" not in rows[0]:
        advice = f"To see mistakes in won games, run {shown_command('perfect', 'label', path)}."
        lines.append(wrapped(advice, terminal_width()))
    visible = [{key: row[key] for key in row if key != "detail" or not are_apart} for row in shown]
    text = "\n".join([render_rows(visible, "table", keep=("won_by",)), *lines])
    return Result(found, (Section("games", title, shown, keep=("won_by",)),), text=text)


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

    Raises:
        ValueError: there is no such game, or a move is illegal.
    """
    from knights_isolation.reports.replay import replay as replays
    from knights_isolation.reports.replay.replay import replay_frame, replay_page, step_through
    from knights_isolation.reports.text.rendering import render_rows, speaks_ascii_only

    game = _game(source, game_id, size, moves)
    written = []
    if gif:
        from knights_isolation.reports.pages.board_images import write_gif

        write_gif(Path(gif), game.moves, game.size, replays.captions_of(game), game.agents, pace)
        written.append(f"Wrote {gif}")
    if html:
        Path(html).write_text(replay_page(game), encoding="utf-8")
        written.append(f"Wrote {html}")
    rows, end = tuple(replays.ply_rows(game)), replays.describe_end(game)
    text = "\n".join(written or [render_rows(rows, "table", game.title), end])
    section = Section("plies", game.title, rows, (end,))
    step = None if written else partial(step_through, game, ascii or speaks_ascii_only())
    return Result(game, (section,), card=partial(replay_frame, game), text=text, step=step)


def _game(source: RunLike | GameRecord | Sequence[int] | None, game_id: int | None, size: str, moves: str) -> Replay:
    """Return the game that was asked for."""
    from knights_isolation.isolation.games.match import GameRecord
    from knights_isolation.reports.replay import replay as replays

    if isinstance(source, GameRecord):
        return replays.replay_of_record("A game", source)
    if isinstance(source, Sequence) and not isinstance(source, str):
        return replays.replay_of_moves(source, size)
    if (
        game_id is None
        and isinstance(source, str)
        and source.replace(",", "").isdecimal()
        and not Path(source).exists()
    ):
        return replays.replay_of_run(run_path(None), int(source.replace(",", "")))
    if source is None and game_id is None:
        return replays.find_replay([], size, moves)
    if game_id is None:
        return replays.find_replay([str(source if isinstance(source, str | Path) else run_path(source))], size, moves)
    return replays.replay_of_run(run_path(source), game_id)


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

    Raises:
        ValueError: the position is invalid.
    """
    from knights_isolation.inputs import position_of
    from knights_isolation.isolation.boards.drawing import to_svg, to_text
    from knights_isolation.reports.text.rendering import speaks_ascii_only

    board = position_of(size, moves, None if fen == _ITS_FEN else fen)
    if fen == _ITS_FEN:
        return board.fen
    if svg:
        Path(svg).write_text(to_svg(board), encoding="utf-8")
    if png:
        from knights_isolation.reports.pages.board_images import write_png

        write_png(Path(png), board)
    written = [f"Wrote {path}" for path in (svg, png) if path]
    return "\n".join(written) or to_text(board, ascii or speaks_ascii_only())


@command()
def board(
    *runs: Run,
    agent: Annotated[
        Sequence[AgentLike], About(help="Add this agent, also from a file.", metavar="SPEC", complete="agent")
    ] = (),
    file: Annotated[
        Sequence[str], About(help="Add a heuristic of your own.", metavar="FILE[:FUNCTION]", complete="file")
    ] = (),
    port: Port = 0,
    no_open: NoOpen = False,
) -> None:
    """Serve the analysis board to this machine's browser. Without a RUN, it offers those under runs/.

    Examples:
        isolation board
        isolation board runs/first --file my_heuristic.py
    """
    from knights_isolation.experiments.plan.catalogue import user_heuristics
    from knights_isolation.experiments.record.run_directory import HOME, check_run
    from knights_isolation.experiments.roster import parse_agent
    from knights_isolation.reports.board.resources import Resources

    paths = tuple(check_run(path) for path in run_paths(runs)) if runs else ()
    own = user_heuristics(file) if file else {}
    offered = {each.name: each for each in map(parse_agent, map(agent_spec, agent))}
    _serve(Resources(paths, own, offered, home=None if runs else HOME), port, "Board", "/board", no_open)


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

    Raises:
        ValueError: there is no such directory.
    """
    from knights_isolation.experiments.record.run_directory import HOME
    from knights_isolation.reports.board.resources import Resources

    if runs and not Path(runs).is_dir():
        raise ValueError(f"{runs}: no such directory")
    _serve(Resources(home=Path(runs or HOME)), port, "Lab", "/", no_open)


@command()
def watch(run: Run | None = None, *, port: Port = 0, no_open: NoOpen = False) -> None:
    """Serve a live page of a run in progress: standings, forfeits, finished games.

    Examples:
        isolation watch
        isolation watch runs/first
    """
    from knights_isolation.experiments.record.run_directory import load_run
    from knights_isolation.reports.board.resources import Resources
    from knights_isolation.reports.lab.server import page_of_run

    path = load_run(run_path(run)).path
    _serve(Resources((path,)), port, "Live page", page_of_run(path), no_open)


def _serve(shelf: Resources, port: int, name: str, page: str, no_open: bool) -> None:
    """Serve pages until Ctrl-C."""
    from knights_isolation.experiments.play.pools.interrupts import until_interrupted
    from knights_isolation.reports.lab.server import serve

    with until_interrupted():
        serve(shelf, port, lambda address: print(f"{name}: {address} (Ctrl-C to stop)", flush=True), page, not no_open)


@command()
def play(
    *,
    against: Annotated[
        AgentLike, About(help="Agent to play against.", metavar="SPEC", complete="agent")
    ] = "ID:improved",
    side: Literal["first", "second"] = "first",
    board: Size = "7x7",
    saved: Annotated[str | Path, About(flags=("--from",))] | None = None,
    log: Output | None = None,
    ascii: Ascii = False,
) -> str:
    """Play against an agent in the terminal.

    Args:
        against: agent to play against.
        side: your side.
        saved: continue a saved game.
        log: add the finished game to this log of games.

    Examples:
        isolation play
        isolation play --against ID:territory@nodes=2000 --side second
    """
    import random

    from knights_isolation.experiments.exchange.saved_games import append_game, load_game, save_game
    from knights_isolation.experiments.roster import parse_agent
    from knights_isolation.isolation.games.human import Seat, play_human
    from knights_isolation.reports.text.rendering import speaks_ascii_only

    opponent, seed = parse_agent(agent_spec(against)), random.getrandbits(63)
    number: Literal[1, 2] = 1 if side == "first" else 2
    game = load_game(Path(saved)) if saved else None
    strongest = parse_agent("ID:territory@nodes=200000")
    seat = Seat(opponent, strongest, number, input, print, save_game, ascii or speaks_ascii_only(), seed)
    played = play_human(seat, game.size if game else board, game.moves if game else ())
    if not (played and log):
        return ""
    agents = (None, opponent) if number == 1 else (opponent, None)
    game_id = append_game(Path(log), played, agents, seed)
    return f"Added to {log}: {shown_command('replay', log, game_id)}"


@command("rows")
def sql(query: str, *runs: Run) -> DataFrame:
    """Answer an SQL query over runs by DuckDB: views games, plays, plies, agents, labels; in Python as a frame.

    Examples:
        isolation sql 'SELECT agent, avg(won::int) AS share FROM plays GROUP BY agent' runs/first
        isolation sql 'SELECT ply, avg(nodes) FROM plies WHERE NOT is_opening GROUP BY ply' runs/first --format csv

    Raises:
        ValueError: DuckDB is not installed, there is no such run, or the query is wrong.
    """
    from knights_isolation.experiments.exchange.sql_views import query_runs

    table = query_runs(query, run_paths(runs))
    if COMMAND.get():  # exact values, which a frame may not keep
        return cast("DataFrame", Result(table, (Section("answer", "", tuple(table.to_pylist())),)))
    return cast("DataFrame", table.to_pandas())


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

    Raises:
        ValueError: there is no such run, or the file exists.
    """
    from knights_isolation.experiments.exchange.export_games import exported

    if to == "duckdb":
        from knights_isolation.experiments.exchange.sql_views import connect_runs

        if out is None:
            raise ValueError("--to duckdb needs --out FILE")
        connect_runs([run_path(run)], Path(out)).close()
        return Path(out)
    pieces = exported(run_path(run), to)
    if out is None and COMMAND.get():
        sys.stdout.writelines(pieces)
        return ""
    if out is None:
        return "".join(pieces)
    first = next(pieces, "")  # errors in the pieces occur before the file is created
    write_new(Path(out), chain([first], pieces))
    return Path(out)


@command()
def import_games(
    file: str | Path, out: Annotated[str | Path, About(place="option", suffixes=("",), is_folder=True)]
) -> Result[RunResults]:
    """Import games played elsewhere as a run; FILE is PGN.

    Args:
        out: directory of the run.

    Examples:
        isolation import games.pgn --out runs/imported
        isolation results runs/imported

    Raises:
        ValueError: the file cannot be read, or `out` exists.
    """
    from knights_isolation.experiments.exchange.import_games import import_pgn
    from knights_isolation.reports.text.cell_values import pluralise

    imported = import_pgn(Path(file), Path(out))
    for note in imported.notes:
        warnings.warn(note, stacklevel=3)
    text = f"{pluralise(imported.games, 'game')} in {out}: {shown_command('results', out)}"
    return replace(results(out), text=text)
