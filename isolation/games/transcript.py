"""Games as text: the board after a list of moves, and a game as the classic engines print it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..editions.classic_board import Board
from ..rules.geometry import parse_moves, words
from ..rules.sizes import USUAL_SIZE, SizeLike, size_of


def position_of(size: SizeLike | None = None, moves: str = "", fen: str | None = None) -> Board:
    """Return the board after `moves` on a board of a size, 7x7 by default, or that of a FEN.

    Moves are in the notation of `geometry.parse_moves`.

    >>> position_of(moves="d3,a2").history
    (24, 14)

    Raises:
        ValueError: a size or FEN is invalid, or a FEN was given with another; or a move is not a cell or illegal, and
            the message names cells as they were written.
    """
    if fen is not None:
        if moves:
            raise ValueError("--moves and --fen exclude each other: use one of them")
        if size:
            raise ValueError("a FEN contains its board: omit --board")
        return Board.from_fen(fen)
    size = size_of(size or USUAL_SIZE)
    cells = parse_moves(moves, size)
    written = {cell: word for cell, word in zip(cells, words(moves), strict=True) if not word.isdecimal()}
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
    history: Sequence[Any] = move_history
    is_flat = all(isinstance(cell, int) for move in history for cell in move)
    moves = history if is_flat else [move for turn in history for move in turn]
    text = []
    for ply, move in enumerate(move and (move[0], move[1]) for move in moves):
        text.append(f"{ply // 2}.{' ...' if ply % 2 else ''} {move}\r\n")
        if move is not None and game.move_is_legal(move):
            game.apply_move(move)
        text.append(game.print_board())
    return "".join([*text, f"{termination}\r\n", f"Winner: {winner}\r\n"])
