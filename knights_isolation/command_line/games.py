"""Commands to show, replay, select, play, export and import games."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any, Literal

import click

from knights_isolation.command_line.completion import complete_run, complete_spec
from knights_isolation.command_line.options import (
    PAGE,
    OutputPath,
    board_option,
    format_option,
    moves_option,
    no_open_option,
    position_asked_for,
    run_or_latest,
)
from knights_isolation.command_line.output import print_rows
from knights_isolation.experiments.play.pools.interrupts import until_interrupted
from knights_isolation.isolation.shell import command
from knights_isolation.reports.text.rendering import Format, terminal_width, without_room, wrapped

ITS_FEN = "its own"
"""Value of `show --fen` without a FEN."""
ascii_option = click.option("--ascii", "ascii_only", is_flag=True, help="Draw boards in plain ASCII.")


def speaks_ascii_only() -> bool:
    """Return whether the terminal cannot show the pieces."""
    try:
        "♘♞░·┼".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return True
    return False


@click.command("show")
@board_option
@moves_option
@ascii_option
@click.option(
    "--fen", is_flag=False, flag_value=ITS_FEN, metavar="[FEN]",
    help="Show this FEN instead; without a value, print the FEN of the position.",
)  # fmt: skip
@click.option("--svg", type=OutputPath(".svg"), help="Write the position as SVG.")
@click.option("--png", type=OutputPath(".png"), help="Write the position as PNG.")
def show_position(size: str, moves: str, ascii_only: bool, fen: str | None, svg: Path | None, png: Path | None) -> None:
    """Show a position, as text or as a picture."""
    from knights_isolation.isolation.boards.render import to_svg, to_text

    board = position_asked_for(moves, size, None if fen == ITS_FEN else fen)
    if fen == ITS_FEN:
        click.echo(board.fen)
        return
    if svg:
        svg.write_text(to_svg(board), encoding="utf-8")
    if png:
        from knights_isolation.reports.pages.board_images import write_png

        write_png(png, board)
    for written in filter(None, (svg, png)):
        click.echo(f"Wrote {written}")
    if not (svg or png):
        click.echo(to_text(board, ascii_only or speaks_ascii_only()))


@click.command("replay")
@click.argument("source", metavar="[[RUN] GAME_ID | FILE]", nargs=-1, shell_complete=complete_run)
@board_option
@moves_option
@ascii_option
@click.option("--gif", type=OutputPath(".gif"), help="Write the game as an animated GIF.")
@click.option("--pace", type=click.FloatRange(0.05, 60), default=1.0, show_default=True, help="GIF: seconds per ply.")
@click.option("--html", type=PAGE, help="Write the game as one self-contained page.")
@format_option
def replay_game(
    source: tuple[str, ...], size: str, moves: str, ascii_only: bool, gif: Path | None, pace: float, html: Path | None,
    output: Format,
) -> None:  # fmt: skip
    """Step through a game of a run, a saved game, or --moves; or write it as a GIF or a page."""
    from knights_isolation.experiments.record.run_directory import run_called
    from knights_isolation.reports.replay.replay import captions_of, describe_end, find_replay, ply_rows

    if len(source) == 1 and source[0].replace(",", "").isdecimal() and not Path(source[0]).exists():
        source = (str(run_or_latest(None)), *source)
    elif len(source) == 2:
        source = (str(run_called(source[0])), source[1])
    replay = find_replay(source, size, moves)
    if gif:
        from knights_isolation.reports.pages.board_images import write_gif

        write_gif(gif, replay.moves, replay.size, captions_of(replay), replay.agents, pace)
    if html:
        from knights_isolation.reports.replay.replay_page import replay_page

        html.write_text(replay_page(replay), encoding="utf-8")
    for written in filter(None, (gif, html)):
        click.echo(f"Wrote {written}")
    if gif or html:
        return
    if output == "table" and sys.stdin.isatty() and sys.stdout.isatty():
        from knights_isolation.reports.replay.replay_stepper import step_through

        step_through(replay, click.getchar, show_screen, ascii_only or speaks_ascii_only())
        return
    print_rows(ply_rows(replay), output, replay.title)
    if output == "table":
        click.echo(describe_end(replay))


def show_screen(text: str) -> None:
    """Show a text on a cleared screen."""
    click.clear()
    click.echo(text)


@click.command("games")
@click.argument("run", required=False, type=click.Path(path_type=Path), shell_complete=complete_run)
@click.option("--where", default="", help="A condition, as in \"won_by == 'Random' and plies > 30\".")
@click.option(
    "--show", "kind", type=click.Choice(["all", "longest", "shortest", "upsets", "forfeits"]), default="all",
    show_default=True, help="Kind of games; the most remarkable first.",
)  # fmt: skip
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Show at most this many games."
)
@format_option
def list_games(run: Path | None, where: str, kind: Any, limit: int, output: Format) -> None:
    """Select games of a run; `isolation replay RUN GAME_ID` shows one."""
    from knights_isolation import games
    from knights_isolation.experiments.record.run_directory import missing_sentence

    path = run_or_latest(run)
    found = games(path, where=where, kind=kind, limit=limit).sections[0]
    rows = list(found.rows)
    are_apart = output == "table" and kind == "forfeits" and "detail" in without_room(rows)
    visible_rows = [{key: row[key] for key in row if key != "detail"} for row in rows] if are_apart else rows
    print_rows(visible_rows, output, keep=("won_by",))
    if missing := missing_sentence(path):
        click.echo(wrapped(missing, terminal_width()), err=True)
    if output != "table":
        return
    for row in rows if are_apart else ():
        click.echo(wrapped(f"Game {row['game_id']}: {row['detail']}", terminal_width()))
    click.echo(found.title)
    if rows and "mistakes" not in rows[0]:
        advice = f"To see mistakes in won games, run {command('label', path)}."
        click.echo(wrapped(advice, terminal_width()))


@click.command("board")
@click.argument("run_paths", metavar="[RUN]...", nargs=-1, type=click.Path(path_type=Path), shell_complete=complete_run)
@click.option("--agent", "agents", multiple=True, metavar="SPEC", shell_complete=complete_spec,
              help="Add this agent, also from a file; may be repeated.")  # fmt: skip
@click.option("--file", "references", multiple=True, metavar="FILE[:FUNCTION]",
              help="Add a heuristic of your own; may be repeated.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to serve on; any free one by default.")
@no_open_option
def analysis_board(
    run_paths: tuple[Path, ...], agents: tuple[str, ...], references: tuple[str, ...], port: int, no_open: bool
) -> None:
    """Serve the analysis board to this machine's browser. Without a RUN, it offers those under runs/."""
    from knights_isolation.experiments.record.run_directory import HOME, check_run, run_called
    from knights_isolation.experiments.roster import parse_agent
    from knights_isolation.reports.board.resources import Resources
    from knights_isolation.reports.lab.server import serve

    own = {}
    if references:
        from knights_isolation.experiments.plan.catalogue import user_heuristics

        own = user_heuristics(references)
    runs = tuple(check_run(run_called(run)) for run in run_paths)
    offered = {agent.name: agent for agent in map(parse_agent, agents)}
    shelf = Resources(runs, own, offered, home=None if runs else HOME)
    with until_interrupted():
        serve(shelf, port, lambda address: click.echo(f"Board: {address} (Ctrl-C to stop)"), "/board", not no_open)


