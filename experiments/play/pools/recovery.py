"""Decide what to do when workers die: events in, instructions out.

A game that was on when its worker died is played again alone, and interpreted, as compiled code may be what died, or
did not answer. If that goes well, or its worker was merely ended from outside, nothing has happened; who does not
answer in a child process either loses there. A game that goes on killing is lost by the player whose code it is (see
`guilty`). Games that were only in the way are played again with all others. A player that goes on killing, game after
game, forfeits the rest (see `CrashCounts`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from experiments.play.pools.crash_markers import Suspect
from experiments.play.pools.pool import Died
from isolation.rules.outcome import PROCESS_DIED

DEATHS_ALLOWED = 3
"""A game that kills its worker so many times is lost by `error`; so many deaths in a row without a game end the run."""


GAMES_ALLOWED = 3
"""A player that loses so many games in a row by killing its worker plays no more."""
KILLED = PROCESS_DIED
"""How the details of games begin that were lost by killing, or forfeited because of it."""
FORFEITED = f"{KILLED} in {GAMES_ALLOWED} games in a row, so that this one was not played"


@dataclass(frozen=True)
class Requeue:
    """Play these games again, with all others."""

    ids: tuple[int, ...]


@dataclass(frozen=True)
class PlayAlone:
    """Play a game again by itself, interpreted; its worker has died so many times."""

    suspect: Suspect
    deaths: int


@dataclass(frozen=True)
class RecordLoss:
    """Record a game as lost: its worker has died too often."""

    suspect: Suspect
    deaths: int


@dataclass(frozen=True)
class EndRun:
    """Go on no further; `why` is for people."""

    why: str


Instruction = Requeue | PlayAlone | EndRun


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
            return [EndRun("worker processes die before playing a game")]
        suspects = {suspect.game_id for suspect in death.suspects}
        innocent = tuple(id_ for id_ in death.lost if id_ not in suspects)
        return [Requeue(innocent), *(PlayAlone(suspect, 1) for suspect in death.suspects)]


def died_alone(attempt: PlayAlone, death: Died) -> PlayAlone | RecordLoss:
    """What to do about a death in a game that is played alone: it is that game's, even if nobody is suspect.

    The last who is known to have been on the move is to blame.
    """
    suspect = next(iter(death.suspects), attempt.suspect)
    deaths = attempt.deaths + 1
    return RecordLoss(suspect, deaths) if deaths == DEATHS_ALLOWED else PlayAlone(suspect, deaths)


def guilty(lost: RecordLoss, users: Collection[int], killing: Collection[int]) -> tuple[int, str]:
    """Who (1 or 2) pays for a game that killed its worker, and what is said of it.

    A process may die in the turn of the one whose code did nothing to it, as when the other has closed its files.

    Args:
        users: those of the two whose code is a user's; ours does not kill.
        killing: where both are, those who killed a worker also when they met a player of ours.
    """
    mover = lost.suspect.mover
    detail = f"{KILLED} {lost.deaths} times in this game"
    if len(users) == 1:
        (player,) = users
        return player, detail
    if len(users) < 2:
        return mover, detail
    if len(killing) == 1:
        (player,) = killing
        return player, f"{detail}, and also when it met Random, but not when the other did"
    who = "either" if killing else "neither"
    return mover, f"{detail}, and it was to move; {who} of the two kills it when it meets Random"


class CrashCounts:
    """Counts games in a row, agent by agent (by their places in the plan), that an agent has lost by killing."""

    def __init__(self, given_up: Iterable[int] = ()) -> None:
        self.given_up = set(given_up)
        self._in_a_row: Counter[int] = Counter()

    def killed(self, agent: int) -> None:
        """The agent has lost a game by killing its worker."""
        self._in_a_row[agent] += 1
        if self._in_a_row[agent] == GAMES_ALLOWED:
            self.given_up.add(agent)

    def finished(self, agents: Iterable[int]) -> None:
        """These agents have come to the end of a game."""
        for agent in agents:
            self._in_a_row[agent] = 0

    def forfeiting(self, players: Iterable[int]) -> int | None:
        """The player (1 or 2) who forfeits a game between these two agents; None if it is to be played."""
        return next((side for side, agent in enumerate(players, 1) if agent in self.given_up), None)
