"""Play the missing games in a pool, and act on its events."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from knights_isolation.isolation.rules.outcome import Reason

from ...plan.schedule import Ids
from ...record.finished_games import FinishedGames, LogPart, forfeited_game, joined
from .batch_feed import BatchFeed
from .game_worker import GameWorker
from .interrupts import Interrupted
from .pool import TICK, Answered, Died, Event, Failed, Finished, Pool
from .recovery import (
    FORFEITED,
    KILLED,
    CrashCounts,
    EndRun,
    Instruction,
    PlayAlone,
    RecordLoss,
    Recovery,
    Requeue,
    died_alone,
    guilty,
)

_LOGGER = logging.getLogger(__name__)


class Recorder(Protocol):
    """Destination of finished games, with facts about earlier games and the agents."""

    def add(self, played: FinishedGames | LogPart) -> None:
        """Add finished games."""

    def write_if_due(self) -> None:
        """Save them if it is time to."""

    def losers_by(self, detail: str) -> set[int]:
        """Return the agents, by their indices in the plan, that lost earlier games with this detail."""

    def is_user_code(self, agent: int) -> bool:
        """Return whether an agent runs code that does not ship with the toolkit."""


def play_missing(
    pool: Pool, feed: BatchFeed, recorder: Recorder, interrupted: Interrupted, report: Callable[[], None]
) -> None:
    """Play until nothing is missing, or until interrupted; afterwards the recorder has every game that was returned.

    Raises:
        UnreachableError: the workers cannot be reached any more.
        ValueError: workers die, or cannot be started, or a batch reports an error in the task.
        OSError: the log cannot be written.
    """
    run = _RunState(pool, feed, recorder, interrupted, Recovery(), CrashCounts(recorder.losers_by(FORFEITED)))
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
        recorder.write_if_due()
        report()


@dataclass(frozen=True)
class _RunState:
    pool: Pool
    feed: BatchFeed
    recorder: Recorder
    interrupted: Interrupted
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
        run.recorder.add(joined(lost))
    return ids[[loser is None for loser in losers]]


def _take(event: Event, run: _RunState) -> list[Instruction]:
    match event:
        case Finished(batch):
            run.recorder.add(batch.played)
            run.feed.learn(batch.matches, batch.seconds)
            run.recovery.finished()
            _learn_of_killers(batch.played, run)
        case Failed(error):
            raise error
        case Died():
            return run.recovery.died(event)
    return []


def _learn_of_killers(played: FinishedGames | LogPart, run: _RunState) -> None:
    """Update the crash counts: agents that finished a game, and agents that were found to kill their workers."""
    players, games = run.feed.schedule.players(played.ids), played.games
    lost = np.flatnonzero(np.isin(games.reason, (Reason.ERROR, Reason.HANG))).tolist()
    killed = [game for game in lost if games.detail[game].startswith(KILLED)]
    finished = set(np.unique(np.delete(players, killed, axis=0)).tolist())
    run.killers.finished(finished)
    for game in killed:
        loser = int(players[game, 2 - games.winner[game]])
        if games.detail[game] == FORFEITED:
            run.killers.given_up.add(loser)
        elif loser not in finished:
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
                run.recorder.add(played)
            else:
                run.feed.give_back([suspect.game_id])
        case EndRun(why):
            raise ValueError(why)


def _play_alone(attempt: PlayAlone, run: _RunState) -> FinishedGames | LogPart | None:
    """Play a game in a worker of its own until it is finished or lost; None if interrupted."""
    with run.pool.alone() as alone:
        while not run.interrupted():
            if not alone.is_busy:
                alone.submit(np.array([attempt.suspect.game_id]), interpreted=True)
            for event in alone.finished(TICK):
                match event:
                    case Finished(batch):
                        _learn_of_killers(batch.played, run)
                        return batch.played
                    case Failed(error):
                        raise error
                    case Died():
                        next_step = died_alone(attempt, event)
                        if isinstance(next_step, RecordLoss):
                            return _lost(next_step, alone, run)
                        attempt = next_step
    return None


def _lost(lost: RecordLoss, alone: Pool, run: _RunState) -> FinishedGames | None:
    """Return the game as lost by the player whose code killed the worker; None if interrupted before that is known."""
    game_id = lost.suspect.game_id
    agents = run.agents_of(game_id)
    users = [side for side, agent in enumerate(agents, 1) if run.recorder.is_user_code(agent)]
    killing = [side for side in users if len(users) == 2 and _kills(alone, game_id, side, run.interrupted)]
    if run.interrupted():
        return None
    loser, detail = guilty(lost, users, killing)
    run.killers.killed(agents[loser - 1])
    return forfeited_game(run.feed.schedule, game_id, loser, detail)


def _kills(alone: Pool, game_id: int, player: int, interrupted: Interrupted) -> bool:
    alone.call(GameWorker.play_one_of_ours, game_id, player)
    while not interrupted():
        for event in alone.finished(TICK):
            match event:
                case Answered() | Failed():
                    return False
                case Died():
                    return True
    return False
