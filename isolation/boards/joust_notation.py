"""Joust notation: ranks count from 1 at the bottom, and moves may name the cell left behind, which is closed.

A jump is `d4c2` in most programs and `d4c2,c2d4` in Fairy-Stockfish; a placement is `N@d4`. The rank is the number of
rows minus the row of this toolkit's notation: on 7x7, `d3` here is `d4` in Joust notation, and `a2` is `a5`.
"""

from __future__ import annotations

import re
from typing import Literal

from ..rules.geometry import parse_square, square_name
from .board import Board

Convention = Literal["plain", "joust"]
_SQUARE = r"[a-z]+[1-9]\d*"
_MOVE = re.compile(rf"(?:N@({_SQUARE})|(N?)({_SQUARE})??({_SQUARE}))(?:,(\w*))?[+#!?]*", re.ASCII | re.IGNORECASE)


def write_move(board: Board, cell: int, convention: Convention = "plain") -> str:
    """Format a move of the player to move.

    >>> board = Board.from_moves([24, 14])
    >>> write_move(board, 37), write_move(board, 37, "joust"), write_move(Board(1, 2), 24)
    ('d4c2', 'd4c2,c2d4', 'N@d4')
    """
    target = square_name(cell, board.height, board.width)
    origin = board.locations[board.active_index]
    if origin is None:
        return f"N@{target}"
    source = square_name(origin, board.height, board.width)
    return f"{source}{target},{target}{source}" if convention == "joust" else f"{source}{target}"


def write_san(board: Board, cell: int) -> str:
    """Format a move of the player to move as in game collections: `Nc2,d4` moves to c2 and closes d4.

    >>> write_san(Board.from_moves([24, 14]), 37), write_san(Board(1, 2), 24)
    ('Nc2,d4', 'N@d4')
    """
    target = square_name(cell, board.height, board.width)
    origin = board.locations[board.active_index]
    return f"N@{target}" if origin is None else f"N{target},{square_name(origin, board.height, board.width)}"


def looks_like_move(text: str) -> bool:
    """Return whether a text has the form of a move, legal or not.

    >>> [looks_like_move(text) for text in ("d4c2", "N@a1", "c9", "(none)", "0000", "")]
    [True, True, True, False, False, False]
    """
    return _MOVE.fullmatch(text) is not None


def read_move(board: Board, text: str) -> int:
    """Return the target cell of a move, given in any of these forms or as the square alone.

    If the move names a closed cell, that is checked, too.

    >>> board = Board.from_moves([24, 14])
    >>> {read_move(board, text) for text in ("d4c2", "d4c2,c2d4", "Nc2,d4", "c2")}
    {37}

    Raises:
        ValueError: not a move, or an illegal one.
    """
    match = _MOVE.fullmatch(text.strip())
    if not match:
        example = write_move(board, next(iter(board.legal_cells()), 0))
        raise ValueError(f"{text[:40]!r} is not a move; expected one like {example}")
    placed, knight, source, target, closed = match.groups()
    cell = parse_square(placed or target, board.height, board.width)
    origin = board.locations[board.active_index]
    if placed and origin is not None:
        raise ValueError(f"{text[:40]} is a placement, but the knight is already on {_square(board, origin)}")
    if source and (origin is None or parse_square(source, board.height, board.width) != origin):
        where = "is not placed yet" if origin is None else f"stands on {_square(board, origin)}"
        raise ValueError(f"{text[:40]} leaves {source}, but the knight {where}")
    if closed is not None:
        _check_closed(board, text, closed.lower(), "" if knight or not source else target.lower())
    if cell not in board.legal_cells():
        raise ValueError(f"{text[:40]} is not legal in {board.fen}")
    return cell


def _check_closed(board: Board, text: str, closed: str, target: str) -> None:
    """Raise ValueError if a move closes any cell but the one it leaves; in `closed`, `target` precedes that cell."""
    origin = board.locations[board.active_index]
    if origin is None:
        raise ValueError(f"{text[:40]} closes a cell; a placement closes only its own")
    left = _square(board, origin)
    if closed != target + left:
        raise ValueError(
            f"{text[:40]} closes {closed or 'nothing'}; a move closes what it leaves, here ,{target}{left}"
        )


def _square(board: Board, cell: int) -> str:
    return square_name(cell, board.height, board.width)
