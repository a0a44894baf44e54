"""Outcome of a game: winner and reason."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal


class Reason(IntEnum):
    """Reason why the loser lost. Compiled code and columns use the numbers; records and the log use the words."""

    NO_MOVES = 0
    """The loser had no legal move."""
    TIMEOUT = 1
    """Its move was late."""
    ILLEGAL_MOVE = 2
    """It played an illegal move."""
    ERROR = 3
    """It raised an exception, or its process died."""
    HANG = 4
    """It did not answer."""
    CRASH = 5
    """The engine could not be started, or it ended."""
    NONSENSE = 6
    """The engine's answer could not be parsed."""
    RESIGNED = 7
    """It named no move where every move loses, or a person gave up."""

    @property
    def word(self) -> str:
        """The reason's name in records and in the log.

        >>> Reason.NO_MOVES.word
        'no_moves'
        """
        return self.name.lower()

    @property
    def is_forfeit(self) -> bool:
        """Whether the loser failed, rather than lost on the board: resigning a lost game changes no result."""
        return self not in (Reason.NO_MOVES, Reason.RESIGNED)


REASON_WORDS = tuple(reason.word for reason in Reason)
"""The words of all reasons, indexed by `Reason`."""
ON_THE_BOARD = tuple(reason.word for reason in Reason if not reason.is_forfeit)
"""The words of the reasons that are no forfeits."""
PROCESS_DIED = "its process died"
"""First words of the details of games lost because the player's process ended or had to be ended."""
AT_LAST = "; at last: "
"""Separator in details between the failure of an engine and the last lines of the dialogue."""


@dataclass(frozen=True)
class Outcome:
    """Result of a game on the board: the winner (1 or 2) and a `Reason.word`."""

    winner: Literal[1, 2]
    reason: str
