"""Theoretical winners of openings, and the results of agents by them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.rules.solved_tables import pair_is_won

from ..record import log
from ..record.columns import Table, numbers, take
from ..record.run_directory import LABELS_FILE
from ..statistics.proportions import Interval, rate_interval

if TYPE_CHECKING:
    import pandas as pd


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
    if not (Path(run) / LABELS_FILE).exists():
        return {}
    from .labels import labelled_winners

    return labelled_winners(run)


def share_taken(
    successes: NDArray[Any], chances: NDArray[Any], cluster: NDArray[np.int64], each: int, confidence: float
) -> Interval:
    """Estimate the share of chances taken, from the counts of both per game; an opponent gives `each` in a cluster."""
    taken, given = np.bincount(cluster, successes), np.bincount(cluster, chances)
    had = given > 0
    return rate_interval(taken[had], given[had], float(given[had].mean()) / each if had.any() else 1.0, confidence)
