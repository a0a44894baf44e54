"""Plays what is missing in a pool, and does what is to be done about workers that die."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from experiments.play.batches import Feed
from experiments.play.interrupts import Interrupted
from experiments.play.ledger import Ledger
from experiments.play.played import Played, lost_by_error
from experiments.play.pool import TICK, Died, Event, Failed, Finished, Pool
from experiments.play.recovery import EndRun, GiveBack, Instruction, Lose, PlayAlone, Recovery, died_alone
from experiments.schedule import Schedule


def play_missing(pool: Pool, feed: Feed, ledger: Ledger, interrupted: Interrupted, report: Callable[[], None]) -> None:
    """Play until nothing is missing, or until interrupted; every game that came back is in the ledger afterwards.

    Raises:
        ValueError: workers die, or cannot be started, or what a batch says is wrong with the task.
        OSError: the log cannot be written.
    """
    recovery = Recovery()
    while not interrupted():
        while pool.has_room and len(ids := feed.take()):
            pool.submit(ids)
        if not pool.is_busy:
            break
        for event in pool.finished(TICK):
            for instruction in _take(event, feed, ledger, recovery):
                _obey(instruction, pool, feed, ledger, interrupted)
        ledger.write_if_due()
        report()


def _take(event: Event, feed: Feed, ledger: Ledger, recovery: Recovery) -> list[Instruction]:
    match event:
        case Finished(batch):
            ledger.add(batch.played)
            feed.learn(batch.matches, batch.seconds)
            recovery.finished()
        case Failed(error):
            raise error
        case Died():
            return recovery.died(event)
    return []


def _obey(instruction: Instruction, pool: Pool, feed: Feed, ledger: Ledger, interrupted: Interrupted) -> None:
    match instruction:
        case GiveBack(ids):
            feed.give_back(ids)
        case PlayAlone(suspect):
            played = _play_alone(instruction, pool, feed.schedule, interrupted)
            if played:
                ledger.add(played)
            else:
                feed.give_back([suspect.game_id])
        case Lose():
            ledger.add(_lost(instruction, feed.schedule))
        case EndRun(why):
            raise ValueError(why)


def _play_alone(trial: PlayAlone, pool: Pool, schedule: Schedule, interrupted: Interrupted) -> Played | None:
    """Play a game in a worker of its own until it is finished or lost; None if interrupted meanwhile."""
    with pool.alone() as alone:
        while not interrupted():
            if not alone.is_busy:
                alone.submit(np.array([trial.suspect.game_id]), interpreted=True)
            for event in alone.finished(TICK):
                match event:
                    case Finished(batch):
                        return batch.played
                    case Failed(error):
                        raise error
                    case Died():
                        verdict = died_alone(trial, event)
                        if isinstance(verdict, Lose):
                            return _lost(verdict, schedule)
                        trial = verdict
    return None


def _lost(verdict: Lose, schedule: Schedule) -> Played:
    detail = f"its process died {verdict.deaths} times in this game"
    return lost_by_error(schedule, verdict.suspect.game_id, verdict.suspect.mover, detail)
