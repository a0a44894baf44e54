"""Games as text: the board after a list of moves, and a game as the classic engines print it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from isolation.editions.classic_board import Board
from isolation.rules.geometry import Move
from isolation.rules.notation import parse_moves, words


def board_after(text: str, size: str = "7x7") -> Board:
    """The position after a list of moves as `notation.parse_moves` reads them.

    >>> board_after("d3,a2").history
    (24, 14)

    Raises:
        ValueError: a word is no cell, or a move is illegal; the message names cells as they were written.
    """
    cells = parse_moves(text, size)
    written = {cell: word for cell, word in zip(cells, words(text), strict=True) if not word.isdecimal()}
    try:
        return Board.from_moves(cells, size)
    except ValueError as error:
        message = re.sub(r"cell (\d+)", lambda match: written.get(int(match[1]), match[0]), str(error))
        raise ValueError(message) from None


def game_as_text(winner: Any, move_history: Sequence[Any], termination: str = "", board: Board | None = None) -> str:
    """A game, as `Board.play` returned it, replayed move by move in text.

    Args:
        winner: the winning player.
        move_history: the moves, in either edition's form.
        termination: why the game ended.
        board: where the game began; an empty 7x7 board by default. It is left as it is.
    """
    game = Board(1, 2) if board is None else board.copy()
    text = []
    for ply, move in enumerate(_flat_history(move_history)):
        text.append(f"{ply // 2}.{' ...' if ply % 2 else ''} {move}\r\n")
        if move is not None and game.move_is_legal(move):
            game.apply_move(move)
        text.append(game.print_board())
    return "".join([*text, f"{termination}\r\n", f"Winner: {winner}\r\n"])


def _flat_history(history: Sequence[Any]) -> list[Move | None]:
    """The moves of either edition's history, one after another."""
    is_flat = all(isinstance(cell, int) for move in history for cell in move)
    return [
        move and (move[0], move[1]) for move in (history if is_flat else [move for turn in history for move in turn])
    ]
