"""Validated requests of the analysis board."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from isolation.editions.classic_board import Board
from isolation.rules.geometry import MOST_COMPILED_CELLS, cells_of, full_mask, parse_size
from isolation.rules.notation import cell_name

DEEPEST = 10
Cell = Annotated[int, Field(ge=0, lt=MOST_COMPILED_CELLS)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Form = Literal["moves", "fen", "json", "csv", "pgn", "png", "gif", "html"]
Question = TypeVar("Question", bound=BaseModel)


class Position(BaseModel):
    """A position: cells that were visited and knights that stood somewhere at the start, and the moves since."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    size: Annotated[str, Field(max_length=10)]
    visited: Annotated[list[Cell], Field(max_length=MOST_COMPILED_CELLS)] = []
    knights: tuple[Cell | None, Cell | None] = (None, None)
    turn: Literal[1, 2] = 1
    moves: Annotated[list[Cell], Field(max_length=MOST_COMPILED_CELLS)] = []


class ValuesQuestion(BaseModel):
    """What is each legal move worth to some heuristics, looking so many plies ahead, the move itself included?"""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    position: Position
    heuristics: Annotated[list[Name], Field(min_length=1, max_length=40)]
    depth: Annotated[int, Field(ge=1, le=DEEPEST)] = 1


class GraphQuestion(BaseModel):
    """What is each position of the line worth to player 1?"""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    position: Position
    heuristic: Name
    depth: Annotated[int, Field(ge=1, le=DEEPEST)] = 1


class MoveQuestion(BaseModel):
    """What does an agent play?"""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    position: Position
    agent: Name


class SolveQuestion(BaseModel):
    """Who wins? `brief` asks for what is known soon."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    position: Position
    brief: bool = False


class GamesQuestion(BaseModel):
    """Which games has a run?"""

    model_config = ConfigDict(frozen=True)

    run: str
    kind: str = "all"
    agent: str = ""


class GameQuestion(BaseModel):
    """What happened in a game of a run?"""

    model_config = ConfigDict(frozen=True)

    run: str
    game: str


class ExploreQuestion(BaseModel):
    """How did the games of a run go on from a position?"""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    run: Annotated[str, Field(max_length=20)]
    position: Position


class ImportQuestion(BaseModel):
    """Which games, or which position, does a text hold? `size` is the board of bare moves."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    text: str
    size: Annotated[str, Field(max_length=10)] = "7x7"


class ExportQuestion(BaseModel):
    """What is a line of play, or its last position, in a form that others read?

    `run` and `game` name the game of a run that the line is, `names` the players of any other.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    position: Position
    kind: Form
    names: tuple[Name, Name] = ("Player 1", "Player 2")
    run: Annotated[str, Field(max_length=20)] = ""
    game: Annotated[str, Field(max_length=20)] = ""


def parse(question: type[Question], body: bytes) -> Question:
    """The question that a request's body asks.

    Raises:
        ValueError: the first thing that is wrong, in one line.
    """
    try:
        return question.model_validate_json(body)
    except ValidationError as error:
        raise ValueError(first_fault(error)) from None


def first_fault(error: ValidationError) -> str:
    """The first thing that is wrong, in one line."""
    first = error.errors(include_url=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    said = first["msg"].removeprefix("Value error, ")
    return f"{where}: {said}" if where else said


def boards_of(position: Position) -> list[Board]:
    """The positions of the line, from the start to the position itself.

    Raises:
        ValueError: a board too large, a cell that is not on it, two knights on one cell, or an illegal move.
    """
    board = _start(position)
    boards = [board.copy()]
    for ply, cell in enumerate(position.moves, start=1):
        try:
            board.play_cell(cell)
        except ValueError as error:
            raise ValueError(f"illegal move {ply} ({cell_name(cell, board.width)}): {error}") from None
        boards.append(board.copy())
    return boards


def board_of(position: Position) -> Board:
    """The position itself; see `boards_of`."""
    return boards_of(position)[-1]


def as_position(board: Board) -> dict[str, Any]:
    """A position without its history as a page holds it."""
    visited = list(cells_of(full_mask(board.height, board.width) & ~board.blank))
    return {"size": board.size, "visited": visited, "knights": list(board.locations), "turn": board.active_index + 1}


def _start(position: Position) -> Board:
    rows, columns = parse_size(position.size)
    if rows * columns > MOST_COMPILED_CELLS:
        raise ValueError(f"{position.size} has {rows * columns} cells: boards here have at most {MOST_COMPILED_CELLS}")
    first, second = position.knights
    placed = [cell for cell in position.knights if cell is not None]
    taken = {*position.visited, *placed}
    if any(cell >= rows * columns for cell in taken):
        raise ValueError(f"cell {max(taken)} is not on the {position.size} board")
    if first is not None and first == second:
        raise ValueError(f"both knights stand on {cell_name(first, columns)}")
    board = Board(1, 2, width=columns, height=rows)
    board.blank &= ~sum(1 << cell for cell in taken)
    board.locations = (first, second)
    board.active_index = position.turn - 1
    board.move_count = len(taken)
    return board
