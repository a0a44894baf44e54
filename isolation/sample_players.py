"""The classic ``sample_players``: players and score functions that old scripts import.

All players work with both editions' engines: ``get_move`` takes the game and the edition's other arguments, of which
the last is the time left. `MinimaxPlayer` and `AlphaBetaPlayer` follow the second edition, `CustomPlayer` the first;
they are short and exact references, not fast. The score functions are also in `heuristics`, which this package does not
import.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .rules.classic_board import Board
    from .rules.geometry import Move

    Score = Callable[[Board, Any], float]

NO_MOVE = (-1, -1)
_INFINITY = float("inf")


class SearchTimeout(Exception):
    """Raised inside a search when the time left falls below the player's threshold."""


Timeout = SearchTimeout


def null_score(game: Board, player: Any) -> float:
    """Return 0 for an unfinished game."""
    return game.utility(player)


def open_move_score(game: Board, player: Any) -> float:
    """Return the player's number of moves."""
    return game.utility(player) or float(len(game.get_legal_moves(player)))


def improved_score(game: Board, player: Any) -> float:
    """Return the player's number of moves minus the opponent's."""
    opponent = game.get_opponent(player)
    return game.utility(player) or float(len(game.get_legal_moves(player)) - len(game.get_legal_moves(opponent)))


def center_score(game: Board, player: Any) -> float:
    """Return the squared distance of the player from the middle of the board."""
    if outcome := game.utility(player):
        return outcome
    location = game.get_player_location(player)
    if location is None:
        raise TypeError("center_score needs the player to be on the board")
    row, column = location
    return float((game.height / 2 - row) ** 2 + (game.width / 2 - column) ** 2)


class RandomPlayer:
    """Plays a random legal move."""

    def get_move(self, game: Board, *time: Any) -> Move:
        """Return a legal move drawn with `random`, or (-1, -1) if there is none."""
        return random.choice(game.get_legal_moves() or [NO_MOVE])


class GreedyPlayer:
    """Plays the move with the best score one ply ahead; among equals the lowest on the board, then the rightmost."""

    def __init__(self, score_fn: Score = open_move_score) -> None:
        self.score = score_fn

    def get_move(self, game: Board, *time: Any) -> Move:
        """Return the best move one ply ahead, or (-1, -1) if there is none."""
        scored = [(self.score(game.forecast_move(move), self), move) for move in game.get_legal_moves()]
        return max(scored, default=(0.0, NO_MOVE))[1]


class HumanPlayer:
    """Asks for moves at the terminal."""

    def get_move(self, game: Board, *time: Any) -> Move:
        """Return the legal move picked by its number, or (-1, -1) if there is none or the input ends."""
        moves = game.get_legal_moves()
        if not moves:
            return NO_MOVE
        print(game.to_string().replace("\r", ""))
        print("  ".join(f"[{number}] {move}" for number, move in enumerate(moves)))
        while True:
            try:
                choice = input(f"Your move, 0 to {len(moves) - 1}: ")
            except EOFError:
                return NO_MOVE
            if choice.strip().isdecimal() and int(choice) < len(moves):
                return moves[int(choice)]
            print(f"{choice!r} is not one of the numbers 0 to {len(moves) - 1}.")


class IsolationPlayer:
    """Base class of searching players, with depth, score function, and milliseconds to leave on the clock."""

    def __init__(self, search_depth: int = 3, score_fn: Score = improved_score, timeout: float = 10.0) -> None:
        self.search_depth = search_depth
        self.score = score_fn
        self.TIMER_THRESHOLD = timeout
        self.time_left: Callable[[], float] = lambda: _INFINITY

    def _alphabeta(
        self,
        game: Board,
        depth: int,
        alpha: float = -_INFINITY,
        beta: float = _INFINITY,
        maximizing_player: bool = True,
        *,
        prune: bool = True,
    ) -> tuple[float, Move]:
        if self.time_left() < self.TIMER_THRESHOLD:
            raise SearchTimeout
        moves = game.get_legal_moves()
        if depth == 0 or not moves:
            return (self.score(game, self) if moves else game.utility(self)), NO_MOVE
        best, best_move = (-_INFINITY if maximizing_player else _INFINITY), moves[0]
        for move in moves:
            after = game.forecast_move(move)
            value, _ = IsolationPlayer._alphabeta(
                self, after, depth - 1, alpha, beta, not maximizing_player, prune=prune
            )
            if value > best if maximizing_player else value < best:
                best, best_move = value, move
            if prune and (best >= beta if maximizing_player else best <= alpha):
                break
            if prune and maximizing_player:
                alpha = max(alpha, best)
            elif prune:
                beta = min(beta, best)
        return best, best_move

    def _minimax(self, game: Board, depth: int, maximizing_player: bool = True) -> tuple[float, Move]:
        return IsolationPlayer._alphabeta(self, game, depth, maximizing_player=maximizing_player, prune=False)


class _DeepeningPlayer(IsolationPlayer):
    """Searches to a fixed depth, or with iterative deepening until the time is up or the end of the game is reached."""

    iterative = False
    method = "_minimax"

    def get_move(self, game: Board, *time: Any) -> Move:
        """Return the move of the deepest search that finished in time, or the first legal move if none did."""
        self.time_left = time[-1]
        first, last = (1, len(game.get_blank_spaces())) if self.iterative else (self.search_depth, self.search_depth)
        move = next(iter(game.get_legal_moves()), NO_MOVE)
        try:
            for depth in range(first, last + 1):
                _, move = getattr(self, self.method)(game, depth)
        except SearchTimeout:
            pass
        return move


class MinimaxPlayer(_DeepeningPlayer):
    """Minimax to a fixed depth."""

    def minimax(self, game: Board, depth: int) -> Move:
        """Return the best move at a depth in plies."""
        return self._minimax(game, depth)[1]


class AlphaBetaPlayer(_DeepeningPlayer):
    """Alpha-beta with iterative deepening until the time is up or the end of the game is reached."""

    iterative = True
    method = "_alphabeta"

    def alphabeta(self, game: Board, depth: int, alpha: float = -_INFINITY, beta: float = _INFINITY) -> Move:
        """Return the best move at a depth in plies."""
        return self._alphabeta(game, depth, alpha, beta)[1]


class CustomPlayer(_DeepeningPlayer):
    """The first edition's player: minimax or alpha-beta, to a fixed depth or with iterative deepening."""

    minimax = IsolationPlayer._minimax
    alphabeta = IsolationPlayer._alphabeta

    def __init__(
        self,
        search_depth: int = 3,
        score_fn: Score = improved_score,
        iterative: bool = True,
        method: str = "minimax",
        timeout: float = 10.0,
    ) -> None:
        super().__init__(search_depth, score_fn, timeout)
        self.iterative = iterative
        self.method = method