@click.command("lab")
@click.option("--runs", "home", type=click.Path(path_type=Path), help="Directory of the runs; runs/ by default.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to serve on; any free one by default.")
@no_open_option
@click.option("--no-browser", is_flag=True, hidden=True)  # the former name of --no-open
def open_lab(home: Path | None, port: int, no_open: bool, no_browser: bool) -> None:
    """Serve all runs, reports, heuristics and the board to this machine's browser.

    Runs appear while they are played. Heuristics are the shipped ones and those in files of the current directory.
    """
    from knights_isolation.experiments.record.run_directory import HOME
    from knights_isolation.reports.board.resources import Resources
    from knights_isolation.reports.lab.server import serve

    if home and not home.is_dir():
        raise ValueError(f"{home}: no such directory")
    shelf = Resources(home=home or HOME)
    with until_interrupted():
        serve(
            shelf,
            port,
            lambda address: click.echo(f"Lab: {address} (Ctrl-C to stop)"),
            "/",
            not (no_open or no_browser),
        )


@click.command("play")
@click.option("--against", default="ID:improved", show_default=True, metavar="SPEC", help="Agent to play against.",
              shell_complete=complete_spec)  # fmt: skip
@click.option("--side", type=click.Choice(["first", "second"]), default="first", show_default=True, help="Your side.")
@board_option
@click.option("--from", "saved", type=click.Path(path_type=Path), help="Continue a saved game.")
@click.option(
    "--log", "log_path", type=OutputPath(makes_folders=True), help="Add the finished game to this log of games."
)
@ascii_option
def play_agent(against: str, side: str, size: str, saved: Path | None, log_path: Path | None, ascii_only: bool) -> None:
    """Play against an agent in the terminal."""
    from knights_isolation.experiments.exchange.saved_games import append_game, load_game, save_game
    from knights_isolation.experiments.roster import parse_agent
    from knights_isolation.isolation.games.human import Seat, play_human

    opponent, seed = parse_agent(against), random.getrandbits(63)
    number: Literal[1, 2] = 1 if side == "first" else 2
    game = load_game(saved) if saved else None
    seat = Seat(
        opponent, parse_agent("ID:territory@nodes=200000"), number, ask_line, click.echo, save_game,
        ascii_only or speaks_ascii_only(), seed,
    )  # fmt: skip
    played = play_human(seat, game.size if game else size, game.moves if game else ())
    if played and log_path:
        agents = (None, opponent) if number == 1 else (opponent, None)
        game_id = append_game(log_path, played, agents, seed)
        click.echo(f"Added to {log_path}: {command('replay', log_path, game_id)}")


