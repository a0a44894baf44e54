"""Outcome of a game: winner and reason."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal


class Reason(IntEnum):
    """What the loser did. Compiled code and columns hold the numbers, records and the log the words."""

    NO_MOVES = 0
    """It had no move left."""
    TIMEOUT = 1
    """It was late."""
    ILLEGAL_MOVE = 2
    """It played what is no legal move."""
    ERROR = 3
    """It raised an exception, or its process died."""
    HANG = 4
    """It never answered."""
    CRASH = 5
    """Its program, an engine, could not be started or ended."""
    NONSENSE = 6
    """Its program, an engine, answered what means nothing."""

    @property
    def word(self) -> str:
        """The reason as records and the log have it.

        >>> Reason.NO_MOVES.word
        'no_moves'
        """
        return self.name.lower()


REASON_WORDS = tuple(reason.word for reason in Reason)
"""The words of all reasons; a reason is the place of its word."""
PROCESS_DIED = "its process died"
"""How the details of games begin that were lost by ending the process they were played in, or by having it ended."""
AT_LAST = "; at last: "
"""What stands in details between what an engine did and the last lines of the dialogue with it."""


@dataclass(frozen=True)
class Outcome:
    """How a game ended on the board: the winner, 1 or 2, and the word of a `Reason`."""

    winner: Literal[1, 2]
    reason: str
