"""Verify the records of a project, and validate that the rows of a log belong to its run.

Every file that a verdict rests on is read as whoever uses it reads it.

A part of another run in this run's folder looks like any other part; so does a row in which a number was edited. When a
run is resumed, each row is compared with the schedule; when it is read without a schedule, with the facts in
`run.json`. A row that does not match raises ValueError with the file, the game, and the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from knights_isolation.isolation.rules.geometry import parse_size
from knights_isolation.isolation.rules.outcome import REASON_WORDS
from knights_isolation.isolation.rules.seeds import game_seeds
from knights_isolation.isolation.usercode.inputs import changed_input

from ..plan.schedule import Schedule
from . import log
from .checked_lines import SEALED, inspect_lines, read_json
from .checked_parquet import read_parquet, to_arrow, to_numpy
from .run_directory import (
    CONFIG,
    END,
    ENGINES,
    FACTS,
    HOME,
    is_run,
    load_run,
    missing_sentence,
    resume_advice,
    written_config,
)
from .schema import RunInfo
from .tries import LOG, SOURCES, code_of, read_tries

Flags = NDArray[np.bool_]

VALIDATED = (
    *("game_id", "rows", "columns", "agent_1", "agent_2", "settings_1", "settings_2", "opening_id", "seed"),
    *("winner", "reason"),
)
"""Columns that `read_valid_games` checks."""


def check_scheduled(run: Path, schedule: Schedule, settings: Sequence[str]) -> None:
    """Raise an error if the log has rows that do not match this schedule, or these settings of each of its agents."""

    def check(part: Path, table: pa.Table) -> None:
        ids = _ids(part, table)
        _refuse(part, ids, ~schedule.exists(ids), "no such game is scheduled")
        expected = log.scheduled_columns(schedule, settings, ids)
        for name, values in expected.items():
            _refuse(part, ids, _differ(table[name], values), f"{name} is not the scheduled one (from another run)")
        _check_results(part, table, ids)

    log.map_parts(run, [*log.SCHEDULED, "winner", "reason"], check)


def check_log(run: str | Path) -> None:
    """Check a directory's games as `check_facts` does if it is a run; logs of single games belong to none."""
    if is_run(Path(run)):
        check_facts(load_run(run))


def check_facts(info: RunInfo) -> None:
    """Raise an error if the log has rows that cannot belong to a run on its board, by its agents, from its seed."""
    read_valid_games(info, ("game_id",))


def read_valid_games(info: RunInfo, names: Sequence[str]) -> pa.Table:
    """Read columns of the games of a run, including game_id, by ascending id, and validate them like `check_facts`."""
    size: str = info.requested["board"]
    rows, columns = parse_size(size)
    agents = {name: entry.settings for name, entry in info.agents.items()}

    def checked(part: Path, table: pa.Table) -> pa.Table:
        ids = _ids(part, table)
        columns_of = {name: to_numpy(table[name]) for name in ("rows", "columns", "opening_id", "seed")}
        _refuse(part, ids, (columns_of["rows"] != rows) | (columns_of["columns"] != columns), f"it is not on {size}")
        sides = np.stack([_players(part, table, ids, side, agents) for side in (1, 2)], axis=1)
        opening_ids = columns_of["opening_id"].view(np.uint64)
        seeds = game_seeds(info.seeds_by, info.requested["seed"], tuple(agents), ids, sides, opening_ids)
        _refuse(part, ids, columns_of["seed"] != seeds, "its seed is not one of the run's (from another run)")
        _check_results(part, table, ids)
        return table.select(names)

    parts = log.map_parts(info.path, (*VALIDATED, *names), checked)
    games = pa.concat_tables(parts) if parts else log.SCHEMA.empty_table().select(names)
    ids = to_numpy(games["game_id"])
    if (ids[1:] > ids[:-1]).all():
        return games
    order = np.argsort(ids, kind="stable")
    if not np.diff(ids[order]).all():
        raise ValueError(f"{info.path}: contains duplicate games; to remove them: {resume_advice(info.path)}")
    return games.take(to_arrow(order))


def _players(
    part: Path, table: pa.Table, ids: NDArray[np.int64], side: int, agents: Mapping[str, str]
) -> NDArray[np.int64]:
    """Return the agent of a side in each game, as an index in `agents`, which maps names to settings."""
    codes = log.codes_in(tuple(agents), table[f"agent_{side}"])
    _refuse(part, ids, codes < 0, f"agent_{side} is not an agent of the run (from another run)")
    kinds = tuple(dict.fromkeys(agents.values()))
    expected = np.array([kinds.index(settings) for settings in agents.values()], np.int64)[codes]
    own = log.codes_in(kinds, table[f"settings_{side}"])
    _refuse(part, ids, own != expected, f"settings_{side} differ from the run's (from another run)")
    return codes


def _ids(part: Path, table: pa.Table) -> NDArray[np.int64]:
    column = table["game_id"]
    if column.null_count:
        raise ValueError(f"{part}: a game has no game_id")
    ids: NDArray[np.int64] = to_numpy(column)
    _refuse(part, ids, ids < 0, "game_id is negative")
    return ids


def _check_results(part: Path, table: pa.Table, ids: NDArray[np.int64]) -> None:
    _refuse(part, ids, ~np.isin(to_numpy(table["winner"]), (1, 2)), "winner is neither 1 nor 2")
    _refuse(part, ids, log.codes_in(REASON_WORDS, table["reason"]) < 0, "unknown reason")


