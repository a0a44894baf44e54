"""Export a line of play or its last position."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import fields
from io import BytesIO
from typing import Any

from knights_isolation.experiments.exchange.export_games import csv_head, export_row
from knights_isolation.experiments.exchange.find_games import read_game
from knights_isolation.experiments.exchange.saved_games import facts_of, row_of
from knights_isolation.isolation.editions.classic_board import Board
from knights_isolation.isolation.games.match import GameRecord
from knights_isolation.isolation.rules.geometry import format_size
from knights_isolation.isolation.rules.notation import format_moves

from ..pages.board_images import write_gif, write_png
from ..replay.replay import Replay, captions_of, replay_of_row, replay_of_run
from ..replay.replay_page import replay_page
from .request_models import ExportQuestion, board_of
from .resources import Resources, number_of, run_of

TYPES = {"png": "image/png", "gif": "image/gif", "html": "text/html"}
_PLAIN = "text/plain"
_PEOPLE = ('{"kind": "human"}', '{"kind": "human"}')


def export_line(question: ExportQuestion, shelf: Resources) -> dict[str, Any]:
    """Export a line in a format, as `text` or, for binary formats, as `base64`, with a file name and a type.

    Raises:
        ValueError: the position is illegal; or the format needs the whole game from its beginning, which is unknown; or
            a row of a log is requested and the game is not finished.
    """
    content = _FORMS[question.kind](question, shelf)
    kind = {"type": TYPES.get(question.kind, _PLAIN), "name": f"isolation.{_ENDINGS.get(question.kind, question.kind)}"}
    if isinstance(content, bytes):
        return {**kind, "base64": b64encode(content).decode()}
    return {**kind, "text": content}


def _moves(question: ExportQuestion, shelf: Resources) -> str:
    board = _from_the_beginning(question)
    return format_moves(board.history, board.width)


def _json(question: ExportQuestion, shelf: Resources) -> str:
    """Return a saved game for `isolation replay FILE`; a game with another start has its start and its moves."""
    if not _begins_empty(question):
        board_of(question.position)
        return question.position.model_dump_json()
    row = _row(question, shelf)
    values = {field.name: row[field.name] for field in fields(GameRecord) if field.name != "size"}
    return json.dumps(facts_of(GameRecord(size=format_size(row["rows"], row["columns"]), **values)))


def _csv(question: ExportQuestion, shelf: Resources) -> str:
    row = _row(question, shelf)
    if not row["winner"]:
        raise ValueError("a log row needs a finished game: use JSON or PGN for this one")
    return csv_head() + export_row(row, "csv", "")


def _pgn(question: ExportQuestion, shelf: Resources) -> str:
    run = run_of(shelf, question.run).resolve().name if question.run else "Analysis board"
    return export_row(_row(question, shelf), "pgn", run)


def _png(question: ExportQuestion, shelf: Resources) -> bytes:
    file = BytesIO()
    write_png(file, board_of(question.position))
    return file.getvalue()


def _gif(question: ExportQuestion, shelf: Resources) -> bytes:
    file, replay = BytesIO(), _replay(question, shelf)
    write_gif(file, replay.moves, replay.size, captions_of(replay), replay.agents)
    return file.getvalue()


_FORMS: dict[str, Callable[[ExportQuestion, Resources], str | bytes]] = {
    "moves": _moves,
    "fen": lambda question, shelf: board_of(question.position).fen,
    "json": _json,
    "csv": _csv,
    "pgn": _pgn,
    "png": _png,
    "gif": _gif,
    "html": lambda question, shelf: replay_page(_replay(question, shelf)),
}
_ENDINGS = {"moves": "txt", "fen": "txt"}


def _replay(question: ExportQuestion, shelf: Resources) -> Replay:
    if _logged(question, shelf):
        return replay_of_run(run_of(shelf, question.run), number_of(question.game))
    return replay_of_row("A game on the analysis board", _row(question, shelf))


def _row(question: ExportQuestion, shelf: Resources) -> dict[str, Any]:
    """Return the line as a row of a log: the run's own row with all scores if it is that game, else a new one."""
    board = _from_the_beginning(question)
    if logged := _logged(question, shelf):
        return logged
    plies, outcome = board.move_count, board.outcome()
    record = GameRecord(
        size=board.size,
        opening=(),
        agent_1=question.names[0],
        agent_2=question.names[1],
        winner=outcome.winner if outcome else 0,
        reason=outcome.reason if outcome else "",
        detail="",
        moves=board.history,
        score=(float("nan"),) * plies,
        depth=(0,) * plies,
        nodes=(0,) * plies,
        time_us=(0,) * plies,
        exact=(False,) * plies,
    )
    row: dict[str, Any] = row_of(record, 0, _PEOPLE, 0).to_pylist()[0]
    return row


def _logged(question: ExportQuestion, shelf: Resources) -> dict[str, Any] | None:
    """Return the row of the run's game, if the line is that game."""
    if not question.run:
        return None
    row = read_game(run_of(shelf, question.run), number_of(question.game))
    return row if row["moves"] == list(_from_the_beginning(question).history) else None


def _begins_empty(question: ExportQuestion) -> bool:
    """Return whether the line can be written as moves from an empty board."""
    start = question.position
    first, second = start.knights
    placed = {cell for cell in start.knights if cell is not None}
    in_order = first is not None or second is None
    return in_order and set(start.visited) <= placed and start.turn == 1 + len(placed) % 2


def _from_the_beginning(question: ExportQuestion) -> Board:
    """Return the line as moves from an empty board."""
    if not _begins_empty(question):
        raise ValueError("this game starts from a set-up position: export it as FEN, JSON or PNG")
    start = question.position
    placed = [cell for cell in start.knights if cell is not None]
    board_of(start)
    return Board.from_moves([*placed, *start.moves], start.size)
