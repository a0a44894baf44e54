"""Equal cost: node limits that give every contender the time the baseline needs, as the classic clock did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.design import Entry, Plan, make_plan
from isolation.limits import Limit

if TYPE_CHECKING:
    from isolation.agents import Agent

Measure = Callable[["Agent", str], float]
"""Nodes per second of an agent on a board of that size, on this machine, now."""


def at_equal_cost(plan: Plan, measure: Measure) -> tuple[Plan, dict[str, float]]:
    """The plan with each contender's node limit scaled by its speed over the baseline's, and the speeds measured.

    The limits are fixed numbers from here on, so that the run means the same when it is resumed or repeated.

    Raises:
        ValueError: there is no baseline, or an agent to be scaled is not limited by nodes.
    """
    baseline = next((entry for entry in plan.entries if "baseline" in entry.roles), None)
    if baseline is None:
        raise ValueError("equal_cost needs a baseline to measure against")
    contenders = [entry for entry in plan.entries if "contender" in entry.roles]
    for entry in (baseline, *contenders):
        if entry.spec.limit is None or entry.spec.limit.nodes is None:
            raise ValueError(f"equal_cost scales node limits, and {entry.agent.name} has none")
    speeds = {entry.agent.name: measure(entry.agent, plan.schedule.size) for entry in (baseline, *contenders)}
    fixed = tuple(str(_scaled(entry, speeds[entry.agent.name] / speeds[baseline.agent.name])) for entry in contenders)
    return make_plan(plan.config.model_copy(update={"contenders": fixed, "equal_cost": False})), speeds


def _scaled(entry: Entry, factor: float) -> object:
    nodes = entry.spec.limit.nodes if entry.spec.limit else None
    assert nodes is not None
    return replace(entry.spec, limit=Limit(nodes=max(1, round(nodes * factor))))