def ask_line(prompt: str) -> str:
    """Read a line of input; EOFError at its end."""
    return input(prompt)


@click.command("export")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--to", "kind", type=click.Choice(["pgn", "csv", "jsonl", "duckdb"]), required=True, help="Output format."
)
@click.option("--out", type=OutputPath(), help="Output file; must not exist yet.")
def export_games(run: Path, kind: Any, out: Path | None) -> None:
    """Export the games of a run: PGN, CSV, JSON lines, or a DuckDB database."""
    if out is None and kind == "duckdb":
        raise ValueError("--to duckdb needs --out FILE")
    if out is None:
        from knights_isolation.experiments.exchange.export_games import exported
        from knights_isolation.experiments.record.run_directory import run_called

        for piece in exported(run_called(run), kind):
            click.echo(piece, nl=False)
        return
    from knights_isolation import export

    click.echo(f"Wrote {export(run, kind, out)}")


@click.command("sql")
@click.argument("query")
@click.argument("runs", metavar="[RUN]...", nargs=-1, type=click.Path(path_type=Path), shell_complete=complete_run)
@format_option
def query_games(query: str, runs: tuple[Path, ...], output: Format) -> None:
    """Answer an SQL query over runs by DuckDB: views games, plays, plies, agents, labels."""
    from knights_isolation.experiments.exchange.sql_views import query_runs

    print_rows(query_runs(query, runs or (run_or_latest(None),)).to_pylist(), output)


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", type=OutputPath(makes_folders=True), required=True, help="Directory of the run.")
def import_games(file: Path, out: Path) -> None:
    """Import games played elsewhere as a run; FILE is PGN."""
    from knights_isolation.experiments.exchange.import_games import import_pgn
    from knights_isolation.reports.text.cell_values import pluralise

    imported = import_pgn(file, out)
    for note in imported.notes:
        click.echo(f"Note: {note}", err=True)
    click.echo(f"{pluralise(imported.games, 'game')} in {out}: {command('summary', out)}")


COMMANDS = (
    show_position,
    replay_game,
    list_games,
    analysis_board,
    open_lab,
    play_agent,
    export_games,
    query_games,
    import_games,
)
