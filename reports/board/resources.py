"""What the board's pages may ask for: validated requests, and the runs, heuristics and agents to choose from."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from knights_isolation import heuristics
from knights_isolation.experiments.record.run_directory import FACTS, runs_in
from knights_isolation.isolation.files.received import strange_entry
from knights_isolation.isolation.processes.child import from_bytes, one_line, to_bytes
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.game import MOST_COMPILED_CELLS, parse_size
from knights_isolation.isolation.rules.geometry import cell_name, cells_of, full_mask

if TYPE_CHECKING:
    from knights_isolation.isolation.search.agents import Agent

DEEPEST = 10
Cell = Annotated[int, Field(ge=0, lt=MOST_COMPILED_CELLS)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Form = Literal["moves", "fen", "json", "csv", "pgn", "png", "gif", "html"]
Model = TypeVar("Model", bound=BaseModel)


class StrictModel(BaseModel):
    """Body of a request, as JSON: unknown keys and values of another type are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class AddressModel(BaseModel):
    """Path and query of a request, whose values are texts."""

    model_config = ConfigDict(frozen=True)


class Position(StrictModel):
    """A position: visited cells and knights at the start, and the moves since."""

    size: Annotated[str, Field(max_length=10)]
    visited: Annotated[list[Cell], Field(max_length=MOST_COMPILED_CELLS)] = []
    knights: tuple[Cell | None, Cell | None] = (None, None)
    turn: Literal[1, 2] = 1
    moves: Annotated[list[Cell], Field(max_length=MOST_COMPILED_CELLS)] = []


class ValuesQuestion(StrictModel):
    """Request for the value of each legal move by some heuristics; `depth` counts plies including the move itself."""

    position: Position
    heuristics: Annotated[list[Name], Field(min_length=1, max_length=40)]
    depth: Annotated[int, Field(ge=1, le=DEEPEST)] = 1


class GraphQuestion(StrictModel):
    """Request for the value of each position of the line for player 1."""

    position: Position
    heuristic: Name
    depth: Annotated[int, Field(ge=1, le=DEEPEST)] = 1


class MoveQuestion(StrictModel):
    """Request for an agent's move; in a game against a person (`is_game`) the answer is the move alone."""

    position: Position
    agent: Name
    is_game: bool = False


class SolveQuestion(StrictModel):
    """Request for the winner; `brief` asks only for what is known soon.

    `is_game`: a person who has not asked for it plays against an agent, so the answer says nothing.
    """

    position: Position
    brief: bool = False
    is_game: bool = False


class GamesQuestion(AddressModel):
    """Request for the list of games of a run."""

    run: str
    kind: str = "all"
    agent: str = ""


class GameQuestion(AddressModel):
    """Request for the contents of a game of a run."""

    run: str
    game: str


class ExploreQuestion(StrictModel):
    """Request for the continuations from a position in the games of a run."""

    run: Name
    position: Position


class ImportQuestion(StrictModel):
    """Request to parse games or a position from a text; `size` is the board of moves without one."""

    text: str
    size: Annotated[str, Field(max_length=10)] = "7x7"


class ExportQuestion(StrictModel):
    """Request to export a line of play, or its last position.

    `run` and `game` identify the line's game in a run; `names` are the players of any other game.
    """

    position: Position
    kind: Form
    names: tuple[Name, Name] = ("Player 1", "Player 2")
    run: Annotated[str, Field(max_length=200)] = ""
    game: Annotated[str, Field(max_length=20)] = ""


