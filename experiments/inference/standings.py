"""Who won how much: overall, against whom, and by side and colour of the opening."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.inference.arguments import Ints
from experiments.inference.clusters import Interval, rate_interval
from experiments.inference.pairing import PairTable, record_of
from experiments.inference.pairs import PairCounts, count_pairs


@dataclass(frozen=True)
class Matchup:
    """One agent against one opponent. `wins` and `games` count all games, `pairs` and `rate` complete pairs.

    The interval of `rate` is over clusters of openings; where each holds a single pair it is that of `pairs`.
    """

    agent: str
    opponent: str
    wins: int
    games: int
    pairs: PairCounts
    rate: Interval


@dataclass(frozen=True)
class Standing:
    """One agent against everybody it met.

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
    """One agent's games when it placed first or second, from openings on cells of the same or of different colour."""

    agent: str
    placed_first: bool
    same_colour: bool
    wins: int
    games: int
    rate: Interval


def matchups(table: PairTable, agent: str, confidence: float = 0.95) -> tuple[Matchup, ...]:
    """`agent` against each opponent it met, by name."""
    code = table.code(agent)
    mine = (table.first == code) | (table.second == code)
    opponent = np.where(table.first == code, table.second, table.first)
    wins = np.where(table.first == code, table.wins, table.games - table.wins)
    found = []
    for other in np.unique(opponent[mine]):
        chosen = mine & (opponent == other)
        paired = chosen & table.complete
        found.append(
            Matchup(
                agent=agent,
                opponent=table.agents[other],
                wins=int(wins[chosen].sum()),
                games=int(table.games[chosen].sum()),
                pairs=count_pairs(wins[paired]),
                rate=_opening_rate(table.cluster[paired], wins[paired], table.games[paired], confidence),
            )
        )
    return tuple(found)


def standings(table: PairTable, confidence: float = 0.95) -> tuple[Standing, ...]:
    """Every agent's result, best rate first."""
    results = [_standing(table, agent, confidence) for agent in table.agents]
    return tuple(sorted(results, key=lambda s: (-np.nan_to_num(s.rate.estimate, nan=-1.0), s.agent)))


def _standing(table: PairTable, agent: str, confidence: float) -> Standing:
    code = table.code(agent)
    as_first, as_second = table.first == code, table.second == code
    mine = as_first | as_second
    record = record_of(table, agent)
    opponents = np.unique(record.opponent).size
    rate = _opening_rate(record.cluster, record.wins, np.full(record.wins.size, 2), confidence, opponents)
    return Standing(
        agent=agent,
        wins=int(table.wins[as_first].sum() + (table.games - table.wins)[as_second].sum()),
        games=int(table.games[mine].sum()),
        pairs=count_pairs(record.wins),
        unfinished=int(np.count_nonzero(mine & ~table.complete)),
        openings=int(np.unique(record.opening).size),
        rate=rate,
    )


def splits(table: PairTable, agent: str, confidence: float = 0.95) -> tuple[Split, ...]:
    """`agent`'s games by side and colour of the opening, unfinished pairs included."""
    code = table.code(agent)
    is_first, is_second = table.first == code, table.second == code
    found = []
    for placed_first in (True, False):
        own, others = (
            (table.won_placing_first, table.won_placing_second)
            if placed_first
            else (table.won_placing_second, table.won_placing_first)
        )
        # the opponent placed first exactly when this agent placed second, and won when it did not
        won = np.where(is_first, own, np.where(others >= 0, 1 - others, -1))
        for same_colour in (True, False):
            chosen = (is_first | is_second) & (table.same_colour == same_colour) & (won >= 0)
            wins = won[chosen].astype(np.int64)
            opponents = np.unique(np.where(is_first, table.second, table.first)[chosen]).size
            rate = _opening_rate(table.cluster[chosen], wins, np.ones(wins.size, np.int64), confidence, opponents)
            found.append(Split(agent, placed_first, same_colour, int(wins.sum()), wins.size, rate))
    return tuple(found)


def _opening_rate(cluster: Ints, wins: Ints, games: Ints, confidence: float, opponents: int = 1) -> Interval:
    if not wins.size:
        return rate_interval([], [], 1.0, confidence)
    _, unit = np.unique(cluster, return_inverse=True)
    won, played = np.bincount(unit, wins), np.bincount(unit, games)
    return rate_interval(won, played, float(opponents), confidence)
