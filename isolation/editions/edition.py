"""The classic editions: how their players are recognised, made, asked, judged and recorded."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from queue import Empty
from typing import Any

from ..boards.board import Board
from ..rules.geometry import Move
from ..usercode.user_exceptions import return_lines, safe_repr
from .third.state import from_state_cell, state_of
from .third.timed_turn import take_turn

GameHistory = list[list[int]] | list[list[Move | None]]
TimeLeft = Callable[[], float]
"""Returns the milliseconds left for a player's move."""


@dataclass(frozen=True)
class Edition:
    """An edition of the classic engine, as its players see it.

    Attributes:
        name: "first", "second" or "third".
        asked_by: signature of the players' move method, as shown to the user.
        matches: returns whether a player or its class belongs to this edition.
        ask: asks a player for its move in a game; returns its answer unchecked.
        usual_limit: milliseconds per move.
        usual_size: board size, ROWSxCOLUMNS.
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
    usual_size: str = "7x7"
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
    get_move: Any = getattr(player, "get_move", None)
    try:
        parameters = inspect.signature(get_move).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = [
        parameter
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    required = [parameter for parameter in positional if parameter.default is parameter.empty]
    selves = isinstance(player, type) and not isinstance(inspect.getattr_static(player, "get_move"), staticmethod)
    return len(required) == 3 + selves or any(parameter.name == "legal_moves" for parameter in positional)


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
    usual_size="9x11",
    is_late=lambda move, time_left: move is TOO_LATE,
)
EDITIONS = (FIRST, SECOND, THIRD)


def edition_of(*players: Any) -> Edition:
    """Return the edition of a player, its class, or a game between players: the earliest that any of them has."""
    return next(edition for edition in EDITIONS if any(map(edition.matches, players)))


def make_player(make: Callable[..., Any], seat: int) -> Any:
    """Create a player for a seat (0 or 1) from its class or factory function.

    Classes of the third edition get the seat as ``player_id``; all others no arguments.
    """
    return make(player_id=seat) if isinstance(make, type) and has_get_action(make) else make()


def seat(game: Board, player: Any) -> Board:
    """Return a copy of the game with this player object to move, for players that refer to themselves."""
    seated = game.copy()
    other = game.players[1 - game.active_index]
    seated.players = (other, player) if game.active_index else (player, other)
    return seated
