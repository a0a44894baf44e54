"""The classic editions: how their players and sources are recognised, and players made, asked, judged and recorded."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from numbers import Real
from pathlib import Path
from queue import Empty
from typing import Any

from ..usercode.parsing import parse
from ..usercode.user_exceptions import format_exception, return_lines, safe_repr
from .board import Board
from .game import USUAL_SIZE, Size, TimeLeft
from .geometry import Move
from .parameters import arguments_of
from .third_edition import from_state_cell, state_of, take_turn

GameHistory = list[list[int]] | list[list[Move | None]]


@dataclass(frozen=True)
class Edition:
    """An edition of the classic engine, as its players see it.

    Attributes:
        asked_by: signature of the players' move method, as shown to the user.
        matches: returns whether a player or its class belongs to this edition.
        ask: asks a player for its move in a game; returns its answer unchecked.
        usual_limit, usual_size: milliseconds per move, and board size.
        bad_move: the reason for losing by a bad move while legal moves remain.
        is_late: returns whether the answer has just come too late.
        history: the moves of a game in this edition's format, from the moves played, the losing move, and the player
            who began (0 or 1); by default [row, column] for every move except the losing one.
    """

    name: str
    asked_by: str
    matches: Callable[[Any], bool]
    ask: Callable[[Any, Board, TimeLeft], Any]
    usual_limit: float = 150
    usual_size: Size = USUAL_SIZE
    bad_move: str = "forfeit"
    is_late: Callable[[Any, TimeLeft], bool] = lambda move, time_left: time_left() < 0
    history: Callable[[Sequence[Move], Any, int], GameHistory] = lambda moves, last, mover: list(map(list, moves))


TOO_LATE = object()
"""The answer of a third-edition player that has put no action on its queue in time."""


@dataclass(frozen=True, eq=False)
class NoMove:
    """The answer of a third-edition player that has put something other than an action; `repr` describes it."""

    action: Any

    def __repr__(self) -> str:
        return f"action {safe_repr(self.action)}"


def read_move(answer: Any) -> Move | None:
    """Return a player's answer as (row, column); None if it is not a tuple of two whole numbers.

    An answer may be any object: it is not compared before its type is known. NumPy's numbers are numbers.

    >>> read_move((2, 1.0)), read_move([2, 1]), read_move((2, "1"))
    ((2, 1), None, None)
    """
    if not issubclass(type(answer), tuple) or tuple.__len__(answer) != 2:
        return None
    row, column = map(_whole_number, tuple.__iter__(answer))
    return None if row is None or column is None else (row, column)


def _whole_number(value: Any) -> int | None:
    if issubclass(type(value), int):
        return int.__index__(value)
    if not issubclass(type(value), Real):
        return None
    number = float(value)
    return int(number) if number.is_integer() else None


def names_no_move(answer: Any) -> bool:
    """Return whether an answer is one by which players say that they have no move: None or (-1, -1)."""
    return answer is None or (type(answer) is NoMove and answer.action is None) or read_move(answer) == (-1, -1)


def describe_answer(method: Any, answer: Any) -> str:
    """Describe an answer that is not a legal move, and where the method that gave it returns."""
    pair = read_move(answer)
    if pair is not None or answer is None or type(answer) is NoMove:
        return f"played {safe_repr(pair or answer)}"
    lines = return_lines(method)
    return f"returned {safe_repr(answer)}, not a pair of numbers{f' ({lines})' if lines else ''}"


def has_get_action(player: Any) -> bool:
    """Return whether a player has the third edition's ``get_action(state)`` and no ``get_move``."""
    return callable(getattr(player, "get_action", None)) and not hasattr(player, "get_move")


