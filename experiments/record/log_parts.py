"""Write the log of a run: append parts, merge small ones, remove games.

A part is written whole or not at all. Small parts are merged when a run ends.
Functions that write raise OSError if the disk is full, or the folder cannot be written; if they are killed at any
moment, no game is lost but those to be removed.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .checked_parquet import count_rows, encode_checked, save_table
from .columns import Table, among, numbers, where
from .log import SCHEMA, live_files, read_files, read_part, span_of

SMALL_PART = 10_000
"""Parts of fewer games are merged when a run ends."""
LARGE_PART = 60_000
"""Maximum number of games in a merged file."""


def append(folder: Path, part: Table) -> None:
    """Write rows of the log as a part: on return it is synced to the disk."""
    number = max((span_of(path)[1] for path in folder.glob("games-*.parquet")), default=0) + 1
    save_table(folder / _file_name(number, number), _encode(part))


def _encode(table: Table) -> bytes:
    described = table.unify_dictionaries().replace_schema_metadata({"isolation": json.dumps(versions())})
    return encode_checked(described, level=3)


def merge(folder: Path) -> None:
    """Merge neighbouring parts of fewer games than `SMALL_PART` into larger files."""
    sweep(folder)
    for parts in _small_neighbours(live_files(folder)):
        target = folder / _file_name(span_of(parts[0])[0], span_of(parts[-1])[1])
        save_table(target, _encode(read_files(parts).sort_by("game_id")))
        for part in parts:
            part.unlink()


def remove_games(folder: Path, detail: str) -> int:
    """Remove the games whose detail starts with `detail`, so that they are played again; return their number."""
    removed = 0
    for path in live_files(folder):
        table = read_part(path)
        goes = np.array([str(text).startswith(detail) for text in table["detail"].to_pylist()], bool)
        if goes.any():
            save_table(path, _encode(where(table, ~goes)))
            removed += int(goes.sum())
    return removed


def remove_duplicates(folder: Path) -> int:
    """Keep each game once, as it was written first; return the number of duplicates removed.

    Raises:
        ValueError: duplicates of a game differ in more than times; nothing was removed.
    """
    files = live_files(folder)
    ids = [numbers(read_part(path, ["game_id"]), "game_id") for path in files]
    games, first, counts = np.unique(np.concatenate(ids), return_index=True, return_counts=True)
    _check_copies(files, games[counts > 1])
    is_first = np.zeros(sum(map(len, ids)), bool)
    is_first[first] = True
    for path, keeps in zip(files, np.split(is_first, np.cumsum([len(part) for part in ids])[:-1]), strict=True):
        if not keeps.all():
            save_table(path, _encode(where(read_part(path), keeps)))
    return len(is_first) - len(games)


def _check_copies(files: Sequence[Path], duplicates: NDArray[np.int64]) -> None:
    """Raise an error if duplicates of one of these games differ in anything but the times of its moves."""
    columns = [name for name in SCHEMA.names if name not in ("time_us", "started_at")]
    known: dict[int, tuple[str, Path]] = {}
    for path in files:
        table = read_part(path, columns)
        for row in among(table, duplicates).to_pylist():
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
    machine = f"{platform.system()} {platform.machine()}"
    return {**{name: version(name) for name in packages}, "python": platform.python_version(), "machine": machine}


def _small_neighbours(files: Sequence[Path]) -> Iterator[list[Path]]:
    """Yield groups of at least two neighbouring small files that together make a large one."""
    group: list[Path] = []
    total = 0
    for path in [*files, None]:
        rows = count_rows(path) if path else LARGE_PART
        if rows >= SMALL_PART or total + rows > LARGE_PART:
            if len(group) > 1:
                yield group
            group, total = [], 0
        if path and rows < SMALL_PART:
            group.append(path)
            total += rows


def _file_name(first: int, last: int) -> str:
    return f"games-{first:06d}-{last:06d}.parquet"
