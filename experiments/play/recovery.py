"""What is to be done when workers die: events in, instructions out. It starts nothing and waits for nothing.

A game that was on when its worker died is played again alone, and interpreted, as compiled code may be what died: if
that goes well, or its worker was merely ended from outside, nothing has happened. A game that goes on killing is lost
by the player who was to move. Games that were only in the way are played again with all others.
"""

from __future__ import annotations

from dataclasses import dataclass

from experiments.play.crash import Suspect
from experiments.play.pool import Died

DEATHS_ALLOWED = 3
"""A game that kills its worker so many times is lost by `error`; so many deaths in a row without a game end the run."""


@dataclass(frozen=True)
class GiveBack:
    """Play these games again, with all others."""

    ids: tuple[int, ...]


@dataclass(frozen=True)
class PlayAlone:
    """Play a game again by itself, interpreted; its worker has died so many times."""

    suspect: Suspect
    deaths: int


@dataclass(frozen=True)
class Lose:
    """Record a game as lost by the suspect's mover: its worker has died too often."""

    suspect: Suspect
    deaths: int


@dataclass(frozen=True)
class EndRun:
    """Go on no further; `why` is for people."""

    why: str


Instruction = GiveBack | PlayAlone | Lose | EndRun


class Recovery:
    """Counts deaths that are nobody's fault: they may not go on for ever without a game being finished between them."""

    def __init__(self) -> None:
        self._in_vain = 0

    def finished(self) -> None:
        """Games have been finished while all play: workers do live."""
        self._in_vain = 0

    def died(self, death: Died) -> list[Instruction]:
        """What to do about a death while all play."""
        self._in_vain = 0 if death.suspects else self._in_vain + 1
        if self._in_vain == DEATHS_ALLOWED:
            return [EndRun("worker processes die before they play a game")]
        suspects = {suspect.game_id for suspect in death.suspects}
        innocent = tuple(id_ for id_ in death.lost if id_ not in suspects)
        return [GiveBack(innocent), *(PlayAlone(suspect, 1) for suspect in death.suspects)]


def died_alone(trial: PlayAlone, death: Died) -> PlayAlone | Lose:
    """What to do about a death in a game that is played alone: it is that game's, even if nobody is suspect.

    The last who is known to have been on the move is to blame.
    """
    suspect = next(iter(death.suspects), trial.suspect)
    deaths = trial.deaths + 1
    return Lose(suspect, deaths) if deaths == DEATHS_ALLOWED else PlayAlone(suspect, deaths)
