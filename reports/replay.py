"""Lists of games, positions, and replays of a log or of moves, stepped through in the terminal or on a page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from markupsafe import Markup, escape

from knights_isolation.experiments.exact import labels
from knights_isolation.experiments.game_files import load_game
from knights_isolation.experiments.queries import Kind, find_games, read_game, with_mistakes
from knights_isolation.experiments.record.run_directory import missing_sentence
from knights_isolation.experiments.record.schema import read_facts
from knights_isolation.isolation.games.match import GameRecord
from knights_isolation.isolation.rules.classic_board import Board, position_of
from knights_isolation.isolation.rules.drawing import format_value, standing, to_text
from knights_isolation.isolation.rules.game import USUAL_SIZE, Reason, Size, SizeLike, parse_size
from knights_isolation.isolation.rules.geometry import cell_name, format_moves
from knights_isolation.isolation.suggestions import COMMAND, advice, command, tell

from .answers import Result, RunLike, run_path
from .pages.templates import page_with_script
from .text.cell_values import HeuristicValue, Identifier, Milliseconds
from .text.rendering import Section, render_rows, speaks_ascii_only, terminal_width, without_room, wrapped

if TYPE_CHECKING:
    from pandas import DataFrame

# description of how the loser lost, if it still had a move
_DID = {
    Reason.TIMEOUT.word: "exceeded its time",
    Reason.ILLEGAL_MOVE.word: "made an illegal move",
    Reason.ERROR.word: "raised an error",
    Reason.HANG.word: "did not answer",
    Reason.CRASH.word: "crashed",
    Reason.NONSENSE.word: "gave an invalid answer",
    Reason.RESIGNED.word: "resigned",
}


@dataclass(frozen=True)
class Replay:
    """A game as it was played, finished or not. Ply 1 is the first placement; `agents[0]` plays the odd plies.

    Attributes:
        title: source of the game.
        agents: the players' names.
        opening: number of plies played before the agents took over.
        winner: 1, 2, or None if the game is not over.
        reason: why it ended, as in the log; empty if it is not over.
        score, depth, nodes, time_us: search data of each ply's mover; score is NaN if the log has none.
        is_share: whether each player's scores are shares of simulations won, as for MCTS, instead of a heuristic's
            values.
        mistakes: plies that threw a won position away, if the game's positions have been labelled.
    """

    title: str
    size: Size
    moves: tuple[int, ...]
    agents: tuple[str, str] = ("Player 1", "Player 2")
    opening: int = 0
    winner: int | None = None
    reason: str = ""
    detail: str = ""
    score: tuple[float, ...] = ()
    depth: tuple[int, ...] = ()
    nodes: tuple[int, ...] = ()
    time_us: tuple[int, ...] = ()
    is_share: tuple[bool, bool] = (False, False)
    mistakes: tuple[int, ...] = ()

    def board(self, ply: int) -> Board:
        """Return the position after a number of plies."""
        return Board.from_moves(self.moves[:ply], self.size)


def replay_of_run(run: str | Path, game_id: int) -> Replay:
    """Read a game of a run; ValueError if there is no such run or game."""
    row = read_game(run, game_id)
    mistakes = tuple(ply + 1 for ply in labels.mistakes(run, game_id))
    return replay_of_row(f"{Path(run).name}, game {game_id}", row, mistakes)


def replay_of_row(title: str, row: Mapping[str, Any], mistakes: tuple[int, ...] = ()) -> Replay:
    """Read a game from its row of a log, or from the fields of a `GameRecord`.

    Raises:
        ValueError: the row's settings of a player are invalid.
    """
    settings = (row.get("settings_1", ""), row.get("settings_2", ""))
    columns: dict[str, Any] = {name: tuple(row[name]) for name in ("moves", "score", "depth", "nodes", "time_us")}
    columns["is_share"] = tuple(read_facts(text).method == "mcts" for text in settings)
    return Replay(
        title=title,
        size=parse_size(row["size"]) if "size" in row else Size(row["rows"], row["columns"]),
        agents=(row["agent_1"], row["agent_2"]),
        opening=len(row["opening"]),
        winner=row["winner"] or None,
        reason=row["reason"],
        detail=row["detail"],
        mistakes=mistakes,
        **columns,
    )


def replay_of_moves(moves: Sequence[int], size: SizeLike = USUAL_SIZE) -> Replay:
    """Make a replay of a game of which only the moves are known; ValueError if a move is illegal."""
    board = Board.from_moves(moves, size)
    outcome = board.outcome()
    return Replay(
        title="A game",
        size=Size(board.height, board.width),
        moves=tuple(moves),
        winner=outcome.winner if outcome else None,
        reason=outcome.reason if outcome else "",
    )


def describe_ply(replay: Replay, ply: int) -> str:
    """Describe the move of a ply, its player, and the search data.

    >>> describe_ply(replay_of_moves([24, 14]), 1)
    'ply 1: Player 1 placed d3'
    """
    if ply == 0:
        return f"{replay.agents[0]} against {replay.agents[1]} on {replay.size}"
    index = ply - 1
    phrases = [f"{replay.agents[index % 2]} {'placed' if ply <= 2 else 'played'} {_name_of_ply(replay, ply)}"]
    if ply <= replay.opening:
        phrases.append("of the opening")
    if index < len(replay.score) and not isnan(replay.score[index]):
        phrases.append(f"score {format_value(replay.score[index])}")
    if index < len(replay.depth) and replay.depth[index]:
        phrases += [f"depth {replay.depth[index]}", f"{replay.nodes[index]:,} nodes"]
    if index < len(replay.time_us) and replay.time_us[index]:
        phrases.append(f"{replay.time_us[index] / 1000:.3g} ms")
    if ply in replay.mistakes:
        phrases.append("mistake: gave the win away")
    return f"ply {ply}: " + ", ".join(phrases)


def _name_of_ply(replay: Replay, ply: int) -> str:
    return cell_name(replay.moves[ply - 1], replay.size.columns)


def describe_end(replay: Replay) -> str:
    """Describe how the game ended, or its current state."""
    if replay.winner is None:
        return standing(replay.board(len(replay.moves)))
    winner, loser = replay.agents[replay.winner - 1], replay.agents[2 - replay.winner]
    detail = f" ({replay.detail})" if replay.detail else ""
    return f"{winner} has won: {loser} {_DID.get(replay.reason, 'has no move')}{detail}."


def captions_of(replay: Replay) -> list[str]:
    """Return a line about each position, from the empty board to the last one, whose line is the result."""
    return [*(describe_ply(replay, ply) for ply in range(len(replay.moves))), describe_end(replay)]


def ply_rows(replay: Replay) -> list[dict[str, Any]]:
    """Return a row for every ply: player, move, search data of the log, and whether it was a mistake, if known."""
    return [
        {
            "ply": ply,
            "player": replay.agents[(ply - 1) % 2],
            "move": _name_of_ply(replay, ply),
            "score": HeuristicValue(score) if replay.score and not isnan(score := replay.score[ply - 1]) else None,
            "depth": (replay.depth[ply - 1] or None) if replay.depth else None,
            "nodes": (replay.nodes[ply - 1] or None) if replay.nodes else None,
            "ms": (Milliseconds(replay.time_us[ply - 1] / 1000) or None) if replay.time_us else None,
            **({"mistake": "mistake" if ply in replay.mistakes else ""} if replay.mistakes else {}),
        }
        for ply in range(1, len(replay.moves) + 1)
    ]


def as_json(replay: Replay) -> dict[str, Any]:
    """Return the game in the format of browser pages; scores that JSON cannot represent are "win", "loss" or null."""
    return {
        "title": replay.title,
        "size": str(replay.size),
        "moves": list(replay.moves),
        "agents": list(replay.agents),
        "opening": replay.opening,
        "winner": replay.winner,
        "end": describe_end(replay),
        "score": [json_score(score) for score in replay.score],
        "depth": list(replay.depth),
        "isShare": list(replay.is_share),
        "mistakes": list(replay.mistakes),
        "lines": [describe_ply(replay, ply) for ply in range(len(replay.moves) + 1)],
    }


def json_score(score: float) -> float | str | None:
    """Convert a score to JSON."""
    if isfinite(score):
        return score
    return None if isnan(score) else "win" if score > 0 else "loss"


def find_replay(source: Any, game_id: int | None, size: str, moves: str) -> Replay:
    """Find a game.

    Args:
        source: a run; a file of a saved game; a game that has been played; the cells played; or the number of a game
            of the latest run.
        game_id: which game of the run, by default the latest one.
        size: the board of `moves` and of cells.
        moves: the moves of the game, if nothing else is given.

    Raises:
        ValueError: there is no such game, or a move is illegal.
    """
    if moves and (source is not None or game_id is not None):
        raise ValueError("choose one source of the game: a run, a file or --moves")
    if isinstance(source, GameRecord):
        return replay_of_row("A game", vars(source))
    if isinstance(source, Sequence) and not isinstance(source, str):
        return replay_of_moves(source, size)
    number = source.replace(",", "") if isinstance(source, str) and game_id is None else ""
    if number.isdecimal() and not Path(source).exists():
        source, game_id = None, int(number)
    if game_id is not None:
        return replay_of_run(run_path(source), game_id)
    if source is not None:
        path = Path(source) if isinstance(source, str | Path) else run_path(source)
        if not path.is_dir():
            return replay_of_row(path.name, vars(load_game(path)))
        listing = advice(command("games", path), f"ki.games({str(path)!r})")
        raise ValueError(f"no game of {path} named: list them with {listing}")
    if not moves:
        raise ValueError("no game named: use isolation replay RUN GAME_ID, isolation replay FILE, or --moves d3,a2")
    return replay_of_moves(position_of(size, moves).history, size)


KEYS = "→ or Enter next, ← back, Home or f first, End or l last, q quit"

_FORWARD = ("\x1b[C", "\x1b[B", "\r", "\n", " ", "n")
_BACK = ("\x1b[D", "\x1b[A", "\x7f", "\b", "b", "p")
_FIRST = ("\x1b[H", "\x1b[1~", "\x1bOH", "f")
_LAST = ("\x1b[F", "\x1b[4~", "\x1bOF", "l")
_QUIT = ("q", "\x1b", "\x03", "\x04", "")


def next_ply(key: str, ply: int, last: int) -> int | None:
    """Return the ply after a key press: within 0 to `last`, or None to quit. Other keys change nothing."""
    after: dict[str, int | None] = dict.fromkeys(_QUIT)
    for keys, there in ((_FORWARD, min(ply + 1, last)), (_BACK, max(ply - 1, 0)), (_FIRST, 0), (_LAST, last)):
        after |= dict.fromkeys(keys, there)
    return after.get(key, ply)


def page(replay: Replay, ply: int, ascii_only: bool = False) -> str:
    """Return the position after some plies, with the last move and, at the end, how the game ended."""
    last = len(replay.moves)
    board = to_text(replay.board(ply), ascii_only)
    if ply == last:
        board = board.rpartition("\n")[0] + "\n" + describe_end(replay)
    return f"{replay.title}\n\n{board}\n{describe_ply(replay, ply)}  [{ply}/{last}]"


def step_through(replay: Replay, ascii_only: bool = False, read_key: Callable[[], str] = click.getchar) -> None:
    """Show positions on a cleared screen according to the keys pressed, until quit or the end of the input."""
    ply: int | None = 0
    while ply is not None:
        click.clear()
        click.echo(f"{page(replay, ply, ascii_only)}\n\n{KEYS}")
        try:
            ply = next_ply(read_key(), ply, len(replay.moves))
        except (EOFError, KeyboardInterrupt):
            return


BOARD_STATIC = Path(__file__).parent / "board" / "static"
_MODULES = ("game.js", "board.js", "chart.js", "replay.js")


def replay_page(replay: Replay) -> str:
    """Return the page: board, buttons, slider, move list, and the players' scores and depths if known."""
    return page_with_script(
        "replay.html",
        bundle(),
        title=f"{replay.agents[0]} – {replay.agents[1]}, {replay.title}",
        game_title=replay.title,
        size=replay.size,
        agents=replay.agents,
        plies=len(replay.moves),
        end=describe_end(replay),
        mistakes=replay.mistakes,
        facts=_facts(replay),
        game=Markup(embedded(as_json(replay))),
    )


