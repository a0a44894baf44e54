"""Decide what to do when workers die: events in, instructions out.

If a worker dies during a game, the game is played again alone and interpreted, since compiled code may have died or
hung. If that succeeds, or if the worker was ended from outside, nothing is recorded; a player that does not answer in a
child process either loses there. A game that kills its worker repeatedly is lost by the player whose code is
responsible (see `guilty`). Other games that were lost with the worker are played again with all others. A player that
kills its worker in several games in a row forfeits the rest (see `CrashCounts`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from knights_isolation.isolation.rules.outcome import PROCESS_DIED

from .crash_markers import Suspect
from .pool import Died

DEATHS_ALLOWED = 3
"""Deaths after which a game is lost by `error`. As many in a row without a finished game end the run."""


GAMES_ALLOWED = 3
"""Number of games in a row, lost by killing the worker, after which a player forfeits the rest."""
KILLED = PROCESS_DIED
"""Prefix of the details of games that were lost by killing, or forfeited because of it."""
FORFEITED = f"{KILLED} in {GAMES_ALLOWED} games in a row, so that this one was not played"


@dataclass(frozen=True)
class Requeue:
    """Play these games again, with all others."""

    ids: tuple[int, ...]


@dataclass(frozen=True)
class PlayAlone:
    """Play a game again by itself, interpreted; `deaths` is the number of its workers that have died."""

    suspect: Suspect
    deaths: int


@dataclass(frozen=True)
class RecordLoss:
    """Record a game as lost: its worker has died too often."""

    suspect: Suspect
    deaths: int


@dataclass(frozen=True)
class EndRun:
    """End the run; `why` is for the user."""

    why: str


Instruction = Requeue | PlayAlone | EndRun


class Recovery:
    """Counts deaths without a suspect: they may not go on indefinitely without a finished game between them."""

    def __init__(self) -> None:
        self._in_vain = 0

    def finished(self) -> None:
        """Reset the count: games have been finished in the pool."""
        self._in_vain = 0

    def died(self, death: Died) -> list[Instruction]:
        """Decide what to do about a death in the pool."""
        self._in_vain = 0 if death.suspects else self._in_vain + 1
        if self._in_vain == DEATHS_ALLOWED:
            return [EndRun("worker processes die before playing a game")]
        suspects = {suspect.game_id for suspect in death.suspects}
        innocent = tuple(id_ for id_ in death.lost if id_ not in suspects)
        return [Requeue(innocent), *(PlayAlone(suspect, 1) for suspect in death.suspects)]


def died_alone(attempt: PlayAlone, death: Died) -> PlayAlone | RecordLoss:
    """Decide what to do about a death in a game that is played alone.

    The game counts as its cause, even without suspects.

    The last player known to have been on the move is blamed.
    """
    suspect = next(iter(death.suspects), attempt.suspect)
    deaths = attempt.deaths + 1
    return RecordLoss(suspect, deaths) if deaths == DEATHS_ALLOWED else PlayAlone(suspect, deaths)


def guilty(lost: RecordLoss, users: Collection[int], killing: Collection[int]) -> tuple[int, str]:
    """Return the player (1 or 2) who loses a game that killed its worker, and the detail for the log.

    A process may die in one player's turn because of the other's code, for example because that has closed its files.

    Args:
        users: players whose code is a user's; ours does not kill.
        killing: if both are users, those that also killed a worker when they met a player of ours.
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
    """Counts games in a row that an agent (by its index in the plan) has lost by killing its worker."""

    def __init__(self, given_up: Iterable[int] = ()) -> None:
        self.given_up = set(given_up)
        self._in_a_row: Counter[int] = Counter()

    def killed(self, agent: int) -> None:
        """Record that the agent has lost a game by killing its worker."""
        self._in_a_row[agent] += 1
        if self._in_a_row[agent] == GAMES_ALLOWED:
            self.given_up.add(agent)

    def finished(self, agents: Iterable[int]) -> None:
        """Record that these agents have finished a game."""
        for agent in agents:
            self._in_a_row[agent] = 0

    def forfeiting(self, players: Iterable[int]) -> int | None:
        """Return the player (1 or 2) who forfeits a game between these two agents; None if it is to be played."""
        return next((side for side, agent in enumerate(players, 1) if agent in self.given_up), None)
