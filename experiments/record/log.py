"""Game log: Parquet parts, one row per game; `docs/reference/log.md` lists the columns.

A run's games are in `RUN/games/` as `games-FIRST-LAST.parquet`, named by the numbers of the parts they contain. A file
whose numbers lie within another's has been merged into that file and is ignored. This rule makes merging safe: if it is
killed at any moment, each game is still read exactly once. Only small parts are merged, because writing a game takes
about a tenth of the time of playing it.

Functions that read a run raise ValueError if there is none, or if a file of it is damaged.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .checked_lines import DamagedFileError
from .checked_parquet import count_rows, encode_checked, read_batches, read_parquet, save_table
from .columns import Table, to_numpy
from .schema import LOG, schema_of

if TYPE_CHECKING:
    import pandas as pd

COLOURS = ("same", "other", "none")
GAMES = "games"
SMALL_PART = 10_000
"""Parts of fewer games are merged when a run ends."""
LARGE_PART = 60_000
"""Maximum number of games in a merged file."""
SMALL_PART_FROM_ELSEWHERE = 1_000
"""`SMALL_PART` for parts from other machines: these are many, and merging them must decode each game."""
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
    ids = table["game_id"].to_numpy()
    table = table.select(wanted)
    # Each column of the table is released once it is in the frame: both together would fill the memory.
    frame: pd.DataFrame = table.to_pandas(split_blocks=True, self_destruct=True)
    if (ids[1:] >= ids[:-1]).all():
        return frame
    # Sorted here and not in Arrow, which would move every ply instead of one pointer per game.
    return frame.take(np.argsort(ids, kind="stable")).reset_index(drop=True)


def read_table(run: str | Path, columns: Sequence[str]) -> pa.Table:
    """Read columns of the games of a run as an Arrow table, in the order in which they were written."""
    folder = existing_folder(run)
    return _despite_merging(lambda: _read(live_files(folder), columns))


def map_parts(run: str | Path, columns: Sequence[str], look: Callable[[Path, pa.Table], T]) -> list[T]:
    """Apply `look` to columns of each file of a run, one at a time to limit memory; return the results."""
    folder = existing_folder(run)
    return _despite_merging(lambda: [look(path, read_part(path, columns)) for path in live_files(folder)])


def fold_batches(run: str | Path, columns: Sequence[str], fold: Callable[[Iterator[Table]], T]) -> T:
    """Return what `fold` makes of columns of some thousand games at a time, in the order of their parts.

    If a running tournament merges files meanwhile, `fold` is called again.
    """
    folder = existing_folder(run)
    return _despite_merging(lambda: fold(batch for path in live_files(folder) for batch in _batches(path, columns)))


def find_row(run: str | Path, game_id: int) -> dict[str, Any] | None:
    """Return the row of one game, per-ply columns as lists; None if the run has no such game."""
    folder = existing_folder(run)
    return _despite_merging(lambda: _find_row(live_files(folder), game_id))


def read_part(part: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read columns (default: all) of the games in one file.

    Raises:
        FileNotFoundError: it has been merged into another.
        DamagedFileError: its contents differ from what was written.
    """
    with _knowing_a_way_out():
        return read_parquet(part, SCHEMA, None if columns is None else list(dict.fromkeys(columns)))


def count_games(run: str | Path) -> int:
    """Count the games of a run, from the files' footers alone.

    Raises:
        DamagedFileError: one of them is damaged.
    """
    folder = games_folder(run)
    return _despite_merging(lambda: sum(map(count_rows, live_files(folder))))


def games_folder(run: str | Path) -> Path:
    """Return the folder of a run's Parquet files."""
    return Path(run) / GAMES


def live_files(folder: Path) -> list[Path]:
    """Return the files that have not been merged into another, in the order of their parts."""
    live: list[Path] = []
    widest_first = sorted(folder.glob("games-*.parquet"), key=lambda path: (_span_of(path)[0], -_span_of(path)[1]))
    for path in widest_first:
        if not live or _span_of(path)[1] > _span_of(live[-1])[1]:
            live.append(path)
    return live


def append(folder: Path, part: pa.Table | bytes, number: int | None = None) -> None:
    """Write a part atomically and durably: on return it is synced to the disk.

    Args:
        part: rows of the log, or the output of `encode_part`.
        number: number of the part, if the caller knows it: in a folder of many parts it takes time to find.

    Raises:
        OSError: the disk is full, or the folder cannot be written; nothing of the part is left.
    """
    number = number or next_number(folder)
    save_table(folder / _file_name(number, number), part if isinstance(part, bytes) else encode_part(part))


def next_number(folder: Path) -> int:
    """Return the number of the next part."""
    return max((_span_of(path)[1] for path in folder.glob("games-*.parquet")), default=0) + 1


def encode_part(table: pa.Table) -> bytes:
    """Encode rows of the log as a part that can be written, here or elsewhere."""
    described = table.unify_dictionaries().replace_schema_metadata({"isolation": json.dumps(versions())})
    return encode_checked(described, level=3)


def merge(folder: Path, smallest: int | None = None) -> None:
    """Merge neighbouring parts of fewer games than `SMALL_PART`, or than `smallest`, into larger files.

    If it is killed at any moment, no game is lost.

    Raises:
        OSError: the disk is full; the remaining parts stay as they are.
    """
    sweep(folder)
    for parts in _small_neighbours(live_files(folder), smallest or SMALL_PART):
        target = folder / _file_name(_span_of(parts[0])[0], _span_of(parts[-1])[1])
        save_table(target, encode_part(_read(parts).sort_by("game_id")))
        for part in parts:
            part.unlink()


