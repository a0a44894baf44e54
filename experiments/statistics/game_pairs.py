"""Turn games, one row each, into pairs, one row each; standings from pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from knights_isolation.isolation.suggestions import did_you_mean

from ..record.columns import Table, distinct, numbers
from .proportions import Interval, Ints, PairCounts, count_pairs, of_pool, rate_interval

_Codes = npt.NDArray[np.int16]
_Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class PairTable:
    """Pairs as columns, in order of their first game.

    `first` and `second` index `agents`, which are sorted by name; `first < second`. `won_placing_first[i]` is 1 if
    agent `first[i]` won the game in which it placed first, 0 if it lost, and −1 if that game is missing;
    `won_placing_second[i]` is the same for the other side. `opening` numbers openings (of one board size) from 0.
    `cluster` numbers groups of dependent openings, also from 0, and `cluster_ids` are their ids in the games.
    `same_colour` is whether both first placements are on cells of one colour. Integer types are as narrow as possible,
    since a large run has millions of pairs.
    """

    agents: tuple[str, ...]
    first: _Codes
    second: _Codes
    opening: _Numbers
    cluster: _Numbers
    cluster_ids: Ints
    same_colour: npt.NDArray[np.bool_]
    won_placing_first: npt.NDArray[np.int8]
    won_placing_second: npt.NDArray[np.int8]

    @cached_property
    def complete(self) -> npt.NDArray[np.bool_]:
        """Mask of the pairs that have both games."""
        return (self.won_placing_first >= 0) & (self.won_placing_second >= 0)

    @property
    def unfinished(self) -> int:
        """Number of pairs that lack a game; paired analyses leave them out."""
        return int(np.count_nonzero(~self.complete))

    def code(self, agent: str) -> int:
        """Return the index of an agent. The ValueError for an unknown one lists the agents."""
        if agent not in self.agents:
            hint = did_you_mean(agent, self.agents)
            raise ValueError(f"no games of {agent!r}; {hint}agents: {', '.join(self.agents) or 'none'}")
        return self.agents.index(agent)

    def pairs_of(self, agent: str) -> Ints:
        """Return the indices of an agent's pairs, ascending; ValueError if it is not in the table."""
        code = self.code(agent)
        indices = [indices[starts[code] : starts[code + 1]] for indices, starts in self._by_agent]
        return np.sort(np.concatenate(indices)).astype(np.int64)

    @cached_property
    def _by_agent(self) -> tuple[tuple[_Numbers, Ints], ...]:
        """Indices of pairs sorted by `first`, then those by `second`, each with the offsets by agent."""
        return tuple(
            (
                np.argsort(players, kind="stable").astype(np.int32),
                np.append(0, np.bincount(players, minlength=len(self.agents)).cumsum()),
            )
            for players in (self.first, self.second)
        )


@dataclass(frozen=True, eq=False)
class AgentPairs:
    """Complete pairs of one agent, from its point of view and in playing order, as columns of equal length.

    `opponent` is a number of the other agent, `opening` and `cluster` are numbers as in a `PairTable`, `wins` is the
    number of the pair's two games that were won (0, 1, 2).
    """

    opponent: Ints
    opening: Ints
    cluster: Ints
    wins: Ints