def parse(model: type[Model], given: bytes | str | dict[str, Any]) -> Model:
    """Validate JSON, or values by name; the first thing that is invalid is a ValueError, in one line."""
    try:
        return model.model_validate(given) if isinstance(given, dict) else model.model_validate_json(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    said = first["msg"].removeprefix("Value error, ")
    raise ValueError(f"{where}: {said}" if where else said)


def boards_of(position: Position) -> list[Board]:
    """Return the positions of the line, from the start to the position itself.

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
    """Return the position itself; see `boards_of`."""
    return boards_of(position)[-1]


def as_position(board: Board) -> dict[str, Any]:
    """Return a position without its history, in the page's format."""
    visited = list(cells_of(full_mask(board.height, board.width) & ~board.blank))
    return {"size": board.size, "visited": visited, "knights": list(board.locations), "turn": board.active_index + 1}


def _start(position: Position) -> Board:
    size = parse_size(position.size)
    if size.cells > MOST_COMPILED_CELLS:
        raise ValueError(f"{position.size} has {size.cells} cells: boards here have at most {MOST_COMPILED_CELLS}")
    first, second = position.knights
    placed = [cell for cell in position.knights if cell is not None]
    taken = {*position.visited, *placed}
    if any(cell >= size.cells for cell in taken):
        raise ValueError(f"cell {max(taken)} is not on the {position.size} board")
    if first is not None and first == second:
        raise ValueError(f"both knights stand on {cell_name(first, size.columns)}")
    board = Board(1, 2, width=size.columns, height=size.rows)
    board.blank &= ~sum(1 << cell for cell in taken)
    board.locations = (first, second)
    board.active_index = position.turn - 1
    board.move_count = len(taken)
    return board


Heuristic = Callable[[Any, Any], float]


@dataclass(frozen=True)
class Resources:
    """Resources that the pages can choose from, by name.

    `runs` are offered besides those that are in the folder `home` at the time; `heuristics` and `agents` are those
    added to the toolkit's own.
    """

    runs: tuple[Path, ...] = ()
    heuristics: Mapping[str, Heuristic] = field(default_factory=dict)
    agents: Mapping[str, Agent] = field(default_factory=dict)
    home: Path | None = None

    def named_runs(self) -> dict[str, Path]:
        """Return the runs by name, the latest first; of runs with the same name, the second is called NAME~2.

        Those that contain links, pipes or devices are left out, as nothing in them may be opened; see `strange_runs`.
        """
        named: dict[str, Path] = {}
        for run in sorted((run for run, entry in self._found().items() if not entry), key=_begun, reverse=True):
            name = run.resolve().name
            numbered = (f"{name}~{number}" for number in count(2))
            named[next(key for key in chain([name], numbered) if key not in named)] = run
        return named

    def strange_runs(self) -> dict[Path, str]:
        """Return the runs that may not be opened, each with the entry that is a link, a pipe or a device."""
        return {run: entry for run, entry in self._found().items() if entry}

    def _found(self) -> dict[Path, str]:
        found = {run: strange_entry(run) for run in self.runs}
        for run in runs_in(self.home) if self.home else ():
            found[run] = run.name if run != self.home and run.is_symlink() else strange_entry(run)
        return found

    def heuristic(self, name: str) -> Heuristic:
        """Return a heuristic that was added, or one of the registry; the ValueError for an unknown one lists all."""
        known = [*heuristics.names(), *self.heuristics]
        if name not in known:
            raise ValueError(f"no heuristic {name!r}; choose one of {', '.join(known)}")
        return self.heuristics[name] if name in self.heuristics else heuristics.get(name)


def packed(resources: Resources) -> Resources:
    """Return the resources for another process: added objects are pickled, and restored there on demand.

    Raises:
        ValueError: an added object depends on this process, for example through an open file.
    """
    added = _Packed(_bytes_of(resources.heuristics)), _Packed(_bytes_of(resources.agents))
    return Resources(resources.runs, *added, home=resources.home)


class _Packed(UserDict[str, Any]):
    """Values by name, each restored on demand: one whose file has changed does not block the others."""

    def __getitem__(self, name: str) -> Any:
        value = self.data[name]
        if isinstance(value, bytes):
            try:
                value = self.data[name] = from_bytes(value)
            except Exception as error:
                raise ValueError(f"{name}: {one_line(error)}; restart the board to use it") from None
        return value


def _bytes_of(values: Mapping[str, object]) -> dict[str, bytes]:
    data = {}
    for name, value in values.items():
        try:
            data[name] = to_bytes(value)
        except Exception as error:
            raise ValueError(
                f"the board cannot use {name}, because it cannot run in another process: {one_line(error)}"
            ) from None
    return data


def run_of(resources: Resources, name: str) -> Path:
    """Return the run with a requested name; raise ValueError if there is none."""
    runs = resources.named_runs()
    if name not in runs:
        raise ValueError(f"no run {name!r} among the {len(runs)} here")
    return runs[name]


def _begun(run: Path) -> float:
    """Return when a run was planned, in seconds; a run that has not begun is the latest."""
    try:
        return (run / FACTS).stat().st_mtime
    except OSError:
        return float("inf")
