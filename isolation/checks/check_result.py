"""Results of checks, and what the checks of players share."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..rules.edition import THIRD, TOO_LATE, describe_answer, make_player, names_no_move
from ..usercode.output_capture import WantsToEnd, prevent_exit
from ..usercode.timeouts import UserCodeTimeout, cpu_timeout
from ..usercode.user_exceptions import format_exception, origin

LONGEST_CHECK = 3.0
"""Seconds of CPU time after which a check ends with what it has seen."""
LONGEST_MOVE = 5.0
"""Timeout of making a player and of one answer, in seconds; see `cpu_timeout`."""


@dataclass(frozen=True)
class CheckResult:
    """Result of a check: its name, whether it passed, what was observed, and the first failing position.

    A note that is not `ok` is reported, but does not count as a failure.
    """

    check: str
    ok: bool
    seen: str
    is_note: bool = False
    fen: str = ""


def new_player(factory: Callable[[], Any], seat: int = 0) -> Any:
    """Return a new player object for a seat.

    Raises:
        Exception: any exception of the player's code, or a timeout.
    """
    with cpu_timeout(LONGEST_MOVE), prevent_exit():
        return make_player(factory, seat)


RESIGNED = "where every move loses: a resignation, which changes no result"
"""What it means that a player names no move in a lost position."""


def wrong_move(answer: object, method: object) -> str:
    """Describe an answer that is not a legal move; `method` gave it."""
    if answer is None:
        return "returns None (is the method still to be written?)"
    if answer is TOO_LATE:
        return f"puts no action on its queue within {THIRD.usual_limit:g} ms of CPU time"
    said = describe_answer(method, answer)
    return said.replace("played", "plays", 1) + (", as if it had no move," if names_no_move(answer) else "")


def is_number(value: object) -> bool:
    """Return whether a heuristic's value is a number other than NaN.

    Raises:
        Exception: it cannot become a float, as a search will find too: a whole number that is too large, or user code.
    """
    try:
        return not math.isnan(value)  # type: ignore[arg-type]
    except TypeError:
        return False


def explain(error: BaseException) -> str:
    """Describe the exception that ended a call."""
    if isinstance(error, NotImplementedError):
        return "raises NotImplementedError (still to be written)"
    if isinstance(error, UserCodeTimeout | WantsToEnd):
        return str(error)
    where = origin(error)
    return f"raises {format_exception(error)} ({where})" if where else f"raises {format_exception(error)}"
