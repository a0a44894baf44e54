"""Import games and positions from pasted text (moves, FEN, JSON, CSV or PGN), and export a line of play."""

from __future__ import annotations

import csv
import io
import json
import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import fields
from io import BytesIO
from itertools import islice
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from knights_isolation.experiments.game_files import csv_head, export_row, facts_of, record_of, row_of
from knights_isolation.experiments.queries import read_game
from knights_isolation.experiments.record.log import SCHEMA
from knights_isolation.isolation.games.match import GameRecord
from knights_isolation.isolation.games.pgn import parse_pgn
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.game import MOST_COMPILED_CELLS, Size, parse_size
from knights_isolation.isolation.rules.geometry import format_moves, parse_moves, words

from ..pages.board_images import write_gif, write_png
from ..replay import Replay, as_json, captions_of, replay_of_row, replay_of_run, replay_page
from .handlers import number_of
from .resources import Cell, ExportQuestion, ImportQuestion, Position, Resources, as_position, board_of, parse, run_of

FORMS = "moves like d3,a2,c1, a FEN, a game in JSON, rows of a log in CSV or JSON, or games in PGN"
MOST_GAMES = 5000
"""Maximum number of games, which a page can list and a process can return."""
_TITLE = "An imported game"
_FEN = re.compile(r"[\dNn*/]+(\[[Nn]*\])?\s+[wb](\s.*)?", re.DOTALL)
_TAG = re.compile(r'\[\s*\w+\s+"')
_JOUST = re.compile(r"@|\bN[a-z]+\d|[a-z]\d+[a-z]+\d")
_CELL = re.compile(r"[a-zA-Z]{1,3}\d{1,5}|\d{1,5}")
_NUMBERING = re.compile(r"\b\d+\.+")
_ASIDE = re.compile(r"^%[^\n]*", re.MULTILINE)
"""Escape lines, which are skipped, among moves and in PGN."""


def _listed(value: Any) -> Any:
    """Split numbers separated by spaces, as in CSV."""
    return value.split() if isinstance(value, str) else value


def _scores(value: Any) -> Any:
    """Replace null, which JSON has for missing scores."""
    listed = _listed(value)
    return [float("nan") if value is None else value for value in listed] if isinstance(listed, list) else listed


Cells = Annotated[tuple[Cell, ...], BeforeValidator(_listed)]
Counts = Annotated[tuple[Annotated[int, Field(ge=0)], ...], BeforeValidator(_listed)]
Scores = Annotated[tuple[float, ...], BeforeValidator(_scores)]


class WrittenGame(BaseModel):
    """A game from a row of a log or from a saved game; only moves are required, and the board unless it is 7x7."""

    model_config = ConfigDict(extra="ignore")

    moves: Cells
    size: str = ""
    rows: int = 7
    columns: int = 7
    agent_1: str = "Player 1"
    agent_2: str = "Player 2"
    settings_1: str = ""
    settings_2: str = ""
    opening: Cells = ()
    winner: Annotated[int, Field(ge=0, le=2)] = 0
    reason: str = ""
    detail: str = ""
    score: Scores = ()
    depth: Counts = ()
    nodes: Counts = ()
    time_us: Counts = ()

    @field_validator("*", mode="before")
    @classmethod
    def _has_no_truth_values(cls, value: Any) -> Any:
        """Reject truth values, which Python would convert to 1 and 0."""
        if any(isinstance(element, bool) for element in (value if isinstance(value, list) else [value])):
            raise ValueError("true and false are not numbers")
        return value


def import_games(question: ImportQuestion, resources: Resources) -> dict[str, Any]:
    """Parse the games or the position in a text: each with its start, its moves, and any further data of a game.

    Raises:
        ValueError: the text is in none of the `FORMS`, or contains an invalid game.
    """
    text = question.text.strip().removeprefix("\ufeff")
    if not _ASIDE.sub("", text).strip():
        raise ValueError(f"empty text: expected {FORMS}")
    games = list(islice(_read(text, question.size), MOST_GAMES + 1))
    if len(games) > MOST_GAMES:
        raise ValueError(f"the text contains more than {MOST_GAMES:,} games: paste fewer")
    if not games:
        raise ValueError(f"no game in the text: expected {FORMS}")
    return {"games": games}