def remove_games(folder: Path, detail: str) -> int:
    """Remove the games whose detail starts with `detail`, so that they are played again; return their number.

    If it is killed at any moment, some of them have been removed and no other game is lost.

    Raises:
        OSError: the folder cannot be written.
    """
    removed = 0
    for path in live_files(folder):
        table = _read([path])
        goes = np.array([str(text).startswith(detail) for text in table["detail"].to_pylist()], bool)
        if goes.any():
            save_table(path, encode_part(table.filter(pa.array(~goes))))
            removed += int(goes.sum())
    return removed


def remove_duplicates(folder: Path) -> int:
    """Keep each game once, as it was written first; return the number of duplicates removed.

    If it is killed at any moment, some duplicates have been removed and no game is lost.

    Raises:
        ValueError: duplicates of a game differ in more than times; nothing was removed.
        OSError: the folder cannot be written.
    """
    files = live_files(folder)
    ids = [to_numpy(read_part(path, ["game_id"])["game_id"]) for path in files]
    games, first, counts = np.unique(np.concatenate(ids), return_index=True, return_counts=True)
    _check_copies(files, games[counts > 1])
    is_first = np.zeros(sum(map(len, ids)), bool)
    is_first[first] = True
    for path, keeps in zip(files, np.split(is_first, np.cumsum([len(part) for part in ids])[:-1]), strict=True):
        if not keeps.all():
            save_table(path, encode_part(_read([path]).filter(pa.array(keeps))))
    return len(is_first) - len(games)


def _check_copies(files: Sequence[Path], duplicates: NDArray[np.int64]) -> None:
    """Raise an error if duplicates of one of these games differ in anything but the times of its moves."""
    import pyarrow.compute as pc  # here, since its import takes a tenth of a second, and lists of runs need none

    columns = [name for name in SCHEMA.names if name not in ("time_us", "started_at")]
    known: dict[int, tuple[str, Path]] = {}
    for path in files:
        table = read_part(path, columns)
        for row in table.filter(pc.is_in(table["game_id"], pa.array(duplicates))).to_pylist():
            text, earlier = known.setdefault(row["game_id"], (repr(row), path))  # as text: NaN differs from itself
            if text != repr(row):
                raise ValueError(
                    f"{path}: game {row['game_id']} differs from the same game in {earlier}; delete one of the two "
                    f"files and replay the missing games with --resume"
                )


def sweep(folder: Path) -> None:
    """Remove leftovers of a killed process: incomplete files, and parts that have been merged."""
    live = live_files(folder)
    for path in [*folder.glob("games-*.parquet"), *folder.glob(".games-*")]:
        if path not in live:
            path.unlink()


@cache
def versions() -> dict[str, str]:
    """Return the versions of this package, of Python and of the relevant libraries, and the machine."""
    packages = ("knights-isolation", "numba", "llvmlite", "numpy", "pyarrow", "joblib")
    package_versions = {package: version(package) for package in packages}
    return {
        **package_versions,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }


def _small_neighbours(files: Sequence[Path], smallest: int) -> Iterator[list[Path]]:
    """Yield groups of at least two neighbouring small files that together make a large one."""
    group: list[Path] = []
    total = 0
    for path in [*files, None]:
        rows = count_rows(path) if path else LARGE_PART
        if rows >= smallest or total + rows > LARGE_PART:
            if len(group) > 1:
                yield group
            group, total = [], 0
        if path and rows < smallest:
            group.append(path)
            total += rows


def _read(files: Sequence[Path], columns: Sequence[str] | None = None) -> pa.Table:
    tables = [read_part(path, columns) for path in files]
    kept = SCHEMA.names if columns is None else list(dict.fromkeys(columns))
    return pa.concat_tables(tables) if tables else SCHEMA.empty_table().select(kept)


def _batches(part: Path, columns: Sequence[str]) -> Iterator[pa.Table]:
    with _knowing_a_way_out():
        yield from read_batches(part, SCHEMA, columns, _BATCH)


@contextmanager
def _knowing_a_way_out() -> Iterator[None]:
    try:
        yield
    except DamagedFileError as error:
        raise DamagedFileError(f"{error}; restore it, or delete it and replay its games with --resume") from None


def _find_row(files: Sequence[Path], game_id: int) -> dict[str, Any] | None:
    for path in files:
        rows = np.flatnonzero(read_part(path, ["game_id"])["game_id"].to_numpy() == game_id)
        if len(rows):
            row: dict[str, Any] = read_part(path).slice(int(rows[0]), 1).to_pylist()[0]
            return row
    return None


def existing_folder(run: str | Path) -> Path:
    """Return the folder of a run's Parquet files."""
    folder = games_folder(run)
    if not folder.is_dir():
        raise ValueError(f"{run}: not a run directory (no folder {GAMES}/)")
    return folder


def _despite_merging(read: Callable[[], T]) -> T:
    """Read files that a running tournament may merge at the same time; if that happens, read again."""
    for _ in range(20):
        with suppress(FileNotFoundError):
            return read()
    return read()


def _file_name(first: int, last: int) -> str:
    return f"games-{first:06d}-{last:06d}.parquet"


def _span_of(path: Path) -> tuple[int, int]:
    _, first, last = path.stem.split("-")
    return int(first), int(last)