def replay_frame(replay: Replay) -> str:
    """Return the page in a frame, for the cell of a notebook; its script sees nothing of the notebook."""
    page = escape(replay_page(replay))
    return f'<iframe srcdoc="{page}" sandbox="allow-scripts" style="width:100%;height:44em;border:0"></iframe>'


def bundle(modules: Sequence[str] = _MODULES) -> str:
    """Bundle the modules of a page into one script: pages opened from the disk cannot import others."""
    texts = [(BOARD_STATIC / name).read_text(encoding="utf-8") for name in modules]
    return "\n".join(re.sub(r"^(?:import .*\n|export )", "", text, flags=re.MULTILINE) for text in texts)


def embedded(value: object) -> str:
    """Encode a value as JSON that cannot end its script element."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")


def _facts(replay: Replay) -> list[tuple[str, str]]:
    facts = [
        ("Player 1", replay.agents[0]),
        ("Player 2", replay.agents[1]),
        ("Result", describe_end(replay)),
        ("Plies", str(len(replay.moves))),
        ("Moves", format_moves(replay.moves, replay.size.columns).replace(",", ", ")),
    ]
    return facts if not replay.opening else [*facts, ("Opening", f"{replay.opening} plies")]


def replayed(
    game: Replay, ascii_only: bool, gif: str | Path | None, pace: float, html: str | Path | None
) -> Result[Replay]:
    """Return a game to step through, or write it as a GIF of `pace` seconds per ply and as a page."""
    if gif:
        from .pages.board_images import write_gif

        write_gif(Path(gif), game.moves, game.size, captions_of(game), game.agents, pace)
    if html:
        Path(html).write_text(replay_page(game), encoding="utf-8")
    rows, end = tuple(ply_rows(game)), describe_end(game)
    written = [f"Wrote {file}" for file in (gif, html) if file]
    text = "\n".join(written or [render_rows(rows, "table", game.title), end])
    step = None if written else partial(step_through, game, ascii_only or speaks_ascii_only())
    section = Section("plies", game.title, rows, (end,))
    return Result(game, (section,), card=partial(replay_frame, game), text=text, step=step)


def games_found(run: RunLike | None, kind: Kind, where: str, limit: int | None) -> Result[DataFrame]:
    """Return the games of a kind that meet a condition, of which at most `limit` are shown; see `find_games`."""
    path, limit = run_path(run), limit or (20 if COMMAND.get() else None)
    found = find_games(path, kind, where)
    rows = with_mistakes(path, found[:limit], ("game_id", "agent_1", "agent_2", "won_by", "plies", "reason", "detail"))
    shown = tuple({**row, "game_id": Identifier(row["game_id"])} for row in rows)
    title = f"{len(rows):,} of {len(found):,} games." if len(found) else "No matching games."
    apart = ["detail"] if kind == "forfeits" and "detail" in without_room(shown) else []
    lines = [*(f"Game {row['game_id']}: {row['detail']}" for row in shown if apart), title]
    if rows and "mistakes" not in rows[0]:
        lines.append(f"To see mistakes in won games, run {command('perfect', 'label', path)}.")
    tell(wrapped(missing_sentence(path), terminal_width()))
    visible = [{key: row[key] for key in row if key not in apart} for row in shown]
    text = f"{render_rows(visible, 'table', keep=('won_by',))}\n" + wrapped("\n".join(lines), terminal_width())
    return Result(found, (Section("games", title, shown, keep=("won_by",)),), text=text)
