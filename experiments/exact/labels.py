"""Exact values of logged moves: `RUN/labels.parquet`, one row per game, aligned with the log's `moves`.

Its columns are `LABELS` of `experiments/record/schema.py`. -1 means unknown: the limit did not suffice. Plies of the
opening and plies before `first_ply` are not labelled and have -1 everywhere. Functions that read labels raise
ValueError as `read_labels` does.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from knights_isolation.isolation.files.received import DamagedFileError
from knights_isolation.isolation.suggestions import advice, command

from ..record import log
from ..record.checked_parquet import read_parquet
from ..record.columns import Table, among, lengths, lists, numbers
from ..record.schema import LABELS, schema_of

if TYPE_CHECKING:
    import pandas as pd

FILE = "labels.parquet"

PER_PLY = ("value", "winning", "legal", "kept")
SCHEMA = schema_of(LABELS)


def read_labels(run: str | Path) -> pd.DataFrame:
    """Read the labels of a run, by ascending game id; per-ply columns hold one array per game.

    Raises:
        ValueError: the run has none, or they belong to another run's games.
    """
    frame: pd.DataFrame = read_label_table(run).to_pandas()
    return frame


def read_label_table(run: str | Path) -> Table:
    """Read the labels of a run as an Arrow table; see `read_labels`."""
    if not has_labels(run):
        labelling = advice(command("perfect", "label", run), f"ki.label({str(run)!r})")
        raise ValueError(f"{run} has no exact values yet: compute them with {labelling}")
    labels = read_file(Path(run) / FILE)
    check_fit(run, labels, log.read_table(run, ("game_id", "plies")))
    return labels


def has_labels(run: str | Path) -> bool:
    """Return whether games of the run have been labelled."""
    return (Path(run) / FILE).exists()


def labelled_games(run: str | Path, games: Table) -> tuple[Table, Table]:
    """Return the games of a run that have labels, and their labels, both by ascending game id.

    Args:
        games: frame with the columns `game_id` and `plies`.
    """
    labels = read_label_table(run)
    return among(games, numbers(labels, "game_id")).sort_by("game_id"), labels.sort_by("game_id")


def mistakes(run: str | Path, game_id: int) -> tuple[int, ...]:
    """Return the plies of a game (the first placement is ply 0) that threw the win away; empty if it has no labels."""
    if not has_labels(run):
        return ()
    labels = read_label_table(run)
    game_labels = among(labels, np.array([game_id]))
    return tuple(int(ply) for row in game_labels["kept"].to_pylist() for ply in np.flatnonzero(np.array(row) == 0))


def mistake_counts(run: str | Path) -> dict[int, int]:
    """Count the known mistakes (wins thrown away) of each labelled game, by game id."""
    labels = read_label_table(run)
    kept, starts = lists(labels, "kept")
    lost = np.append(0, np.cumsum(kept == 0))
    return dict(zip(labels["game_id"].to_pylist(), np.diff(lost[starts]).tolist(), strict=True))


def check_fit(run: str | Path, labels: Table, games: Table) -> None:
    """Raise ValueError if labels are not of the games of a run."""
    games, labels = games.sort_by("game_id"), labels.sort_by("game_id")
    labelled = among(games, numbers(labels, "game_id"))
    fits = np.array_equal(numbers(labels, "game_id"), numbers(labelled, "game_id"))
    if not fits or not np.array_equal(lengths(labels, "value"), numbers(labelled, "plies")):
        raise ValueError(f"{Path(run) / FILE} does not belong to the games of this run: delete it and label again")


def read_file(path: Path) -> Table:
    """Read a file of labels.

    Raises:
        ValueError: it is damaged, or none.
    """
    try:
        return read_parquet(path, SCHEMA)
    except (OSError, DamagedFileError) as error:
        raise ValueError(f"{error}; delete {path.name} and label again") from None
