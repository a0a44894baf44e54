"""The game loop of the classic engines."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from isolation.editions.edition import GameHistory, TimeLeft, call_get_move, edition_of, read_move

if TYPE_CHECKING:
    from isolation.boards.board import Board


def play(game: Board, time_limit: float | None = None) -> tuple[Any, GameHistory, str]:
    """Play the rest of a game between its two player objects; see `Board.play`."""
    edition = edition_of(*game.players)
    limit = edition.usual_limit if time_limit is None else time_limit
    first_mover = game.active_index
    moves: list[Any] = []
    while True:
        legal_moves = game.get_legal_moves()
        clock = _clock(limit)
        mover = game.active_player
        move = call_get_move(mover, game.copy(), clock)
        late = edition_of(mover).is_late(move, clock)
        cell = read_move(move)
        if late or cell is None or cell not in legal_moves:
            break
        moves.append(cell)
        game.apply_move(cell)
    outcome = "timeout" if late else edition.bad_move if legal_moves else "illegal move"
    return game.inactive_player, edition.history(moves, move, first_mover), outcome


def _clock(milliseconds: float) -> TimeLeft:
    start = perf_counter()
    return lambda: milliseconds - 1000 * (perf_counter() - start)
