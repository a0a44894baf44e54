"""Validate that the rows of a log belong to its run.

A part of another run in this run's folder looks like any other part; so does a row in which a number was edited. When a
run is resumed, each row is compared with the schedule; when it is read without a schedule, with the facts in
`run.json`. A row that does not match raises ValueError with the file, the game, and the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.rules.game import REASON_WORDS
from knights_isolation.isolation.rules.seeds import game_seeds

from . import log
from .columns import Table, codes, concatenate, numbers, take, to_numpy, with_plain_texts
from .run_directory import is_run, load_run, resume_advice
from .schema import RunInfo

Flags = NDArray[np.bool_]
Ids = NDArray[np.int64]

VALIDATED = (
    *("game_id", "rows", "columns", "agent_1", "agent_2", "settings_1", "settings_2", "opening_id", "seed"),
    *("winner", "reason"),
)
"""Columns that `read_valid_games` checks."""


def check_rows(run: Path, exists: Callable[[Ids], Flags], scheduled: Callable[[Ids], Table]) -> None:
    """Raise an error if the log has rows of games that do not exist, or with other columns than were scheduled.

    `exists` tells which ids are games of the schedule, and `scheduled` returns what was known of games before they were
    played.
    """

    def check(part: Path, table: Table) -> None:
        ids = _ids(part, table)
        _refuse(part, ids, ~exists(ids), "no such game is scheduled")
        expected = scheduled(ids)
        for name in expected.column_names:
            logged, planned = (with_plain_texts(games.select([name]))[name] for games in (table, expected))
            if not logged.equals(planned):
                pairs = zip(logged.to_pylist(), planned.to_pylist(), strict=True)
                differs = np.array([value != other for value, other in pairs])
                _refuse(part, ids, differs, f"{name} is not the scheduled one (from another run)")
        _check_results(part, table, ids)

    log.map_parts(run, [*log.SCHEDULED, "winner", "reason"], check)


def check_log(run: str | Path) -> None:
    """Check a directory's games as `check_facts` does if it is a run; logs of single games belong to none."""
    if is_run(Path(run)):
        check_facts(load_run(run))


def check_facts(info: RunInfo) -> None:
    """Raise an error if the log has rows that cannot belong to a run on its board, by its agents, from its seed."""
    read_valid_games(info, ("game_id",))


def read_valid_games(info: RunInfo, names: Sequence[str]) -> Table:
    """Read columns of the games of a run, including game_id, by ascending id, and validate them like `check_facts`."""
    size = info.size
    agents = {name: entry.settings for name, entry in info.agents.items()}

    def checked(part: Path, table: Table) -> Table:
        ids = _ids(part, table)
        columns_of = {name: numbers(table, name) for name in ("rows", "columns", "opening_id", "seed")}
        is_elsewhere = (columns_of["rows"] != size.rows) | (columns_of["columns"] != size.columns)
        _refuse(part, ids, is_elsewhere, f"it is not on {size}")
        sides = np.stack([_players(part, table, ids, side, agents) for side in (1, 2)], axis=1)
        opening_ids = columns_of["opening_id"].view(np.uint64)
        seeds = game_seeds(info.seeds_by, info.requested["seed"], tuple(agents), ids, sides, opening_ids)
        _refuse(part, ids, columns_of["seed"] != seeds, "its seed is not one of the run's (from another run)")
        _check_results(part, table, ids)
        return table.select(names)

    parts = log.map_parts(info.path, (*VALIDATED, *names), checked)
    games = concatenate(parts, log.SCHEMA).select(names)
    ids = numbers(games, "game_id")
    if (ids[1:] > ids[:-1]).all():
        return games
    order = np.argsort(ids, kind="stable")
    if not np.diff(ids[order]).all():
        raise ValueError(f"{info.path}: contains duplicate games; to remove them: {resume_advice(info.path)}")
    return take(games, order)


def _players(part: Path, table: Table, ids: Ids, side: int, agents: Mapping[str, str]) -> Ids:
    """Return the agent of a side in each game, as an index in `agents`, which maps names to settings."""
    players = codes(table, f"agent_{side}", tuple(agents))
    _refuse(part, ids, players < 0, f"agent_{side} is not an agent of the run (from another run)")
    kinds = tuple(dict.fromkeys(agents.values()))
    expected = np.array([kinds.index(settings) for settings in agents.values()], np.int64)[players]
    own = codes(table, f"settings_{side}", kinds)
    _refuse(part, ids, own != expected, f"settings_{side} differ from the run's (from another run)")
    return players


def _ids(part: Path, table: Table) -> Ids:
    column = table["game_id"]
    if column.null_count:
        raise ValueError(f"{part}: a game has no game_id")
    ids: Ids = to_numpy(column)
    _refuse(part, ids, ids < 0, "game_id is negative")
    return ids


def _check_results(part: Path, table: Table, ids: Ids) -> None:
    _refuse(part, ids, ~np.isin(numbers(table, "winner"), (1, 2)), "winner is neither 1 nor 2")
    _refuse(part, ids, codes(table, "reason", REASON_WORDS) < 0, "unknown reason")


def _refuse(part: Path, ids: Ids, wrong: Flags, why: str) -> None:
    if wrong.any():
        first, count = int(ids[wrong.argmax()]), int(wrong.sum())
        others = f" ({count:,} such games)" if count > 1 else ""
        raise ValueError(f"{part} does not belong to this run: game {first}: {why}{others}")