def pair_games(games: Table, cluster: str | None = None) -> PairTable:
    """Join the games of `games`, validated and each there once, into pairs.

    Columns: pair_id, opening_id, agent_1 (placed first), agent_2, winner (1 or 2), size, and optionally same_colour
    (default False). `cluster` names a column, constant within an opening, that identifies dependent openings, such as a
    symmetry class; by default every opening is its own cluster. Raises ValueError for an agent playing itself, and
    invalid pairs: of different agents or openings, with more than two games, or with the same side twice.
    """
    agents, player_1, two = _agent_codes(games)
    if (player_1 == two).any():
        raise ValueError(f"{agents[player_1[player_1 == two][0]]} plays itself")
    pair, ids = _numbered(numbers(games, "pair_id"))
    opening = _combined_codes(games, "opening_id")
    first, second = np.minimum(player_1, two), np.maximum(player_1, two)
    start = np.flatnonzero(np.diff(np.maximum.accumulate(pair), prepend=-1)) if pair.size else pair
    for name, values in (("agents", first), ("agents", second), ("openings", opening)):
        strays = values != values[start][pair]
        if strays.any():
            raise ValueError(f"pair {ids[pair[strays][0]]} joins games of different {name}")
    placed_first = player_1 == first
    won = (numbers(games, "winner") == 1) == placed_first
    sides = []
    for side in (placed_first, ~placed_first):
        of_side = pair[side]
        played = np.bincount(of_side, minlength=len(ids))
        if (played > 1).any():
            raise ValueError(f"pair {ids[int(np.argmax(played > 1))]} has two games with the same sides")
        result = np.full(len(ids), -1, dtype=np.int8)
        result[of_side] = won[side]
        sides.append(result)
    opening = opening[start]
    known = "same_colour" in games.column_names
    groups = _combined_codes(games, cluster)[start] if cluster else opening
    group_ids = np.zeros(int(groups.max(initial=-1)) + 1, np.int64)
    group_ids[groups] = numbers(games, cluster or "opening_id")[start]
    return PairTable(
        agents=agents,
        first=first[start],
        second=second[start],
        opening=opening,
        cluster=groups,
        cluster_ids=group_ids,
        same_colour=numbers(games, "same_colour")[start] if known else np.zeros(len(ids), bool),
        won_placing_first=sides[0],
        won_placing_second=sides[1],
    )


def record_of(table: PairTable, agent: str) -> AgentPairs:
    """Return the complete pairs of `agent`; ValueError if it is not in the table."""
    return _complete(table, *_results_of(table, agent))


def opponents_of(table: PairTable, agent: str) -> set[str]:
    """Return the opponents of `agent`, in complete pairs or not; ValueError if it is not in the table."""
    return {table.agents[other] for other in np.flatnonzero(np.bincount(_results_of(table, agent)[2]))}


def _results_of(table: PairTable, agent: str) -> tuple[Ints, npt.NDArray[np.int8], _Codes]:
    """Return an agent's pairs, its results (2, pairs) placing first and second, as in the table, and its opponents."""
    pairs = table.pairs_of(agent)
    is_first = table.first[pairs] == table.code(agent)
    sides = [table.won_placing_first[pairs], table.won_placing_second[pairs]]
    # the opponent placed first exactly when this agent placed second, and won exactly when this agent lost
    of_other = [np.where(won >= 0, 1 - won, -1) for won in reversed(sides)]
    return pairs, np.where(is_first, sides, of_other), np.where(is_first, table.second[pairs], table.first[pairs])


def _complete(table: PairTable, pairs: Ints, won: npt.NDArray[np.int8], opponent: _Codes) -> AgentPairs:
    is_complete = (won >= 0).all(axis=0)
    chosen = pairs[is_complete]
    return AgentPairs(
        opponent=opponent[is_complete].astype(np.int64),
        opening=table.opening[chosen].astype(np.int64),
        cluster=table.cluster[chosen].astype(np.int64),
        wins=won[:, is_complete].sum(axis=0, dtype=np.int64),
    )


def _agent_codes(games: Table) -> tuple[tuple[str, ...], _Codes, _Codes]:
    columns = [distinct(games[name]) for name in ("agent_1", "agent_2")]
    played = {str(name) for codes, names in columns for name in names[np.unique(codes)]}
    agents = tuple(sorted(played))
    index = {name: i for i, name in enumerate(agents)}
    first, two = (np.array([index.get(str(n), -1) for n in names], dtype=np.int16)[codes] for codes, names in columns)
    return agents, first, two


def _numbered(values: npt.NDArray[Any]) -> tuple[_Numbers, npt.NDArray[Any]]:
    """Number the distinct values from 0, in order of appearance, and return the numbers and values."""
    if not (values[1:] >= values[:-1]).all():
        codes, kinds = distinct(values)
        return codes.astype(np.int32), kinds
    is_new = np.ones(len(values), bool)
    is_new[1:] = values[1:] != values[:-1]
    return is_new.cumsum(dtype=np.int32) - 1, values[is_new]


def _combined_codes(games: Table, name: str) -> _Numbers:
    """Number the distinct values of a column on each size of board from 0, in order of appearance."""
    sizes, kinds = distinct(games["size"])
    values = distinct(games[name])[0]
    if len(kinds) > 1:
        values = distinct(values.astype(np.int64) * len(kinds) + sizes)[0]
    return values.astype(np.int32)


