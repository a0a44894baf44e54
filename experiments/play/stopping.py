"""Stop rules: a contender whose sequential test is decided plays no further."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from experiments.design import Plan
from experiments.play.batches import Stop


def sprt_rule(plan: Plan) -> Stop | None:
    """The sequential test of the plan's `sprt`, for each contender by itself; None if it has none.

    Head to head the two values are Elo differences to the baseline, and the test reads pairs. In a gauntlet they are
    differences of win rate to the baseline in percentage points, and the test reads openings: all games a contender
    played from one, against all opponents, minus the baseline's.
    """
    if plan.config.sprt is None:
        return None
    low, high = plan.config.sprt
    if plan.config.format == "head-to-head":
        return _against_the_baseline(low, high)
    return _beside_the_baseline(plan, low / 100, high / 100)


def _against_the_baseline(low: float, high: float) -> Stop:
    from experiments.inference.sequential import Sprt, sprt_path

    test = Sprt(low, high)

    def decided(pairs: NDArray[np.int8]) -> Collection[int]:
        columns = [column[column >= 0] for column in pairs.T]
        return [match for match, points in enumerate(columns) if sprt_path(points, test).decision]

    return decided


def _beside_the_baseline(plan: Plan, low: float, high: float) -> Stop:
    from experiments.inference.sequential import Sprt, sprt_path

    test = Sprt((1 + low) / 2, (1 + high) / 2, model="score")
    matches = {place: _matches_of(plan, place) for place in range(len(plan.entrants))}
    (baseline,) = (place for place, entrant in enumerate(plan.entrants) if "baseline" in entrant.roles)
    contenders = [place for place, entrant in enumerate(plan.entrants) if "contender" in entrant.roles]

    def decided(pairs: NDArray[np.int8]) -> Collection[int]:
        stopped: list[int] = []
        for contender in contenders:
            both = pairs[:, [*matches[contender], *matches[baseline]]]
            met = both[(both >= 0).all(axis=1)].astype(np.int64)
            most = 2 * len(matches[contender])
            lead = met[:, : len(matches[contender])].sum(axis=1) - met[:, len(matches[contender]) :].sum(axis=1)
            if sprt_path(lead + most, test, 2 * most + 1).decision:
                stopped += matches[contender]
        return stopped

    return decided


def _matches_of(plan: Plan, place: int) -> list[int]:
    return [number for number, match in enumerate(plan.schedule.matches) if match.first == place]
