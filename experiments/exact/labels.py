"""Exact values of logged moves, and the theoretical winners of openings, with results by them.

The values are in `RUN/labels.parquet`, one row per game, aligned with the log's `moves`. Its columns are `LABELS` of
`experiments/record/schema.py`. -1 means unknown: the limit did not suffice. Plies of the opening and plies before
`first_ply` are not labelled and have -1 everywhere. Functions that read labels raise ValueError as `read_labels` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.files.received import DamagedFileError
from knights_isolation.isolation.rules.solved_tables import pair_is_won
from knights_isolation.isolation.suggestions import advice, command

from ..record import log
from ..record.checked_parquet import read_parquet
from ..record.columns import Table, among, lengths, lists, numbers, take
from ..record.schema import LABELS, schema_of
from ..statistics.proportions import Interval, rate_interval

if TYPE_CHECKING:
    import pandas as pd

FILE = "labels.parquet"

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
    return (Path(run) / FILE).exists()


def labelled_games(run: str | Path, columns: Sequence[str] = ()) -> tuple[Table, Table]:
    """Return columns of the games of a run that have labels, and their labels, both by ascending game id."""
    if not has_labels(run):
        labelling = advice(command("perfect", "label", run), f"ki.label({str(run)!r})")
        raise ValueError(f"{run} has no exact values yet: compute them with {labelling}")
    labels = read_file(Path(run) / FILE)
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
        raise ValueError(f"{Path(run) / FILE} does not belong to the games of this run: delete it and label again")
    return games


def read_file(path: Path) -> Table:
    """Read a file of labels, by ascending game id; a damaged one is a ValueError."""
    try:
        return read_parquet(path, SCHEMA).sort_by("game_id")
    except (OSError, DamagedFileError) as error:
        raise ValueError(f"{error}; delete {path.name} and label again") from None


@dataclass(frozen=True)
class TheorySplit:
    """Games of an agent by the theoretical result of their openings.

    Attributes:
        agent: its name.
        won: games from openings that were won for it.
        converted: share of those that it won.
        lost: games from openings that were lost for it.
        saved: share of those that it won nevertheless.
        unknown: games from openings whose winner is not known.
    """

    agent: str
    won: int
    converted: Interval
    lost: int
    saved: Interval
    unknown: int


def opening_winners(run: str | Path) -> dict[int, int]:
    """Return the theoretical winners of a run's openings, 1 or 2, by `opening_id`.

    A winner is known for placement pairs in the shipped tables, and for openings with a labelled game.

    Raises:
        ValueError: there is no such run.
    """
    pairs = log.fold_batches(run, _OPENING, lambda parts: dict(_pair_winners(parts)))
    known = {number: winner for number, winner in pairs.items() if winner}
    return known if len(known) == len(pairs) else _labelled_winners(run) | known


def knows_winners(run: str | Path) -> bool:
    """Return whether `opening_winners` knows any winner; for most runs the first games suffice to find out."""
    any_pair = log.fold_batches(run, _OPENING, lambda parts: any(winner for _, winner in _pair_winners(parts)))
    return any_pair or bool(_labelled_winners(run))


def split_by_theory(
    games: pd.DataFrame, winners: Mapping[int, int], agents: Sequence[str] = (), confidence: float = 0.95
) -> list[TheorySplit]:
    """Split the games of these agents (default: all) by theoretical result; the best converter first.

    Args:
        games: one row per game with `agent_1`, `agent_2`, `winner`, `opening_id` and `orbit` (clusters of the
            intervals).
        winners: see `opening_winners`.
    """
    from pandas.api.types import union_categoricals

    due = games["opening_id"].map(winners).fillna(0).to_numpy(np.int64)
    won = games["winner"].to_numpy(np.int64)
    orbit = np.unique(games["orbit"].to_numpy(), return_inverse=True)[1]
    players = union_categoricals([games[side].astype("category").array for side in ("agent_1", "agent_2")])
    first, second = players.codes.reshape(2, -1)
    splits = []
    for code in np.unique(players.codes):
        agent = str(players.categories[code])
        if agents and agent not in agents:
            continue
        side, mine = np.where(first == code, 1, 2), (first == code) | (second == code)
        has_won = won == side
        ours, theirs = mine & (due == side), mine & (due == 3 - side)
        splits.append(
            TheorySplit(
                agent=agent,
                won=int(ours.sum()),
                converted=share_taken(has_won & ours, ours, orbit, 1, confidence),
                lost=int(theirs.sum()),
                saved=share_taken(has_won & theirs, theirs, orbit, 1, confidence),
                unknown=int((mine & (due == 0)).sum()),
            )
        )
    return sorted(splits, key=lambda split: -np.nan_to_num(split.converted.estimate))


_OPENING = ("opening_id", "opening", "rows", "columns")


def _pair_winners(parts: Iterator[Table]) -> Iterator[tuple[int, int | None]]:
    """Yield the openings of games, and the winner of each that is a placement pair in the shipped tables."""
    seen: set[int] = set()
    for games in parts:
        ids, first = np.unique(numbers(games, "opening_id"), return_index=True)
        new = take(games, first[[number not in seen for number in ids.tolist()]])
        seen.update(ids.tolist())
        for row in new.to_pylist():
            is_pair = len(row["opening"]) == 2
            won = pair_is_won(row["rows"], row["columns"], *row["opening"]) if is_pair else None
            yield row["opening_id"], None if won is None else 1 if won else 2


def _labelled_winners(run: str | Path) -> dict[int, int]:
    if not has_labels(run):
        return {}
    games, labels = labelled_games(run, ("opening_id", "opening"))
    plies = labelled_plies(games.to_pandas().assign(opening=lengths(games, "opening")), labels)
    first = plies[(plies["ply"] == plies["opening"]) & (plies["value"] >= 0)]
    mover = 1 + first["ply"].to_numpy() % 2
    winner = np.where(first["value"] == 1, mover, 3 - mover)
    return dict(zip(first["opening_id"].tolist(), winner.tolist(), strict=True))


def share_taken(
    successes: NDArray[Any], chances: NDArray[Any], cluster: NDArray[np.int64], each: int, confidence: float
) -> Interval:
    """Estimate the share of chances taken, from the counts of both per game; an opponent gives `each` in a cluster."""
    taken, given = np.bincount(cluster, successes), np.bincount(cluster, chances)
    had = given > 0
    return rate_interval(taken[had], given[had], float(given[had].mean()) / each if had.any() else 1.0, confidence)
