"""Finished games, on their way from a worker to the log."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.games.match import GameBatch
from knights_isolation.isolation.games.match import concatenate as joined_games
from knights_isolation.isolation.rules.outcome import Reason

from ..plan.schedule import Ids, Schedule


@dataclass(frozen=True)
class FinishedGames:
    """n finished games.

    Attributes:
        ids: int64[n], ids in the schedule.
        games: course of each game, in this order.
        started_us: int64[n], start of a game's batch, in microseconds since 1970 (UTC).
    """

    ids: Ids
    games: GameBatch
    started_us: NDArray[np.int64]


@dataclass(frozen=True)
class GameEndings:
    """Endings of n games: the columns of `GameBatch` that are needed to continue a run."""

    winner: NDArray[np.int8]
    reason: NDArray[np.int8]
    detail: list[str]


@dataclass(frozen=True)
class LogPart:
    """n finished games that another machine has already encoded as a part of the log.

    Attributes:
        ids: int64[n], ids in the schedule.
        games: how each of them ended, in this order.
        data: the part, encoded by `log.encode_part`.
    """

    ids: Ids
    games: GameEndings
    data: bytes


def joined(parts: Sequence[FinishedGames]) -> FinishedGames:
    """Concatenate one or more sets of games."""
    return FinishedGames(
        ids=np.concatenate([part.ids for part in parts]),
        games=joined_games([part.games for part in parts]),
        started_us=np.concatenate([part.started_us for part in parts]),
    )


def forfeited_game(
    schedule: Schedule, game_id: int, loser: int, detail: str, reason: Reason = Reason.ERROR
) -> FinishedGames:
    """Return the record of a game that could not be played: lost by this player (1 or 2)."""
    ids = np.array([game_id])
    (opening,) = schedule.openings(ids)
    plies = len(opening)
    games = GameBatch(
        winner=np.array([3 - loser], np.int8),
        reason=np.array([reason], np.int8),
        detail=[detail],
        offsets=np.array([0, plies]),
        moves=np.array(opening, np.int16),
        score=np.full(plies, np.nan),
        depth=np.zeros(plies, np.int16),
        nodes=np.zeros(plies, np.int64),
        time_us=np.zeros(plies, np.int64),
        exact=np.zeros(plies, bool),
    )
    return FinishedGames(ids, games, np.array([int(time.time() * 1e6)]))
