"""Step through a game in the terminal."""

from __future__ import annotations

from collections.abc import Callable

import click

from knights_isolation.isolation.boards.drawing import to_text

from .replay import Replay, describe_end, describe_ply

KEYS = "→ or Enter next, ← back, Home or f first, End or l last, q quit"

_FORWARD = ("\x1b[C", "\x1b[B", "\r", "\n", " ", "n")
_BACK = ("\x1b[D", "\x1b[A", "\x7f", "\b", "b", "p")
_FIRST = ("\x1b[H", "\x1b[1~", "\x1bOH", "f")
_LAST = ("\x1b[F", "\x1b[4~", "\x1bOF", "l")
_QUIT = ("q", "\x1b", "\x03", "\x04", "")


def next_ply(key: str, ply: int, last: int) -> int | None:
    """Return the ply after a key press: within 0 to `last`, or None to quit. Other keys change nothing."""
    if key in _QUIT:
        return None
    if key in _FORWARD:
        return min(ply + 1, last)
    if key in _BACK:
        return max(ply - 1, 0)
    if key in _FIRST:
        return 0
    return last if key in _LAST else ply


def page(replay: Replay, ply: int, ascii_only: bool = False) -> str:
    """Return the position after some plies, with the last move and, at the end, how the game ended."""
    last = len(replay.moves)
    board = to_text(replay.board(ply), ascii_only)
    if ply == last:
        board = board.rpartition("\n")[0] + "\n" + describe_end(replay)
    return f"{replay.title}\n\n{board}\n{describe_ply(replay, ply)}  [{ply}/{last}]"


def step_through(replay: Replay, ascii_only: bool = False, read_key: Callable[[], str] = click.getchar) -> None:
    """Show positions on a cleared screen according to the keys pressed, until quit or the end of the input."""
    ply: int | None = 0
    while ply is not None:
        click.clear()
        click.echo(f"{page(replay, ply, ascii_only)}\n\n{KEYS}")
        try:
            ply = next_ply(read_key(), ply, len(replay.moves))
        except (EOFError, KeyboardInterrupt):
            return
