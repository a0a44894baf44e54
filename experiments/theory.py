"""Results split by who would win the opening with perfect play: won openings converted, lost openings saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments import log
from experiments.inference.clusters import Interval, rate_interval
from isolation.board import Board
from isolation.geometry import format_size, parse_size
from isolation.limits import Limit
from isolation.solved import is_covered
from isolation.solver import MAX_CELLS, Meter, value

MOST_SEARCHED = 200
"""How many openings are searched by default where no table has them: a few seconds' worth on 7x7."""
LIMIT = Limit(nodes=20_000_000)


@dataclass(frozen=True)
class TheorySplit:
    """One agent's games by what it could hope for.

    Attributes:
        agent: its name.
        won: games from openings that were won for it.
        converted: the share of them that it won.
        lost: games from openings that were lost for it.
        saved: the share of them that it won nevertheless.
        unknown: games from openings whose winner is not known.
    """

    agent: str
    won: int
    converted: Interval
    lost: int
    saved: Interval
    unknown: int


def opening_winners(run: str | Path, most_searched: int = MOST_SEARCHED, limit: Limit = LIMIT) -> dict[int, int]:
    """Who wins each opening of a run with perfect play, by `opening_id`: 1, 2, or 0 if that is unknown.

    Placement pairs of boards up to 7x7 are looked up. Of others so many are searched, each within the limit; the
    rest is unknown, as is everything on boards of more than 128 cells.

    Raises:
        ValueError: there is no such run.
    """
    openings = log.read_table(run, ("opening_id", "opening", "rows", "columns")).to_pandas()
    winners: dict[int, int] = {}
    searched = 0
    for row in openings.drop_duplicates("opening_id").sort_values("opening_id").itertuples(index=False):
        size = format_size(int(row.rows), int(row.columns))
        is_shipped = len(row.opening) <= 2 and is_covered(*parse_size(size))
        if not is_shipped:
            searched += 1
        within_reach = row.rows * row.columns <= MAX_CELLS and (is_shipped or searched <= most_searched)
        winners[int(row.opening_id)] = _winner(row.opening.tolist(), size, limit) if within_reach else 0
    return winners


def by_theory(games: pd.DataFrame, winners: Mapping[int, int], confidence: float = 0.95) -> list[TheorySplit]:
    """Every agent's games split, best converter first.

    Args:
        games: a row a game with `agent_1`, `agent_2`, `winner`, `opening_id` and `orbit`, the cluster of the intervals.
        winners: see `opening_winners`.
    """
    due = games["opening_id"].map(winners).fillna(0).to_numpy(np.int64)
    won = games["winner"].to_numpy(np.int64)
    orbit = np.unique(games["orbit"].to_numpy(), return_inverse=True)[1]
    names = [games[column].astype(str).to_numpy() for column in ("agent_1", "agent_2")]
    found = []
    for agent in np.unique(np.concatenate(names)):
        side = np.where(names[0] == agent, 1, 2)
        mine = (names[0] == agent) | (names[1] == agent)
        has_won = won == side
        ours, theirs = mine & (due == side), mine & (due == 3 - side)
        found.append(
            TheorySplit(
                agent=str(agent),
                won=int(ours.sum()),
                converted=_share(has_won, ours, orbit, confidence),
                lost=int(theirs.sum()),
                saved=_share(has_won, theirs, orbit, confidence),
                unknown=int((mine & (due == 0)).sum()),
            )
        )
    return sorted(found, key=lambda split: -np.nan_to_num(split.converted.estimate))


def _winner(opening: list[int], size: str, limit: Limit) -> int:
    board = Board.from_moves(opening, size)
    wins = value(board, Meter(limit))
    if wins is None:
        return 0
    return board.active_index + 1 if wins else 2 - board.active_index


def _share(
    has_won: NDArray[np.bool_], chosen: NDArray[np.bool_], cluster: NDArray[np.int64], confidence: float
) -> Interval:
    """The share of chosen games that were won, with an interval over clusters of openings."""
    games = np.bincount(cluster[chosen])
    wins = np.bincount(cluster[chosen], has_won[chosen])
    met = games > 0
    opponents = float(games[met].mean()) if met.any() else 1.0
    return rate_interval(wins[met], games[met], max(1.0, opponents), confidence)
