"""Games as text: the board after a list of moves, and a game as the classic engines print it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..editions.classic_board import Board
from ..rules.geometry import Move, parse_moves, words


def board_after(text: str, size: str = "7x7") -> Board:
    """Return the position after a list of moves in the notation of `geometry.parse_moves`.

    >>> board_after("d3,a2").history
    (24, 14)

    Raises:
        ValueError: not a cell, or an illegal move; the message names cells as they were written.
    """
    cells = parse_moves(text, size)
    written = {cell: word for cell, word in zip(cells, words(text), strict=True) if not word.isdecimal()}
    try:
        return Board.from_moves(cells, size)
    except ValueError as error:
        message = re.sub(r"cell (\d+)", lambda match: written.get(int(match[1]), match[0]), str(error))
        raise ValueError(message) from None


def game_as_text(
    winner: object, move_history: Sequence[object], termination: str = "", board: Board | None = None
) -> str:
    """Replay a game returned by `Board.play` move by move, as text.

    Args:
        winner: the winning player.
        move_history: the moves, in either edition's format.
        termination: the reason why the game ended.
        board: the start position, by default an empty 7x7 board. It is not changed.
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
    """Return the moves of either edition's history as a flat list."""
    is_flat = all(isinstance(cell, int) for move in history for cell in move)
    return [
        move and (move[0], move[1]) for move in (history if is_flat else [move for turn in history for move in turn])
    ]


def position_of(size: str | None = None, moves: str = "", fen: str | None = None) -> Board:
    """Return the board after `moves` on a board of a size, 7x7 by default, or that of a FEN.

    Raises:
        ValueError: one is invalid, or a FEN was given with another.
    """
    if fen is None:
        return board_after(moves, size or "7x7")
    if moves:
        raise ValueError("--moves and --fen exclude each other: use one of them")
    if size:
        raise ValueError("a FEN contains its board: omit --board")
    return Board.from_fen(fen)
