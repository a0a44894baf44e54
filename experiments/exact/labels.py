"""Exact values of logged moves.

The values are in `RUN/labels.parquet`, one row per game, aligned with the log's `moves`. Its columns are `LABELS` of
`experiments/record/schema.py`. -1 means unknown: the limit did not suffice. Plies of the opening and plies before
`first_ply` are not labelled and have -1 everywhere. Functions that read labels raise ValueError as `read_labels` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from knights_isolation.isolation.files.received import DamagedFileError
from knights_isolation.isolation.suggestions import advice, command

from ..record import log
from ..record.checked_parquet import read_parquet
from ..record.columns import Table, among, lengths, lists, numbers
from ..record.run_directory import LABELS_FILE
from ..record.schema import LABELS, schema_of

if TYPE_CHECKING:
    import pandas as pd

PER_PLY = ("value", "winning", "legal", "kept")
SCHEMA = schema_of(LABELS)


def read_labels(run: str | Path) -> pd.DataFrame:
    """Read the labels of a run, by ascending game id; per-ply columns hold one array per game.

    Raises:
        ValueError: the run has none, or they are damaged or belong to another run's games.
    """
    frame: pd.DataFrame = read_label_table(run).to_pandas()
    return frame


def read_label_table(run: str | Path) -> Table:
    """Read the labels of a run as an Arrow table; see `read_labels`."""
    return labelled_games(run)[1]


def has_labels(run: str | Path) -> bool:
    """Return whether games of the run have been labelled."""
    return (Path(run) / LABELS_FILE).exists()


def labelled_games(run: str | Path, columns: Sequence[str] = ()) -> tuple[Table, Table]:
    """Return columns of the games of a run that have labels, and their labels, both by ascending game id."""
    if not has_labels(run):
        labelling = advice(command("perfect", "label", run), f"ki.label({str(run)!r})")
        raise ValueError(f"{run} has no exact values yet: compute them with {labelling}")
    labels = read_file(Path(run) / LABELS_FILE)
    games = log.read_table(run, list(dict.fromkeys(("game_id", "plies", *columns))))
    return check_fit(run, labels, games), labels


def labelled_plies(games: pd.DataFrame, labels: Table) -> pd.DataFrame:
    """Return the labelled plies of games, whose `labels` are in the same order, with the columns of their games.

    `ply` counts from 0, the first placement.
    """
    starts = lists(labels, "value")[1]
    game = np.repeat(np.arange(len(labels)), np.diff(starts))
    plies = games.iloc[game].reset_index(drop=True)
    plies = plies.assign(ply=np.arange(len(game)) - starts[game], **{name: lists(labels, name)[0] for name in PER_PLY})
    return plies[plies["legal"] >= 0]


def mistakes(run: str | Path, game_id: int) -> tuple[int, ...]:
    """Return the plies of a game (the first placement is ply 0) that threw the win away; empty if it has no labels."""
    if not has_labels(run):
        return ()
    game_labels = among(read_label_table(run), np.array([game_id]))
    return tuple(np.flatnonzero(lists(game_labels, "kept")[0] == 0).tolist())


def mistake_counts(run: str | Path) -> dict[int, int]:
    """Count the known mistakes (wins thrown away) of each labelled game, by game id."""
    labels = read_label_table(run)
    kept, starts = lists(labels, "kept")
    lost = np.append(0, np.cumsum(kept == 0))
    return dict(zip(labels["game_id"].to_pylist(), np.diff(lost[starts]).tolist(), strict=True))


def check_fit(run: str | Path, labels: Table, games: Table) -> Table:
    """Return those games of a run that have labels, by ascending id like these; raise ValueError if others have."""
    games = among(games, numbers(labels, "game_id")).sort_by("game_id")
    fits = np.array_equal(numbers(labels, "game_id"), numbers(games, "game_id"))
    if not fits or not np.array_equal(lengths(labels, "value"), numbers(games, "plies")):
        raise ValueError(
            f"{Path(run) / LABELS_FILE} does not belong to the games of this run: delete it and label again"
        )
    return games


def read_file(path: Path) -> Table:
    """Read a file of labels, by ascending game id; a damaged one is a ValueError."""
    try:
        return read_parquet(path, SCHEMA).sort_by("game_id")
    except (OSError, DamagedFileError) as error:
        raise ValueError(f"{error}; delete {path.name} and label again") from None


def labelled_winners(run: str | Path) -> dict[int, int]:
    """Return the theoretical winners of the openings of labelled games, 1 or 2, by `opening_id`."""
    if not has_labels(run):
        return {}
    games, labels = labelled_games(run, ("opening_id", "opening"))
    plies = labelled_plies(games.to_pandas().assign(opening=lengths(games, "opening")), labels)
    first = plies[(plies["ply"] == plies["opening"]) & (plies["value"] >= 0)]
    mover = 1 + first["ply"].to_numpy() % 2
    winner = np.where(first["value"] == 1, mover, 3 - mover)
    return dict(zip(first["opening_id"].tolist(), winner.tolist(), strict=True))
