"""SPRT of a contender, live and from a log.

The stop rule of a running tournament and the report on its log both use this module, so that their decisions cannot
differ.
"""

from __future__ import annotations

import numpy as np

from ..argument_checks import Floats, Ints
from ..game_pairs import AgentPairs
from .sprt import Sprt, SprtPath, sprt_path


def duel_path(
    own: AgentPairs, baseline: int, low: float, high: float, alpha: float = 0.05, beta: float = 0.05,
    model: str = "logistic",
) -> SprtPath:  # fmt: skip
    """Return the test of a contender head to head: its pairs with opponent number `baseline`.

    `low` and `high` are Elo differences by the `model`, logistic or normalized; an outcome is the games won of a pair,
    0, 1 or 2.
    """
    return sprt_path(own.wins[own.opponent == baseline], Sprt(low, high, alpha, beta, model))


def gauntlet_path(
    own: AgentPairs, base: AgentPairs, low: float, high: float, alpha: float = 0.05, beta: float = 0.05,
    control: AgentPairs | None = None,
) -> SprtPath:  # fmt: skip
    """Return the test of a contender compared with the baseline, from the `opening_leads`.

    `low` and `high` are differences of the win rate in percentage points; an outcome is a lead plus the largest
    possible lead, so that outcomes start at 0. `control` holds what the baseline played under another name, from
    openings of its own.
    """
    leads, most = opening_leads(own, base, control)
    test = Sprt((1 + low / 100) / 2, (1 + high / 100) / 2, alpha, beta, model="score")
    return sprt_path(leads + most, test, 2 * most + 1)


def opening_leads(own: AgentPairs, base: AgentPairs, control: AgentPairs | None = None) -> tuple[Ints | Floats, int]:
    """Return the lead over the baseline in games won for each finished opening, and the largest possible lead.

    Only common opponents count: against others, such as each other, there is no result to compare with. An opening is
    finished when both have played it against all of them. It counts once: if an opponent was met from it several times,
    the first pair counts. Openings are in the order in which the contender met them.

    With a `control` the first opening is compared with the mean of the baseline's result on it and the control's result
    on its own first opening, the second opening with those of both seconds, and so on. The baseline's weight is a half
    plus half the slope of the contender's wins on its own over the previous openings. The weight is therefore known
    before an opening is evaluated, and is 1 for agents that play identically.
    """
    shared = np.intersect1d(own.opponent, base.opponent)
    if not shared.size:
        return np.empty(0, np.int64), 2
    common = np.isin(own.opening, base.opening)
    contender, other = (_first_wins(record, _in_order(own.opening[common]), shared) for record in (own, base))
    finished = (contender >= 0).all(axis=1) & (other >= 0).all(axis=1)
    won, usual = contender[finished].sum(axis=1), other[finished].sum(axis=1)
    if control is None:
        return won - usual, 2 * shared.size
    elsewhere = _first_wins(control, _in_order(control.opening), shared)
    elsewhere = elsewhere[(elsewhere >= 0).all(axis=1)].sum(axis=1)[: won.size]
    share = (1 + _slopes_before(won, usual)[: elsewhere.size]) / 2
    expected = usual.astype(np.float64)
    expected[: elsewhere.size] = share * usual[: elsewhere.size] + (1 - share) * elsewhere
    return won - expected, 2 * shared.size


def _slopes_before(won: Ints, usual: Ints) -> Floats:
    """Return, for each opening, the slope of the wins on the baseline's over all previous openings, in [0, 1]."""
    # By least squares; 1 if the baseline won equally often in all of them.
    before = np.arange(won.size)
    sums = [np.cumsum(values) - values for values in (won, usual, usual * won, usual * usual)]
    of_won, of_usual, together, squares = sums
    # whole numbers, so that rounding cannot hide that nothing varies
    spread, common = before * squares - of_usual**2, before * together - of_won * of_usual
    return np.clip(np.divide(common, spread, out=np.ones(won.size), where=spread > 0), 0, 1)


def _in_order(openings: Ints) -> Ints:
    distinct, first = np.unique(openings, return_index=True)
    return distinct[np.argsort(first)]


def _first_wins(record: AgentPairs, openings: Ints, opponents: Ints) -> Ints:
    """Return games won in the first pair of each opening (row) and opponent (column); −1 if there is none."""
    wins = np.full((openings.size, opponents.size), -1)
    chosen = np.flatnonzero(np.isin(record.opening, openings) & np.isin(record.opponent, opponents))[::-1]
    order = np.argsort(openings)
    row = order[np.searchsorted(openings, record.opening[chosen], sorter=order)]
    column = np.searchsorted(opponents, record.opponent[chosen])
    # the last value written to a cell stays, so pairs are processed in reverse
    wins[row, column] = record.wins[chosen]
    return wins