def _differ(column: pa.ChunkedArray, expected: Any) -> Flags:
    import pyarrow.compute as pc

    if pa.types.is_list(column.type):
        lists = pa.chunked_array([expected], column.type)
        if column.equals(lists):
            return np.zeros(len(column), bool)
        return np.array(
            [value != other for value, other in zip(column.to_pylist(), lists.to_pylist(), strict=True)], bool
        )
    if pa.types.is_dictionary(column.type):
        column, expected = column.cast(pa.string()), pc.cast(expected, pa.string())
    is_equal: Flags = pc.fill_null(pc.equal(column, expected), False).to_numpy()
    return ~is_equal


def _refuse(part: Path, ids: NDArray[np.int64], wrong: Flags, why: str) -> None:
    if wrong.any():
        first, count = int(ids[wrong.argmax()]), int(wrong.sum())
        others = f" ({count:,} such games)" if count > 1 else ""
        raise ValueError(f"{part} does not belong to this run: game {first}: {why}{others}")


KEPT = "evaluated"
"""Folder of kept answers of evaluations, below that of the runs."""


@dataclass(frozen=True)
class Verified:
    """A file of a project: what it is, in words, and its state; the state of a damaged one says where and why."""

    file: str
    what: str
    state: str
    is_damaged: bool = False


def verify(home: Path = HOME) -> list[Verified]:
    """Verify all runs and other records below a folder.

    Raises:
        ValueError: there is no such folder.
    """
    if not home.is_dir():
        raise ValueError(f"{home}: no such directory")
    runs = sorted(facts.parent for facts in home.rglob(FACTS))
    return [verified for run in runs for verified in _run(run)] + [
        _verified(path, what, state)
        for pattern, what, state in _OTHERS
        for path in sorted(home.rglob(pattern))
        if path.parent.name not in (ENGINES, log.GAMES) and not (what == "journal" and {LOG, KEPT} & {*path.parts})
    ]


def _run(run: Path) -> Iterator[Verified]:
    facts = _verified(run / FACTS, "facts of a run", _facts)
    yield facts
    if (run / CONFIG).exists() and not facts.is_damaged:
        yield _verified(run / CONFIG, "configuration", _configuration)
    if (run / END).exists():
        yield _verified(run / END, "end of a run", _end)
    parts = [_verified(part, "games", _part) for part in log.live_files(log.games_folder(run))]
    damaged = [part for part in parts if part.is_damaged]
    yield from damaged
    if parts and not damaged and not facts.is_damaged:
        yield _verified(log.games_folder(run), "games", _games)


def _verified(path: Path, what: str, state_of: Callable[[Path], str | None]) -> Verified:
    """Verify a file by a function that says what is remarkable about it, if anything, and raises if it is damaged."""
    try:
        return Verified(str(path), what, state_of(path) or "whole")
    except (ValueError, OSError) as error:
        why = str(error).partition("\n")[0].removeprefix(str(path)).lstrip(":, ").removeprefix("is damaged or ")
        return Verified(str(path), what, f"damaged: {why}", True)


def _object(path: Path) -> str:
    read_json(path)
    return "whole" if f'"{SEALED}": true' in path.read_text(encoding="utf-8") else _unsealed("file")


def _configuration(path: Path) -> str:
    info = load_run(path.parent)
    written_config(info)
    return "whole" if info.configuration else _unsealed("file")


def _facts(path: Path) -> str:
    load_run(path.parent)
    return _object(path)


def _end(path: Path) -> str:
    if missing := missing_sentence(path.parent):
        raise ValueError(missing)
    return _object(path)


def _part(path: Path) -> None:
    log.read_part(path)


def _games(path: Path) -> None:
    info, played = load_run(path.parent), log.count_games(path.parent)
    check_facts(info)
    if played > info.games:
        raise ValueError(f"{played:,} games, but {info.games:,} were planned")


def _champion(path: Path) -> str:
    if changed := changed_input(read_json(path).get("inputs", {}), path.parent):
        raise ValueError(f"{changed} is not as it was when this won")
    return _object(path)


def _table(path: Path) -> None:
    read_parquet(path, pa.schema([]))


def _source(path: Path) -> None:
    if code_of(path.read_text(encoding="utf-8")) != path.stem:
        raise ValueError("it is not the text that was tried")


def _tries(path: Path) -> str:
    read_tries(path.parent)
    return _lines(path)


def _lines(path: Path) -> str:
    lines = inspect_lines(path)
    if lines.damaged:
        raise ValueError(f"line{'s' * (len(lines.damaged) > 1)} {', '.join(map(str, lines.damaged))}")
    torn = "; the last line was cut off and is not read" * lines.is_torn
    return f"{_unsealed(f'{lines.unsealed:,} lines') if lines.unsealed else 'whole'}{torn}"


def _unsealed(what: str) -> str:
    return f"readable; {what} of an older version without checksum"


_OTHERS = (
    (LOG, "log of tries", _tries),
    (f"{SOURCES}/*.py", "source of a try", _source),
    (f"{KEPT}/*.jsonl", "evaluations of a candidate", _lines),
    ("champion.json", "champion of evaluations", _champion),
    ("*.jsonl", "journal", _lines),
    ("league.json", "class of a league", _object),
    ("*.parquet", "table", _table),
)
"""Files besides runs, with what they are and who reads them."""
