"""Play the missing games in a pool, and decide what to do when workers die: events in, instructions out.

If a worker dies during a game, the game is played again alone and interpreted, since compiled code may have died or
hung. If that succeeds, or if the worker was ended from outside, nothing is recorded; a player that does not answer in a
child process either loses there. A game that kills its worker repeatedly is lost by the player whose code is
responsible (see `guilty`). Other games that were lost with the worker are played again with all others. A player that
kills its worker in several games in a row forfeits the rest (see `CrashCounts`).
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

import numpy as np

from knights_isolation.isolation.rules.game import PROCESS_DIED, Reason

from ...plan.schedule import Ids
from ..finished_games import FinishedGames, LogPart, forfeited_game, joined
from .batch_feed import BatchFeed
from .game_worker import GameWorker, Suspect
from .interrupts import Interrupted
from .pool import TICK, Died, Event, Failed, Finished, Pool, next_event

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


_LOGGER = logging.getLogger(__name__)


Played = FinishedGames | LogPart


def play_missing(
    pool: Pool,
    feed: BatchFeed,
    record: Callable[[Played], None],
    interrupted: Interrupted,
    report: Callable[[], None],
    *,
    users: Collection[int],
    given_up: Iterable[int],
) -> None:
    """Play until nothing is missing, or until interrupted; every game that was returned has then been recorded.

    Args:
        record: called with finished games.
        report: called about ten times a second.
        users: agents, by their indices in the plan, that run code that does not ship with the toolkit.
        given_up: those that have forfeited games before.

    Raises:
        UnreachableError: the workers cannot be reached any more.
        ValueError: workers die, or cannot be started, or a batch reports an error in the task.
        OSError: the log cannot be written.
    """
    run = _RunState(pool, feed, record, interrupted, users, Recovery(), CrashCounts(given_up))
    while not interrupted():
        feed.pace = pool.fleet.pace if pool.fleet else feed.pace
        while pool.has_room and len(ids := feed.take()):
            played = _without_forfeits(run, ids)
            if len(played):
                pool.submit(played)
        if not pool.is_busy:
            break
        for event in pool.finished(TICK):
            for instruction in _take(event, run):
                _obey(instruction, run)
        report()


@dataclass(frozen=True)
class _RunState:
    pool: Pool
    feed: BatchFeed
    record: Callable[[Played], None]
    interrupted: Interrupted
    users: Collection[int]
    recovery: Recovery
    killers: CrashCounts

    def agents_of(self, game_id: int) -> list[int]:
        agents: list[int] = self.feed.schedule.players(np.array([game_id]))[0].tolist()
        return agents


def _without_forfeits(run: _RunState, ids: Ids) -> Ids:
    if not run.killers.given_up:
        return ids
    losers = [run.killers.forfeiting(run.agents_of(int(id_))) for id_ in ids]
    lost = [
        forfeited_game(run.feed.schedule, int(id_), loser, FORFEITED)
        for id_, loser in zip(ids, losers, strict=True)
        if loser
    ]
    if lost:
        run.record(joined(lost))
    return ids[[loser is None for loser in losers]]


def _take(event: Event, run: _RunState) -> list[Instruction]:
    match event:
        case Finished(batch):
            run.record(batch.played)
            run.feed.learn(batch.matches, batch.seconds)
            run.recovery.finished()
            _learn_of_killers(batch.played, run)
        case Failed(error):
            raise error
        case Died():
            return run.recovery.died(event)
    return []


def _learn_of_killers(played: Played, run: _RunState) -> None:
    """Update the crash counts: agents that finished a game, and agents that were found to kill their workers."""
    players, games = run.feed.schedule.players(played.ids), played.games
    lost = np.flatnonzero(np.isin(games.reason, (Reason.ERROR, Reason.HANG))).tolist()
    killed = [game for game in lost if games.detail[game].startswith(KILLED)]
    finished = set(np.unique(np.delete(players, killed, axis=0)).tolist())
    run.killers.finished(finished)
    for game in killed:
        loser = int(players[game, 2 - games.winner[game]])
        if loser not in finished:
            run.killers.killed(loser)


def _obey(instruction: Instruction, run: _RunState) -> None:
    _LOGGER.info("a worker died: %s", instruction)
    match instruction:
        case Requeue(ids):
            run.feed.give_back(ids)
        case PlayAlone(suspect):
            forfeits = run.killers.forfeiting(run.agents_of(suspect.game_id)) is not None
            played = None if forfeits else _play_alone(instruction, run)
            if played:
                run.record(played)
            else:
                run.feed.give_back([suspect.game_id])
        case EndRun(why):
            raise ValueError(why)


def _play_alone(attempt: PlayAlone, run: _RunState) -> Played | None:
    """Play a game in a worker of its own until it is finished or lost; None if interrupted."""
    with run.pool.alone() as alone:
        while True:
            alone.submit(np.array([attempt.suspect.game_id]), interpreted=True)
            match next_event(alone, run.interrupted):
                case Finished(batch):
                    _learn_of_killers(batch.played, run)
                    return batch.played
                case Failed(error):
                    raise error
                case Died() as death:
                    next_step = died_alone(attempt, death)
                    if isinstance(next_step, RecordLoss):
                        return _lost(next_step, alone, run)
                    attempt = next_step
                case _:
                    return None


def _lost(lost: RecordLoss, alone: Pool, run: _RunState) -> FinishedGames | None:
    """Return the game as lost by the player whose code killed the worker; None if interrupted before that is known."""
    game_id = lost.suspect.game_id
    agents = run.agents_of(game_id)
    users = [side for side, agent in enumerate(agents, 1) if agent in run.users]
    killing = [side for side in users if len(users) == 2 and _kills(alone, game_id, side, run.interrupted)]
    if run.interrupted():
        return None
    loser, detail = guilty(lost, users, killing)
    run.killers.killed(agents[loser - 1])
    return forfeited_game(run.feed.schedule, game_id, loser, detail)


def _kills(alone: Pool, game_id: int, player: int, interrupted: Interrupted) -> bool:
    alone.call(GameWorker.play_one_of_ours, game_id, player)
    return isinstance(next_event(alone, interrupted), Died)
