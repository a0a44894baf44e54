"""The sequential test of a contender: what it reads of the contender's games and the baseline's, and which it is.

The stop rule of a running tournament and the report on its log both ask here, so that they cannot come to different
decisions.
"""

from __future__ import annotations

import numpy as np

from experiments.inference.arguments import Ints
from experiments.inference.pairing import Record
from experiments.inference.sequential import Sprt, SprtPath, sprt_path


def duel_path(own: Record, baseline: int, low: float, high: float, alpha: float = 0.05, beta: float = 0.05) -> SprtPath:
    """The test of a contender head to head: its pairs with `baseline`, the opponent of that number.

    `low` and `high` are Elo differences; an outcome is the games won of a pair, 0, 1 or 2.
    """
    return sprt_path(own.wins[own.opponent == baseline], Sprt(low, high, alpha, beta))


def gauntlet_path(
    own: Record, base: Record, low: float, high: float, alpha: float = 0.05, beta: float = 0.05
) -> SprtPath:
    """The test of a contender beside the baseline, by the `opening_leads`.

    `low` and `high` are differences of the win rate in percentage points; an outcome is a lead plus the largest lead
    there can be, so that it counts from 0.
    """
    leads, most = opening_leads(own, base)
    test = Sprt((1 + low / 100) / 2, (1 + high / 100) / 2, alpha, beta, model="score")
    return sprt_path(leads + most, test, 2 * most + 1)


def opening_leads(own: Record, base: Record) -> tuple[Ints, int]:
    """For each finished opening, games won more than the baseline, and the largest lead there can be.

    Only opponents that both have met count: against another, such as each other, one of the two has no result to
    compare. An opening is finished when both have played it against all of these. It counts once: where an opponent was
    met from it several times, the first pair does. Openings come in the order in which the contender met them.
    """
    shared = np.intersect1d(own.opponent, base.opponent)
    if not shared.size:
        return np.empty(0, np.int64), 2
    openings, first = np.unique(own.opening[np.isin(own.opening, base.opening)], return_index=True)
    openings = openings[np.argsort(first)]
    one, other = (_first_wins(record, openings, shared) for record in (own, base))
    finished = (one >= 0).all(axis=1) & (other >= 0).all(axis=1)
    return (one - other)[finished].sum(axis=1), 2 * shared.size


def _first_wins(record: Record, openings: Ints, opponents: Ints) -> Ints:
    """Games won of the first pair from each opening (row) against each opponent (column); −1 where there is none."""
    wins = np.full((openings.size, opponents.size), -1)
    chosen = np.flatnonzero(np.isin(record.opening, openings) & np.isin(record.opponent, opponents))[::-1]
    order = np.argsort(openings)
    row = order[np.searchsorted(openings, record.opening[chosen], sorter=order)]
    column = np.searchsorted(opponents, record.opponent[chosen])
    # the last value written to a cell stays, so pairs are gone through backwards
    wins[row, column] = record.wins[chosen]
    return wins
