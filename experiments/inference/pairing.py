"""From one row per game to one row per pair: the form every comparison starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from experiments.inference.arguments import Ints

COLUMNS = ("game_id", "pair_id", "opening_id", "agent_1", "agent_2", "winner", "size")


_Codes = npt.NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class PairTable:
    """Pairs as columns, in order of their first game.

    `first` and `second` index `agents`, which are sorted by name; `first < second`. `won_placing_first[i]` says
    whether agent `first[i]` won the game in which it placed first (1 or 0, −1 if that game is missing),
    `won_placing_second[i]` the same for the other side. `opening` numbers openings (of one board size) from 0,
    `cluster` the groups of openings that are not independent of each other, from 0 too; `same_colour` is whether both
    first placements stand on cells of one colour.
    """

    agents: tuple[str, ...]
    first: Ints
    second: Ints
    opening: Ints
    cluster: Ints
    same_colour: npt.NDArray[np.bool_]
    won_placing_first: npt.NDArray[np.int8]
    won_placing_second: npt.NDArray[np.int8]

    @property
    def complete(self) -> npt.NDArray[np.bool_]:
        """Which pairs have both games."""
        return (self.won_placing_first >= 0) & (self.won_placing_second >= 0)

    @property
    def unfinished(self) -> int:
        """How many pairs lack a game; paired analyses leave them out."""
        return int(np.count_nonzero(~self.complete))

    @property
    def wins(self) -> Ints:
        """Games won by `first` in each pair."""
        return np.maximum(self.won_placing_first, 0).astype(np.int64) + np.maximum(self.won_placing_second, 0)

    @property
    def games(self) -> Ints:
        """Games played in each pair: 2, or 1 if it is unfinished."""
        return (self.won_placing_first >= 0).astype(np.int64) + (self.won_placing_second >= 0)

    def code(self, agent: str) -> int:
        """The index of an agent; ValueError naming the agents there are."""
        if agent not in self.agents:
            raise ValueError(f"no games of {agent!r}; there are {', '.join(self.agents) or 'no games at all'}")
        return self.agents.index(agent)


@dataclass(frozen=True, eq=False)
class Record:
    """The complete pairs of one agent, seen from its side and in playing order, as columns of one length.

    `opponent` is a number of the other agent, `opening` and `cluster` are numbers as in a `PairTable`, `wins` the games
    won of the pair's two (0, 1, 2).
    """

    opponent: Ints
    opening: Ints
    cluster: Ints
    wins: Ints


def pair_games(games: pd.DataFrame, cluster: str | None = None) -> PairTable:
    """Join the games of `games` into pairs.

    Columns: game_id, pair_id, opening_id, agent_1 (placed first), agent_2, winner (1 or 2), size, and same_colour if
    there is one (else False). `cluster` names a column, constant within an opening, of openings that are alike, such
    as a symmetry class; without it every opening stands for itself. Raises ValueError for a missing column, a game
    that occurs twice, a winner other than 1 and 2, an agent playing itself, and pairs that are none: of different
    agents or openings, with more than two games or twice the same side.
    """
    needed = [*COLUMNS, *([cluster] if cluster else [])]
    missing = [name for name in needed if name not in games.columns]
    if missing:
        raise ValueError(f"games must have the columns {', '.join(needed)}; {', '.join(missing)} missing")
    ids = pd.Index(games["game_id"])
    # of ids that ascend, as a log's do, it is known without a table of them all that each is there once
    if not (ids.is_monotonic_increasing and ids.is_unique) and ids.has_duplicates:
        raise ValueError(f"game {ids[ids.duplicated()][0]} occurs twice")
    winner = games["winner"].to_numpy()
    if not np.isin(winner, (1, 2)).all():
        raise ValueError(f"winner must be 1 or 2, not {winner[~np.isin(winner, (1, 2))][0]}")
    agents, one, two = _agent_codes(games)
    if (one == two).any():
        raise ValueError(f"{agents[one[one == two][0]]} plays itself")
    pair, ids = _numbered(games["pair_id"])
    opening = _combined_codes(games["size"], games["opening_id"])
    first, second = np.minimum(one, two), np.maximum(one, two)
    start = np.flatnonzero(np.diff(np.maximum.accumulate(pair), prepend=-1)) if pair.size else pair
    for name, values in (("agents", first), ("agents", second), ("openings", opening)):
        strays = values != values[start][pair]
        if strays.any():
            raise ValueError(f"pair {ids[pair[strays][0]]} joins games of different {name}")
    placed_first = one == first
    won = (winner == 1) == placed_first
    sides = []
    for side in (placed_first, ~placed_first):
        of_side = pair[side]
        played = np.bincount(of_side, minlength=len(ids))
        if (played > 1).any():
            raise ValueError(f"pair {ids[int(np.argmax(played > 1))]} holds two games with the same sides")
        result = np.full(len(ids), -1, dtype=np.int8)
        result[of_side] = won[side]
        sides.append(result)
    opening = opening[start]
    colours = games["same_colour"].to_numpy(dtype=bool)[start] if "same_colour" in games else np.zeros(len(ids), bool)
    return PairTable(
        agents=agents,
        first=first[start].astype(np.int64),
        second=second[start].astype(np.int64),
        opening=opening,
        cluster=_combined_codes(games["size"], games[cluster])[start] if cluster else opening,
        same_colour=colours,
        won_placing_first=sides[0],
        won_placing_second=sides[1],
    )


def record_of(table: PairTable, agent: str) -> Record:
    """The complete pairs of `agent`; ValueError if it is not in the table."""
    code = table.code(agent)
    complete = table.complete
    as_first, as_second = complete & (table.first == code), complete & (table.second == code)
    wins = table.wins
    chosen = np.flatnonzero(as_first | as_second)
    is_first = as_first[chosen]
    return Record(
        opponent=np.where(is_first, table.second[chosen], table.first[chosen]),
        opening=table.opening[chosen],
        cluster=table.cluster[chosen],
        wins=np.where(is_first, wins[chosen], 2 - wins[chosen]),
    )


def opponents_of(table: PairTable, agent: str) -> set[str]:
    """Whom `agent` has met, in complete pairs or not; ValueError if it is not in the table."""
    code = table.code(agent)
    met = {*np.unique(table.second[table.first == code]), *np.unique(table.first[table.second == code])}
    return {table.agents[other] for other in met}


def _agent_codes(games: pd.DataFrame) -> tuple[tuple[str, ...], _Codes, _Codes]:
    columns = [pd.factorize(games[name]) for name in ("agent_1", "agent_2")]
    agents = tuple(sorted({str(name) for _, names in columns for name in names}))
    index = {name: i for i, name in enumerate(agents)}
    one, two = (np.array([index[str(n)] for n in names], dtype=np.int16)[codes] for codes, names in columns)
    return agents, one, two


def _numbered(values: pd.Series[Any]) -> tuple[Ints, npt.NDArray[Any]]:
    """Numbers from 0 for the distinct values, in order of appearance, and these values."""
    if not values.is_monotonic_increasing:
        codes, kinds = pd.factorize(values)
        return codes.astype(np.int64), np.asarray(kinds)
    array = values.to_numpy()
    is_new = np.ones(len(array), bool)
    is_new[1:] = array[1:] != array[:-1]
    return is_new.cumsum() - 1, array[is_new]


def _combined_codes(size: pd.Series[Any], value: pd.Series[Any]) -> Ints:
    """Numbers from 0 for the distinct (size, value), in order of appearance."""
    sizes, kinds = pd.factorize(size)
    values, _ = pd.factorize(value)
    if len(kinds) == 1:
        return values.astype(np.int64, copy=False)
    codes, _ = pd.factorize(values.astype(np.int64) * max(len(kinds), 1) + sizes)
    return codes.astype(np.int64)
