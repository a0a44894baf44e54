"""`isolation.Board`: the plain board with the classic engines' private state and game loop."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from ..boards.drawing import to_svg
from .classic_state import ClassicState
from .edition import GameHistory, TimeLeft, edition_of, read_move


class Board(ClassicState):
    """A board with the full API of the classic engines' boards, private attributes included.

    This is `isolation.Board`: the position and its methods are those of `isolation.boards.board.Board`.
    """

    BLANK = 0
    NOT_MOVED = None

    def play(self, time_limit: float | None = None) -> tuple[Any, GameHistory, str]:
        """Play the rest of the game between the two player objects.

        Args:
            time_limit: milliseconds a move; by default 200 if a player has the first edition's
                ``get_move(game, legal_moves, time_left)``, else 150.

        Returns:
            The winner, the moves, and the reason: "illegal move" (the normal end, and a first-edition bad move),
            "forfeit" (a bad move while legal moves remained) or "timeout" (which takes precedence). If a player is of
            the first edition, the moves are a list of [player 1's move, player 2's move] that includes the losing move;
            otherwise they are a list of [row, column].
        """
        edition = edition_of(*self.players)
        limit = edition.usual_limit if time_limit is None else time_limit
        first_mover = self.active_index
        moves: list[Any] = []
        while True:
            legal_moves = self.get_legal_moves()
            clock = _clock(limit)
            mover = self.active_player
            move = edition_of(mover).ask(mover, self.copy(), clock)
            late = edition_of(mover).is_late(move, clock)
            cell = read_move(move)
            if late or cell is None or cell not in legal_moves:
                break
            moves.append(cell)
            self.apply_move(cell)
        outcome = "timeout" if late else edition.bad_move if legal_moves else "illegal move"
        return self.inactive_player, edition.history(moves, move, first_mover), outcome

    def _repr_svg_(self) -> str:
        return to_svg(self)


Board._copies_fields = True


def _clock(milliseconds: float) -> TimeLeft:
    start = perf_counter()
    return lambda: milliseconds - 1000 * (perf_counter() - start)