@dataclass(frozen=True)
class Matchup:
    """Results of one agent against one opponent. `wins` and `games` count all games, `pairs` and `rate` complete pairs.

    The interval of `rate` is over clusters of openings; if each holds a single pair it equals that of `pair_interval`.
    """

    agent: str
    opponent: str
    wins: int
    games: int
    pairs: PairCounts
    rate: Interval


@dataclass(frozen=True)
class Standing:
    """Results of one agent against all its opponents, counted as in `Matchup`; `unfinished` pairs lack a game."""

    agent: str
    wins: int
    games: int
    pairs: PairCounts
    unfinished: int
    openings: int
    rate: Interval


@dataclass(frozen=True)
class Split:
    """Games of one agent that placed first or second, from openings on cells of the same or of different colour."""

    agent: str
    placed_first: bool
    same_colour: bool
    wins: int
    games: int
    rate: Interval


def matchups(table: PairTable, agent: str) -> tuple[Matchup, ...]:
    """Return the results of `agent` against each opponent it met, by name."""
    pairs, won, opponent = _results_of(table, agent)
    games, wins, cluster = (won >= 0).sum(axis=0), np.maximum(won, 0).sum(axis=0), table.cluster[pairs]
    rows = []
    for other in np.unique(opponent):
        chosen = opponent == other
        paired = chosen & (games == 2)
        counts, rate = count_pairs(wins[paired]), _opening_rate(cluster[paired], wins[paired], games[paired])
        rows.append(
            Matchup(agent, table.agents[other], int(wins[chosen].sum()), int(games[chosen].sum()), counts, rate)
        )
    return tuple(rows)


def standings(table: PairTable, pools: Mapping[str, int | None] | None = None) -> tuple[Standing, ...]:
    """Return every agent's result, best rate first; `pools` by agent, see `standing`."""
    results = [standing(table, agent, (pools or {}).get(agent)) for agent in table.agents]
    return tuple(sorted(results, key=lambda s: (-np.nan_to_num(s.rate.estimate, nan=-1.0), s.agent)))


def standing(table: PairTable, agent: str, pool: int | None = None) -> Standing:
    """Return one agent's result; ValueError if it is not in the table.

    `pool` is the number of existing openings, if the agent and all its opponents are deterministic: then only the
    unplayed openings are uncertain.
    """
    pairs, won, opponent = _results_of(table, agent)
    record = _complete(table, pairs, won, opponent)
    rate = _opening_rate(record.cluster, record.wins, np.full(record.wins.size, 2), np.unique(record.opponent).size)
    return Standing(
        agent=agent,
        wins=int(np.maximum(won, 0).sum()),
        games=int((won >= 0).sum()),
        pairs=count_pairs(record.wins),
        unfinished=pairs.size - record.wins.size,
        openings=int(np.unique(record.opening).size),
        rate=of_pool(rate, share_seen(record, pool)),
    )


def splits(table: PairTable, agent: str, pool: int | None = None) -> tuple[Split, ...]:
    """Return `agent`'s games by side and colour of the opening, unfinished pairs included; `pool` as in `standing`."""
    pairs, won, opponent = _results_of(table, agent)
    seen = share_seen(_complete(table, pairs, won, opponent), pool)
    rows = []
    for placed_first, own in zip((True, False), won, strict=True):
        for same_colour in (True, False):
            chosen = (table.same_colour[pairs] == same_colour) & (own >= 0)
            wins = own[chosen].astype(np.int64)
            opponents = np.unique(opponent[chosen]).size
            rate = _opening_rate(table.cluster[pairs][chosen], wins, np.ones(wins.size, np.int64), opponents)
            row = Split(agent, placed_first, same_colour, int(wins.sum()), wins.size, of_pool(rate, seen))
            rows.append(row)
    return tuple(rows)


def share_seen(record: AgentPairs, pool: int | None) -> float:
    """Return the share of a pool's openings from which an agent met each of its opponents; 0 without a pool."""
    if not pool or not record.opening.size:
        return 0.0
    cells = np.unique(np.stack([record.opponent, record.opening]), axis=1).shape[1]
    return float(cells / (np.unique(record.opponent).size * pool))


def _opening_rate(cluster: Ints, wins: Ints, games: Ints, opponents: int = 1) -> Interval:
    if not wins.size:
        return rate_interval([], [])
    _, unit = np.unique(cluster, return_inverse=True)
    won, played = np.bincount(unit, wins), np.bincount(unit, games)
    return rate_interval(won, played, float(opponents))
