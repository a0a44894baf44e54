"""Finished games, on their way from a worker to the rows of the log, and these rows as they are scheduled."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from knights_isolation.isolation.games.match import GameBatch
from knights_isolation.isolation.games.match import concatenate as joined_games
from knights_isolation.isolation.rules.outcome import REASON_WORDS, Reason

from ..plan.schedule import Ids, Schedule
from ..record import log
from ..record.log_validation import check_rows


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


def games_table(schedule: Schedule, settings: Sequence[str], played: FinishedGames) -> pa.Table:
    """Return played games as rows of the log. `settings` has the settings of each of the schedule's agents."""
    games = played.games
    results = {
        "winner": games.winner,
        "reason": _coded("reason", games.reason, REASON_WORDS),
        "detail": games.detail,
        "plies": np.diff(games.offsets).astype(np.int16),
        **{name: _lists(games.offsets, getattr(games, name)) for name in log.PER_PLY},
        "started_at": played.started_us.view("datetime64[us]"),
    }
    values = scheduled_columns(schedule, settings, played.ids) | {
        name: pa.array(column, log.SCHEMA.field(name).type) for name, column in results.items()
    }
    return pa.table({name: values[name] for name in log.SCHEMA.names}, schema=log.SCHEMA)


def scheduled_columns(schedule: Schedule, settings: Sequence[str], ids: Ids) -> dict[str, pa.Array]:
    """Return the `log.SCHEDULED` columns of games, which are known before they are played."""
    rows, columns = schedule.size
    opening_rows = schedule.opening_rows(ids)
    players = schedule.players(ids)
    cells = schedule.cells[opening_rows]
    there = cells >= 0
    values = {
        "game_id": ids,
        "pair_id": ids // 2,
        "rows": np.full(len(ids), rows, np.int16),
        "columns": np.full(len(ids), columns, np.int16),
        "agent_1": _coded("agent_1", players[:, 0], schedule.agents),
        "agent_2": _coded("agent_2", players[:, 1], schedule.agents),
        "settings_1": _coded("settings_1", players[:, 0], settings),
        "settings_2": _coded("settings_2", players[:, 1], settings),
        "opening": _lists(np.append(0, there.sum(axis=1).cumsum()), cells[there]),
        "opening_id": schedule.opening_ids[opening_rows].astype(np.int64),
        "orbit": schedule.orbit_ids[opening_rows].astype(np.int64),
        "colours": _coded("colours", schedule.colour_roles[opening_rows], log.COLOURS),
        "population": schedule.populations(ids),
        "seed": schedule.seeds(ids),
    }
    return {name: pa.array(values[name], log.SCHEMA.field(name).type) for name in log.SCHEDULED}


def check_scheduled(run: Path, schedule: Schedule, settings: Sequence[str]) -> None:
    """Raise an error if the log has rows that do not match this schedule, or these settings of each of its agents."""
    check_rows(run, schedule.exists, lambda ids: scheduled_columns(schedule, settings, ids))


def _coded(name: str, codes: NDArray[Any], words: Sequence[str]) -> pa.Array:
    indices = pa.array(codes, log.SCHEMA.field(name).type.index_type)
    return pa.DictionaryArray.from_arrays(indices, pa.array(words, pa.string()))


def _lists(offsets: NDArray[np.int64], values: NDArray[Any]) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(values))
