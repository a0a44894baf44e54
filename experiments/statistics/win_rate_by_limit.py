"""Win rates of an agent over its limits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..inference.cluster_intervals import Interval
from ..inference.standings import standings
from .run_results import RunResults

UNITS = {"nodes": "nodes a move", "depth": "depth in plies", "ms": "ms a move", "cpu_ms": "CPU ms a move"}
"""Units of limits in words."""


@dataclass(frozen=True)
class AtLimit:
    """Win rate of an agent under one limit, in units of it; `kind` is the agent without its limit."""

    kind: str
    name: str
    is_baseline: bool
    unit: str
    limit: float
    rate: Interval


def by_limit(runs: Sequence[RunResults]) -> list[tuple[AtLimit, ...]]:
    """Return the win rates of each kind of agent by ascending limit, best at its highest limit first.

    Runs are evaluated separately, each with its own opponents. Only limits of the commonest unit count; controls are
    left out.
    """
    points = [point for run in runs for point in _points(run)]
    units = [point.unit for point in points]
    commonest = max(dict.fromkeys(units), key=units.count, default="")
    lines: dict[str, list[AtLimit]] = {}
    for point in sorted(points, key=lambda point: point.limit):
        if point.unit == commonest:
            lines.setdefault(point.kind, []).append(point)
    return sorted(map(tuple, lines.values()), key=lambda line: -line[-1].rate.estimate)


def _points(run: RunResults) -> Iterator[AtLimit]:
    for standing in standings(run.pairs):
        facts, is_known = run.agents.get(standing.agent), not math.isnan(standing.rate.estimate)
        is_measured = standing.agent in run.measured and is_known
        if facts and facts.limit and is_measured and "control" not in facts.roles:
            unit, value = facts.limit
            name = standing.agent.partition("@")[0]
            yield AtLimit(facts.apart_from_limit, name, standing.agent == run.baseline, unit, value, standing.rate)
