"""Game log: Parquet parts, one row per game; `docs/reference/log.md` lists the columns.

A run's games are in `RUN/games/` as `games-FIRST-LAST.parquet`, named by the numbers of the parts they contain. A file
whose numbers lie within another's has been merged into that file and is ignored. This rule makes merging safe: if it is
killed at any moment, each game is still read exactly once. Only small parts are merged, because writing a game takes
about a tenth of the time of playing it (`log_parts`).

Functions that read a run raise ValueError if there is none, or DamagedFileError if a file of it is damaged. They read
again, and call what they were given again, if a running tournament merges files meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from knights_isolation.isolation.files.received import DamagedFileError

from .checked_parquet import count_rows, read_batches, read_parquet
from .columns import Table, concatenate, numbers
from .schema import LOG, schema_of

if TYPE_CHECKING:
    import pandas as pd

COLOURS = ("same", "other", "none")
GAMES = "games"
PER_PLY = ("moves", "score", "depth", "nodes", "time_us", "exact")

T = TypeVar("T")

_BATCH = 8192
"""Number of games read at a time if all of them would fill the memory."""

SCHEMA = schema_of(LOG)

SCHEDULED = (
    *("game_id", "pair_id", "rows", "columns", "agent_1", "agent_2", "settings_1", "settings_2"),
    *("opening", "opening_id", "orbit", "colours", "population", "seed"),
)
"""Columns known before a game is played."""


def read_games(run: str | Path, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Return the games of a run, finished or not, by ascending id; optionally only some columns.

    Names are categorical; per-ply columns hold one array per game.

    Raises:
        ValueError: there is no run there, a file of it is damaged, or no such column.
    """
    wanted = SCHEMA.names if columns is None else list(columns)
    unknown = [name for name in wanted if name not in SCHEMA.names]
    if unknown:
        raise ValueError(f"no column {unknown[0]!r}; columns: {', '.join(SCHEMA.names)}")
    table = read_table(run, [*wanted, "game_id"])
    ids = numbers(table, "game_id")
    table = table.select(wanted)
    # Each column of the table is released once it is in the frame: both together would fill the memory.
    frame: pd.DataFrame = table.to_pandas(split_blocks=True, self_destruct=True)
    if (ids[1:] >= ids[:-1]).all():
        return frame
    # Sorted here and not in Arrow, which would move every ply instead of one pointer per game.
    return frame.take(np.argsort(ids, kind="stable")).reset_index(drop=True)


def read_table(run: str | Path, columns: Sequence[str]) -> Table:
    """Read columns of the games of a run as an Arrow table, in the order in which they were written."""
    return _read(existing_folder(run), lambda files: read_files(files, columns))


def map_parts(run: str | Path, columns: Sequence[str], look: Callable[[Path, Table], T]) -> list[T]:
    """Apply `look` to columns of each file of a run, one at a time to limit memory; return the results."""
    return _read(existing_folder(run), lambda files: [look(path, read_part(path, columns)) for path in files])


def fold_batches(run: str | Path, columns: Sequence[str], fold: Callable[[Iterator[Table]], T]) -> T:
    """Return what `fold` makes of columns of some thousand games at a time, in the order of their parts."""
    return _read(existing_folder(run), lambda files: fold(batch for path in files for batch in _batches(path, columns)))


def find_row(run: str | Path, game_id: int) -> dict[str, Any] | None:
    """Return the row of one game, per-ply columns as lists; None if the run has no such game."""

    def find(files: Sequence[Path]) -> dict[str, Any] | None:
        for path in files:
            rows = np.flatnonzero(numbers(read_part(path, ["game_id"]), "game_id") == game_id)
            if len(rows):
                row: dict[str, Any] = read_part(path).slice(int(rows[0]), 1).to_pylist()[0]
                return row
        return None

    return _read(existing_folder(run), find)


def read_part(part: Path, columns: Sequence[str] | None = None) -> Table:
    """Read columns (default: all) of the games in one file; FileNotFoundError if it has been merged into another."""
    with _knowing_a_way_out():
        return read_parquet(part, SCHEMA, None if columns is None else list(dict.fromkeys(columns)))


def count_games(run: str | Path) -> int:
    """Count the games of a run, from the files' footers alone; 0 if there is no run."""
    return _read(games_folder(run), lambda files: sum(map(count_rows, files)))


def games_folder(run: str | Path) -> Path:
    """Return the folder of a run's Parquet files."""
    return Path(run) / GAMES


def live_files(folder: Path) -> list[Path]:
    """Return the files that have not been merged into another, in the order of their parts."""
    live: list[Path] = []
    widest_first = sorted(folder.glob("games-*.parquet"), key=lambda path: (span_of(path)[0], -span_of(path)[1]))
    for path in widest_first:
        if not live or span_of(path)[1] > span_of(live[-1])[1]:
            live.append(path)
    return live


def read_files(files: Sequence[Path], columns: Sequence[str] | None = None) -> Table:
    """Read columns (default: all) of the games in some files, in their order."""
    tables = [read_part(path, columns) for path in files]
    kept = SCHEMA.names if columns is None else list(dict.fromkeys(columns))
    return concatenate(tables, SCHEMA).select(kept)


def _batches(part: Path, columns: Sequence[str]) -> Iterator[Table]:
    with _knowing_a_way_out():
        yield from read_batches(part, SCHEMA, columns, _BATCH)


@contextmanager
def _knowing_a_way_out() -> Iterator[None]:
    try:
        yield
    except DamagedFileError as error:
        raise DamagedFileError(f"{error}; restore it, or delete it and replay its games with --resume") from None


def existing_folder(run: str | Path) -> Path:
    """Return the folder of a run's Parquet files."""
    folder = games_folder(run)
    if not folder.is_dir():
        raise ValueError(f"{run}: not a run directory (no folder {GAMES}/)")
    return folder


def _read(folder: Path, look: Callable[[Sequence[Path]], T]) -> T:
    for _ in range(20):
        with suppress(FileNotFoundError):
            return look(live_files(folder))
    return look(live_files(folder))


def span_of(path: Path) -> tuple[int, int]:
    """Return the numbers of the first and the last part that a file contains, by its name."""
    _, first, last = path.stem.split("-")
    return int(first), int(last)