def _read(text: str, size: str) -> Iterator[dict[str, Any]]:
    if text.startswith(("{", "[{", "[[")) or re.match(r"\[\s*[\d\"{]", text):
        yield from map(_from_json, _json_values(text))
    elif _FEN.fullmatch(text):
        yield _position(Board.from_fen(text))
    elif "," in text and (rows := _csv_rows(text)):
        yield from (_game(_from_row(row)) for row in rows)
    else:
        yield from _from_notation(_ASIDE.sub("", text), size)


def _json_values(text: str) -> list[Any]:
    """Return the games of a JSON text: one, a list of them, or one per line; a list of cells is one game."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("the JSON does not contain a game") from None
    except ValueError:
        try:
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            raise ValueError(f"invalid JSON: {error}") from None
    is_list_of_games = isinstance(value, list) and all(
        isinstance(element, dict) and "moves" in element for element in value
    )
    return value if is_list_of_games else [value]


def _from_json(value: Any) -> dict[str, Any]:
    if isinstance(value, list) and all(isinstance(ply, dict) and "move" in ply for ply in value):
        value = [ply["move"] for ply in value]  # plies as listed by `isolation replay`
    if isinstance(value, list):
        return _from_moves(",".join(map(str, value)), "7x7")
    if not isinstance(value, dict):
        raise ValueError('a game in JSON looks like {"size": "7x7", "moves": [24, 14]}')
    if {"visited", "knights", "turn"} & set(value):
        return _position_from_json(value)
    return _game(_from_row(value))


def _position_from_json(value: dict[str, Any]) -> dict[str, Any]:
    position = parse(Position, json.dumps(value))
    board_of(position)
    return {**_position(board_of(position.model_copy(update={"moves": []}))), "moves": position.moves}


def _from_row(row: dict[str, Any]) -> Replay:
    game = parse(WrittenGame, row)
    columns = game.model_dump()
    if not game.size:
        del columns["size"]
    for name in ("score", "depth", "nodes", "time_us"):
        if len(columns[name]) not in (0, len(game.moves)):
            raise ValueError(f"{name}: {len(columns[name])} values for {len(game.moves)} moves")
    return replay_of_row(_TITLE, columns)


def _csv_rows(text: str) -> list[dict[str, Any]]:
    """Return the rows of a table that has a column of moves; empty for other texts."""
    try:
        lines = list(csv.reader(io.StringIO(text)))
    except csv.Error:
        return []
    if "moves" not in lines[0] and len(lines[0]) == len(SCHEMA.names):
        lines = [next(csv.reader([csv_head()])), *lines]
    if "moves" not in lines[0] or len(lines) < 2:
        return []
    return [dict(zip(lines[0], line, strict=False)) for line in lines[1:] if line]


def _from_notation(text: str, size: str) -> Iterator[dict[str, Any]]:
    """Yield the games of PGN, whose first may lack its tags, or the one of plain moves."""
    if _TAG.search(text) or _JOUST.search(text):
        tagged = text if _TAG.search(text) else f'[Board "{size}"] {text}'
        for game in parse_pgn(tagged, "the text"):
            yield _game(replay_of_row(game.tags.get("Event", _TITLE), vars(record_of(game))))
    else:
        yield _from_moves(_NUMBERING.sub(" ", text), size)


def _from_moves(text: str, size: str) -> dict[str, Any]:
    for word in words(text):
        if not _CELL.fullmatch(word):
            raise ValueError(f"cannot read {word[:40]!r}: expected {FORMS}")
    return _shown("Imported moves", size, parse_moves(text, parse_size(size)))


def _position(board: Board) -> dict[str, Any]:
    """Return a position; as moves from an empty board if its history is known."""
    shown = _shown("An imported position", board.size, board.history)
    return shown if board.history else {**shown, "setup": as_position(board)}


def _game(replay: Replay) -> dict[str, Any]:
    return {**_shown(replay.title, str(replay.size), replay.moves), "game": as_json(replay)}


def _shown(title: str, size: str, moves: Sequence[int]) -> dict[str, Any]:
    """Return moves from an empty board, or raise an error for a board that the page cannot show and illegal moves."""
    if len(moves) > MOST_COMPILED_CELLS:
        raise ValueError(f"too many moves ({len(moves):,}): boards here have at most {MOST_COMPILED_CELLS} cells")
    board_of(parse(Position, {"size": size, "moves": list(moves)}))
    setup = {"size": size, "visited": [], "knights": [None, None], "turn": 1}
    return {"title": title, "setup": setup, "moves": list(moves), "game": None}


_TYPES = {"png": "image/png", "gif": "image/gif", "html": "text/html"}
_ENDINGS = {"moves": "txt", "fen": "txt"}


def export_line(question: ExportQuestion, resources: Resources) -> dict[str, Any]:
    """Export a line in a format, as `text` or, for binary formats, as `base64`, with a file name and a type.

    Raises:
        ValueError: the position is illegal; or the format needs the whole game from its beginning, which is unknown; or
            a row of a log is requested and the game is not finished.
    """
    content = _content(question, resources)
    ending = _ENDINGS.get(question.kind, question.kind)
    kind = {"type": _TYPES.get(question.kind, "text/plain"), "name": f"isolation.{ending}"}
    if isinstance(content, bytes):
        return {**kind, "base64": b64encode(content).decode()}
    return {**kind, "text": content}


def _content(question: ExportQuestion, resources: Resources) -> str | bytes:
    file = BytesIO()
    match question.kind:
        case "fen":
            return board_of(question.position).fen
        case "moves":
            board = _from_the_beginning(question)
            return format_moves(board.history, board.width)
        case "html":
            return replay_page(_replay(question, resources))
        case "png":
            write_png(file, board_of(question.position))
            return file.getvalue()
        case "gif":
            replay = _replay(question, resources)
            write_gif(file, replay.moves, replay.size, captions_of(replay), replay.agents)
            return file.getvalue()
        case "json" if not _begins_empty(question):
            board_of(question.position)
            return question.position.model_dump_json()
    row = _row(question, resources)
    if question.kind == "pgn":
        return export_row(
            row, "pgn", run_of(resources, question.run).resolve().name if question.run else "Analysis board"
        )
    if question.kind == "json":  # a saved game for `isolation replay FILE`
        values = {field.name: row[field.name] for field in fields(GameRecord) if field.name != "size"}
        return json.dumps(facts_of(GameRecord(size=str(Size(row["rows"], row["columns"])), **values)))
    if not row["winner"]:
        raise ValueError("a log row needs a finished game: use JSON or PGN for this one")
    return csv_head() + export_row(row, "csv", "")


def _replay(question: ExportQuestion, resources: Resources) -> Replay:
    if _logged(question, resources):
        return replay_of_run(run_of(resources, question.run), number_of(question.game))
    return replay_of_row("A game on the analysis board", _row(question, resources))


def _row(question: ExportQuestion, resources: Resources) -> dict[str, Any]:
    """Return the line as a row of a log: the run's own row with all scores if it is that game, else a new one."""
    board = _from_the_beginning(question)
    if logged := _logged(question, resources):
        return logged
    outcome = board.outcome()
    end = (outcome.winner, outcome.reason) if outcome else (0, "")
    unknown: list[Any] = [(value,) * board.move_count for value in (float("nan"), 0, 0, 0, False)]
    record = GameRecord(board.size, (), *question.names, *end, "", board.history, *unknown)
    row: dict[str, Any] = row_of(record, 0, ['{"kind": "human"}'] * 2, 0).to_pylist()[0]
    return row


def _logged(question: ExportQuestion, resources: Resources) -> dict[str, Any] | None:
    if not question.run:
        return None
    row = read_game(run_of(resources, question.run), number_of(question.game))
    return row if row["moves"] == list(_from_the_beginning(question).history) else None


def _begins_empty(question: ExportQuestion) -> bool:
    start = question.position
    first, second = start.knights
    placed = {cell for cell in start.knights if cell is not None}
    in_order = first is not None or second is None
    return in_order and set(start.visited) <= placed and start.turn == 1 + len(placed) % 2


def _from_the_beginning(question: ExportQuestion) -> Board:
    if not _begins_empty(question):
        raise ValueError("this game starts from a set-up position: export it as FEN, JSON or PNG")
    start = question.position
    placed = [cell for cell in start.knights if cell is not None]
    board_of(start)
    return Board.from_moves([*placed, *start.moves], start.size)
