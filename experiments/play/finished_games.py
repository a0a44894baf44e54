"""Finished games, on their way from a worker to the rows of the log, and these rows as they are scheduled."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.games.match import GameBatch, batch_of, rows_of_plies
from knights_isolation.isolation.games.match import concatenate as joined_games
from knights_isolation.isolation.rules.game import REASON_WORDS, Reason

from ..plan.schedule import Ids, Schedule
from ..record import log
from ..record.columns import Table, table_of, to_lists, to_names
from ..record.log_validation import check_rows
from ..record.schema import LOG, schema_of

_SCHEDULED = schema_of(column for column in LOG if column.name in log.SCHEDULED)


@dataclass(frozen=True)
class FinishedGames:
    """n finished games: their ids in the schedule, their courses, and when a game's batch started, in µs since 1970."""

    ids: Ids
    games: GameBatch
    started_us: NDArray[np.int64]


def joined(parts: Sequence[FinishedGames]) -> FinishedGames:
    """Concatenate one or more sets of games."""
    return FinishedGames(
        ids=np.concatenate([part.ids for part in parts]),
        games=joined_games([part.games for part in parts]),
        started_us=np.concatenate([part.started_us for part in parts]),
    )


def forfeited_game(schedule: Schedule, game_id: int, loser: int, detail: str) -> FinishedGames:
    """Return the record of a game that could not be played: lost by this player (1 or 2)."""
    ids = np.array([game_id])
    (opening,) = schedule.openings(ids)
    games = batch_of([(3 - loser, Reason.ERROR, detail, rows_of_plies(opening, []))])
    return FinishedGames(ids, games, np.array([int(time.time() * 1e6)]))


def games_table(schedule: Schedule, settings: Sequence[str], played: FinishedGames) -> Table:
    """Return played games as rows of the log. `settings` has the settings of each of the schedule's agents."""
    games = played.games
    results = {
        "winner": games.winner,
        "reason": to_names(games.reason.astype(np.int8), REASON_WORDS),
        "detail": games.detail,
        "plies": np.diff(games.offsets).astype(np.int16),
        **{name: to_lists(games.offsets, getattr(games, name)) for name in log.PER_PLY},
        "started_at": played.started_us.view("datetime64[us]"),
    }
    scheduled = scheduled_columns(schedule, settings, played.ids)
    return table_of({**{name: scheduled[name] for name in log.SCHEDULED}, **results}, log.SCHEMA)


def scheduled_columns(schedule: Schedule, settings: Sequence[str], ids: Ids) -> Table:
    """Return the `log.SCHEDULED` columns of games, which are known before they are played."""
    rows, columns = schedule.size
    opening_rows = schedule.opening_rows(ids)
    first, second = schedule.players(ids).astype(np.int16).T
    cells = schedule.cells[opening_rows]
    there = cells >= 0
    values = {
        "game_id": ids,
        "pair_id": ids // 2,
        "rows": np.full(len(ids), rows, np.int16),
        "columns": np.full(len(ids), columns, np.int16),
        "agent_1": to_names(first, schedule.agents),
        "agent_2": to_names(second, schedule.agents),
        "settings_1": to_names(first, settings),
        "settings_2": to_names(second, settings),
        "opening": to_lists(np.append(0, there.sum(axis=1).cumsum()), cells[there]),
        "opening_id": schedule.opening_ids[opening_rows].astype(np.int64),
        "orbit": schedule.orbit_ids[opening_rows].astype(np.int64),
        "colours": to_names(schedule.colour_roles[opening_rows].astype(np.int8), log.COLOURS),
        "population": schedule.populations(ids),
        "seed": schedule.seeds(ids),
    }
    return table_of(values, _SCHEDULED)


def check_scheduled(run: Path, schedule: Schedule, settings: Sequence[str]) -> None:
    """Raise an error if the log has rows that do not match this schedule, or these settings of each of its agents."""
    check_rows(run, schedule.exists, lambda ids: scheduled_columns(schedule, settings, ids))
