"""Equal cost: node limits that give every contender the time the baseline needs, as the classic clock did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.design import Entrant, Plan, make_plan
from experiments.roster import Spec
from isolation.faults import told
from isolation.limits import Limit

if TYPE_CHECKING:
    from isolation.agents import Agent

Measure = Callable[["Agent", str], float]
"""Nodes per second of an agent on a board of that size, on this machine, now."""


FEWEST_NODES = 50
"""With fewer a move, a search sees little more than the next ply."""


def at_equal_cost(plan: Plan, measure: Measure) -> tuple[Plan, dict[str, float]]:
    """The plan with each contender's node limit scaled by its speed over the baseline's, and the speeds measured.

    The limits are fixed numbers from here on, so that the run means the same when it is resumed or repeated.

    Raises:
        ValueError: there is no baseline, an agent to be scaled is not limited by nodes, or its code fails.
    """
    baseline, contenders = check_scalable(plan)
    speeds = {entrant.agent.name: _speed(entrant, plan, measure) for entrant in (baseline, *contenders)}
    fixed = [_scaled(entrant, speeds[entrant.agent.name] / speeds[baseline.agent.name]) for entrant in contenders]
    update = {"contenders": tuple(str(spec) for spec in fixed), "equal_cost": False}
    scaled = make_plan(plan.config.model_copy(update=update))
    return replace(scaled, notes=scaled.notes + _warnings(fixed)), speeds


def check_scalable(plan: Plan) -> tuple[Entrant, list[Entrant]]:
    """The baseline and the contenders of a plan whose limits can be scaled.

    Raises:
        ValueError: there is no baseline, or an agent to be scaled is not limited by nodes.
    """
    baseline = next((entrant for entrant in plan.entrants if "baseline" in entrant.roles), None)
    if baseline is None:
        raise ValueError("equal_cost needs a baseline to measure against")
    contenders = [entrant for entrant in plan.entrants if "contender" in entrant.roles]
    for entrant in (baseline, *contenders):
        if entrant.spec.limit is None or entrant.spec.limit.nodes is None:
            raise ValueError(f"equal_cost scales node limits, and {entrant.agent.name} has none")
    return baseline, contenders


def _speed(entrant: Entrant, plan: Plan, measure: Measure) -> float:
    try:
        return measure(entrant.agent, plan.schedule.size)
    except Exception as error:
        raise ValueError(f"equal_cost cannot measure {entrant.agent.name}: {told(error)}") from error


def _scaled(entrant: Entrant, factor: float) -> Spec:
    nodes = entrant.spec.limit.nodes if entrant.spec.limit else None
    assert nodes is not None
    return replace(entrant.spec, limit=Limit(nodes=max(1, round(nodes * factor))))


def _warnings(specs: Sequence[Spec]) -> tuple[str, ...]:
    return tuple(
        f"{spec.name} gets no more than {spec.limit.nodes} nodes a move at equal cost: that says how slow its "
        "heuristic is, and little of how good"
        for spec in specs
        if spec.limit and spec.limit.nodes and spec.limit.nodes < FEWEST_NODES
    )
