"""Stop rules: contenders play no further once their test is decided."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from ..plan.schedule import checkpoints
from ..plan.tournament_plan import Plan, having
from .pools.pool import Stop


def stop_rule(plan: Plan) -> Stop | None:
    """Return the rule by which a plan's contenders stop early, if there is one."""
    return _best_of_rule(plan) if plan.config.format == "best-of" else sprt_rule(plan)


def _best_of_rule(plan: Plan) -> Stop:
    """Return a rule that stops contenders that have dropped out, and all matches once a single contender is left."""
    # The rule uses openings: the share of points that a contender won from one, against all opponents.
    schedule, contenders = plan.schedule, having(plan.entrants, "contender")
    first = np.array([match.first for match in schedule.matches])
    populations = {match.population for match in schedule.matches}
    pool = populations.pop() if len(populations) == 1 else 0

    def decided(pairs: NDArray[np.int8]) -> Collection[int]:
        from ..statistics.elimination import elimination_times

        points = np.where(pairs < 0, np.nan, pairs / 2)
        shares = np.stack([points[:, first == contender].mean(axis=1) for contender in contenders], axis=1)
        after = elimination_times(shares, checkpoints(schedule.rounds), pool=pool or None)
        if np.count_nonzero(after == 0) == 1:
            return range(len(schedule.matches))
        return np.flatnonzero(np.isin(first, np.array(contenders)[after > 0])).tolist()

    return decided


def sprt_rule(plan: Plan) -> Stop | None:
    """Return the sequential test of the plan's `sprt`, for each contender separately; None if it has none.

    Head to head the two values are Elo differences to the baseline, and the test uses pairs. In a gauntlet they are
    differences of win rate to the baseline in percentage points, and the test uses openings: all games a contender
    played from one, against the opponents it shares with the baseline, minus the baseline's, including the control's if
    it counts as the baseline. A decided contender stops in all its matches; those in which it is an opponent of another
    contender continue.
    """
    if plan.config.sprt is None:
        return None

    def decided(pairs: NDArray[np.int8]) -> Collection[int]:
        from ..statistics.sequential_tests import sprt_paths

        stopped = {contender for contender, path in sprt_paths(plan, pairs).items() if path.decision}
        return [index for index, match in enumerate(plan.schedule.matches) if match.first in stopped]

    return decided
