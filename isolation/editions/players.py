"""Players of the classic editions: which one a player was written for, and how it is seated, asked and recorded."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isolation.geometry import Move

if TYPE_CHECKING:
    from isolation.board import Board

GameHistory = list[list[int]] | list[list[Move | None]]
TimeLeft = Callable[[], float]
"""The milliseconds a player has left for its move."""


@dataclass(frozen=True)
class Edition:
    """One edition of the classic engine, as far as its players notice.

    Attributes:
        name: "first" or "second".
        usual_limit: milliseconds a move.
        bad_move: how a game ends in which a player gives a bad move though it has good ones.
        matches: whether a player, or the class of one, belongs to this edition.
        ask: asks a player for its move in a game; whatever it returns is returned, unchecked.
        history: the moves of a game as this edition returns them: from the moves played, the one that lost, and which
            player, 0 or 1, began.
    """

    name: str
    usual_limit: float
    bad_move: str
    matches: Callable[[Any], bool]
    ask: Callable[[Any, Board, TimeLeft], Any]
    history: Callable[[Sequence[Move], Any, int], GameHistory]


def takes_legal_moves(player: Any) -> bool:
    """Whether a player, or the class of one, has the first edition's ``get_move(game, legal_moves, time_left)``."""
    get_move: Any = getattr(player, "get_move", None)
    try:
        parameters = inspect.signature(get_move).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    required = [one for one in positional if one.default is one.empty]
    selves = isinstance(player, type) and not isinstance(inspect.getattr_static(player, "get_move"), staticmethod)
    return len(required) == 3 + selves or any(one.name == "legal_moves" for one in positional)


def _turns(moves: Sequence[Move], last: Any, first_mover: int) -> GameHistory:
    """[player 1's move, player 2's move] for every turn, the losing move included."""
    plies: list[Any] = [None] * first_mover + [*moves, last]
    return [plies[ply : ply + 2] for ply in range(0, len(plies), 2)]


def _rows_and_columns(moves: Sequence[Move], last: Any, first_mover: int) -> GameHistory:
    """[row, column] for every move but the losing one."""
    return [list(move) for move in moves]


FIRST = Edition(
    name="first",
    usual_limit=200,
    bad_move="illegal move",
    matches=takes_legal_moves,
    ask=lambda player, game, time_left: player.get_move(game, game.get_legal_moves(), time_left),
    history=_turns,
)
SECOND = Edition(
    name="second",
    usual_limit=150,
    bad_move="forfeit",
    matches=lambda player: True,
    ask=lambda player, game, time_left: player.get_move(game, time_left),
    history=_rows_and_columns,
)
EDITIONS = (FIRST, SECOND)


def edition_of(*players: Any) -> Edition:
    """The edition of a player or its class, or of a game between players: the earliest that one of them belongs to."""
    return next(edition for edition in EDITIONS if any(map(edition.matches, players)))


def call_get_move(player: Any, game: Board, time_left: TimeLeft) -> Any:
    """Ask a player of any edition for its move; whatever it returns is returned, unchecked."""
    return edition_of(player).ask(player, game, time_left)


def seat(game: Board, player: Any) -> Board:
    """A copy of the game in which the side to move is this player object, for players that ask about themselves."""
    seated = game.copy()
    other = game.players[1 - game.active_index]
    seated.players = (other, player) if game.active_index else (player, other)
    return seated