def is_first_edition(player: Any) -> bool:
    """Return whether a player or its class has the first edition's ``get_move(game, legal_moves, time_left)``."""
    taken = arguments_of(getattr(player, "get_move", None))
    positional = [each for each in taken if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    required = [each for each in positional if each.default is each.empty]
    selves = isinstance(player, type) and not isinstance(inspect.getattr_static(player, "get_move", None), staticmethod)
    return len(required) == 3 + selves or any(each.name == "legal_moves" for each in positional)


def _turns(moves: Sequence[Move], last: Any, first_mover: int) -> GameHistory:
    """Return [player 1's move, player 2's move] for every turn, including the losing move."""
    plies: list[Any] = [None] * first_mover + [*moves, last]
    return [plies[ply : ply + 2] for ply in range(0, len(plies), 2)]


def _ask_for_action(player: Any, game: Board, time_left: TimeLeft) -> Any:
    """Return the move that a third-edition player puts in time, or `TOO_LATE` if there is none."""
    # This edition's games end one ply or more before a player here is without a move. In such a finished game the
    # player is not asked: the first action that leaves its opponent no move is played, else the first action.
    state = state_of(game)
    actions: Sequence[int] = state.actions()
    if state.terminal_test():
        action = max(actions, key=lambda action: not state.result(action).actions(), default=None)
    else:
        try:
            action = take_turn(player, state, time_left)
        except Empty:
            return TOO_LATE
    number = _whole_number(action)
    if number is None or number not in actions:
        return NoMove(action)
    cell = state.locs[state.player()] or 0
    return from_state_cell(cell + number, game.height, game.width)


FIRST = Edition(
    name="first",
    asked_by="get_move(self, game, legal_moves, time_left)",
    matches=is_first_edition,
    ask=lambda player, game, time_left: player.get_move(game, game.get_legal_moves(), time_left),
    usual_limit=200,
    bad_move="illegal move",
    history=_turns,
)
SECOND = Edition(
    name="second",
    asked_by="get_move(self, game, time_left)",
    matches=lambda player: not has_get_action(player),
    ask=lambda player, game, time_left: player.get_move(game, time_left),
)
THIRD = Edition(
    name="third",
    asked_by="get_action(self, state)",
    matches=has_get_action,
    ask=_ask_for_action,
    usual_size=Size(9, 11),
    is_late=lambda move, time_left: move is TOO_LATE,
)
EDITIONS = (FIRST, SECOND, THIRD)


def edition_of(*players: Any) -> Edition:
    """Return the edition of a player, its class, or a game between players: the earliest that any of them has."""
    return next(edition for edition in EDITIONS if any(map(edition.matches, players)))


def make_player(make: Callable[..., Any], seat: int) -> Any:
    """Create a player from its class or factory, which gets the seat (0 or 1) as ``player_id`` in the third edition."""
    return make(player_id=seat) if isinstance(make, type) and has_get_action(make) else make()


def seat(game: Board, player: Any) -> Board:
    """Return a copy of the game with this player object to move, for players that refer to themselves."""
    seated = game.copy()
    other = game.players[1 - game.active_index]
    seated.players = (other, player) if game.active_index else (player, other)
    return seated


_OF_THE_THIRD = {
    "isolation": {"Action", "DebugState", "Isolation", "Status", "StopSearch", "fork_get_action"},
    "sample_players": {"BasePlayer", "DataPlayer"},
}
"""By module, names that only the third edition has."""
_OF_BOARDS = {
    "BLANK", "NOT_MOVED", "active_player", "inactive_player", "apply_move", "copy", "forecast_move", "get_blank_spaces",
    "get_legal_moves", "get_opponent", "get_player_location", "hash", "is_loser", "is_winner", "move_is_legal", "play",
    "print_board", "to_string", "utility", "_Board__get_moves", "__get_moves", "__get_moves__",
}  # fmt: skip
"""Methods of the editions' boards; all others were added by students."""


def is_of_third_edition(source: str | bytes) -> bool:
    """Return whether a source was written for the third edition.

    Such a source imports names that only this edition has, has or calls a `get_action`, reads `state.locs` or
    `state.liberties`, or has a function of (state, player_id) that does not use methods that only boards have.
    """
    return any(map(_is_clue, _nodes_of(source)))


def _nodes_of(source: str | bytes) -> Iterator[ast.AST]:
    with suppress(SyntaxError, ValueError):  # reported when the file is loaded
        yield from ast.walk(parse(source))


def sample_players_for(source: str | bytes) -> str:
    """Return the module that a source imports as ``sample_players``; the third edition has its own."""
    module = "rules.third_sample_players" if is_of_third_edition(source) else "sample_players"
    return f"knights_isolation.isolation.{module}"


def _is_clue(node: ast.AST) -> bool:
    match node:
        case ast.ImportFrom(module=module, names=aliases):
            names = _OF_THE_THIRD.get((module or "").partition(".")[0], set())
            return any(alias.name in names for alias in aliases)
        case ast.FunctionDef(name="get_action") | ast.Attribute(attr="get_action"):
            return True
        case ast.Attribute(value=ast.Name(id="state"), attr="liberties" | "locs"):
            return True
        case ast.FunctionDef(args=ast.arguments(args=[ast.arg(arg="state"), ast.arg(arg="player_id"), *_])):
            attributes = [each for each in ast.walk(node) if isinstance(each, ast.Attribute)]
            read = {each.attr for each in attributes if isinstance(each.value, ast.Name) and each.value.id == "state"}
            return read.isdisjoint(_OF_BOARDS - {"utility"})  # states have it, too
    return False


def added_to_board(source: str | bytes) -> set[str]:
    """Return the methods of a class `Board` in a source that no edition's board has."""
    boards = [node for node in _nodes_of(source) if isinstance(node, ast.ClassDef) and node.name == "Board"]
    methods = {method.name for board in boards for method in board.body if isinstance(method, ast.FunctionDef)}
    return {name for name in methods - _OF_BOARDS if not (name.startswith("__") and name.endswith("__"))}


def namespace_of(module: str) -> str:
    """Return the namespace of a module made from a user's file or from one of its siblings: its first two names.

    >>> namespace_of("knights_isolation.user_1f.game_agent")
    'knights_isolation.user_1f'
    """
    return ".".join(module.split(".")[:2])


def added_method(module: str, name: str) -> Any:
    """Return a method of the `Board` beside a user's file that no edition's board has, or None if there is none.

    `module` is the name of one made from the file, or from one of its siblings. Raises AttributeError if the method
    exists, but its file cannot be loaded.
    """
    space = namespace_of(module)
    if not module.startswith("knights_isolation.user_") or space not in sys.modules:
        return None
    folder = Path(sys.modules[space].__path__[0])
    board_file = find_extended_board(folder)
    if board_file is None or name not in added_to_board(board_file.read_bytes()):
        return None
    parts = [part for part in board_file.relative_to(folder).with_suffix("").parts if part != "__init__"]
    try:
        return vars(import_module(".".join([space, *parts])).Board).get(name)
    except Exception as error:
        raise AttributeError(
            f"the board method {name} is defined in {board_file}, which {format_exception(error)}"
        ) from error


def find_extended_board(folder: Path) -> Path | None:
    """Return the file in a folder, at one of the classic engines' paths, whose `Board` has added methods; or None."""
    candidates = (folder / "isolation" / "isolation.py", folder / "isolation" / "__init__.py", folder / "isolation.py")
    return next((file for file in candidates if file.is_file() and added_to_board(file.read_bytes())), None)
