"""Win rates: overall, by opponent, by side, and by colour of the opening."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .argument_checks import Ints
from .cluster_intervals import Interval, of_pool, rate_interval
from .game_pairs import AgentPairs, PairTable, record_of
from .pair_intervals import PairCounts, count_pairs


@dataclass(frozen=True)
class Matchup:
    """Results of one agent against one opponent. `wins` and `games` count all games, `pairs` and `rate` complete pairs.

    The interval of `rate` is over clusters of openings; if each holds a single pair it equals that of `pair_intervals`.
    """

    agent: str
    opponent: str
    wins: int
    games: int
    pairs: PairCounts
    rate: Interval


@dataclass(frozen=True)
class Standing:
    """Results of one agent against all its opponents.

    `wins` and `games` count all games; `rate` is the share of games won in complete pairs, with an interval over
    openings. `unfinished` pairs lack a game and are left out of `pairs` and `rate`.
    """

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


def matchups(table: PairTable, agent: str, confidence: float = 0.95) -> tuple[Matchup, ...]:
    """Return the results of `agent` against each opponent it met, by name."""
    mine = table.pairs_of(agent)
    is_first, opponent = _sides(table, agent, mine)
    games, complete, cluster = table.games[mine], table.complete[mine], table.cluster[mine]
    wins = np.where(is_first, table.wins[mine], games - table.wins[mine])
    rows = []
    for other in np.unique(opponent):
        chosen = opponent == other
        paired = chosen & complete
        rows.append(
            Matchup(
                agent=agent,
                opponent=table.agents[other],
                wins=int(wins[chosen].sum()),
                games=int(games[chosen].sum()),
                pairs=count_pairs(wins[paired]),
                rate=_opening_rate(cluster[paired], wins[paired], games[paired], confidence),
            )
        )
    return tuple(rows)


def standings(
    table: PairTable, confidence: float = 0.95, pools: Mapping[str, int | None] | None = None
) -> tuple[Standing, ...]:
    """Return every agent's result, best rate first; `pools` by agent, see `standing`."""
    results = [standing(table, agent, confidence, (pools or {}).get(agent)) for agent in table.agents]
    return tuple(sorted(results, key=lambda s: (-np.nan_to_num(s.rate.estimate, nan=-1.0), s.agent)))


def standing(table: PairTable, agent: str, confidence: float = 0.95, pool: int | None = None) -> Standing:
    """Return one agent's result.

    `pool` is the number of existing openings, if the agent and all its opponents are deterministic: then only the
    unplayed openings are uncertain.

    Raises:
        ValueError: the agent is not in the table.
    """
    mine = table.pairs_of(agent)
    is_first, _ = _sides(table, agent, mine)
    games, wins = table.games[mine], table.wins[mine]
    record = record_of(table, agent)
    opponents = np.unique(record.opponent).size
    rate = _opening_rate(record.cluster, record.wins, np.full(record.wins.size, 2), confidence, opponents)
    return Standing(
        agent=agent,
        wins=int(np.where(is_first, wins, games - wins).sum()),
        games=int(games.sum()),
        pairs=count_pairs(record.wins),
        unfinished=int(np.count_nonzero(~table.complete[mine])),
        openings=int(np.unique(record.opening).size),
        rate=of_pool(rate, share_seen(record, pool)),
    )


def splits(table: PairTable, agent: str, confidence: float = 0.95, pool: int | None = None) -> tuple[Split, ...]:
    """Return `agent`'s games by side and colour of the opening, unfinished pairs included; `pool` as in `standing`."""
    mine = table.pairs_of(agent)
    is_first, opponent = _sides(table, agent, mine)
    cluster, is_same = table.cluster[mine], table.same_colour[mine]
    sides = (table.won_placing_first[mine], table.won_placing_second[mine])
    seen = share_seen(record_of(table, agent), pool)
    rows = []
    for placed_first in (True, False):
        own, others = sides if placed_first else sides[::-1]
        # the opponent placed first exactly when this agent placed second, and won exactly when this agent lost
        won = np.where(is_first, own, np.where(others >= 0, 1 - others, -1))
        for same_colour in (True, False):
            chosen = (is_same == same_colour) & (won >= 0)
            wins = won[chosen].astype(np.int64)
            opponents = np.unique(opponent[chosen]).size
            rate = _opening_rate(cluster[chosen], wins, np.ones(wins.size, np.int64), confidence, opponents)
            rate = of_pool(rate, seen)
            rows.append(Split(agent, placed_first, same_colour, int(wins.sum()), wins.size, rate))
    return tuple(rows)


def _sides(table: PairTable, agent: str, pairs: Ints) -> tuple[npt.NDArray[np.bool_], Ints]:
    """Return for each of an agent's pairs whether the agent is `first`, and the number of the other agent."""
    first, second = table.first[pairs], table.second[pairs]
    is_first = first == table.code(agent)
    return is_first, np.where(is_first, second, first)


def share_seen(record: AgentPairs, pool: int | None) -> float:
    """Return the share of a pool's openings from which an agent met each of its opponents; 0 without a pool."""
    if not pool or not record.opening.size:
        return 0.0
    cells = np.unique(np.stack([record.opponent, record.opening]), axis=1).shape[1]
    return float(cells / (np.unique(record.opponent).size * pool))


def _opening_rate(cluster: Ints, wins: Ints, games: Ints, confidence: float, opponents: int = 1) -> Interval:
    if not wins.size:
        return rate_interval([], [], 1.0, confidence)
    _, unit = np.unique(cluster, return_inverse=True)
    won, played = np.bincount(unit, wins), np.bincount(unit, games)
    return rate_interval(won, played, float(opponents), confidence)
