"""Equal cost: node limits at which every contender takes as much time as the baseline.

ValueError is raised if there is no baseline, or if an agent to be scaled is not limited by nodes or its code fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from knights_isolation.isolation.checks.search_cost import measure_costs
from knights_isolation.isolation.rules.game import Cost, Limit, Size

from ..plan import Spec, make_agent
from ..plan.tournament_plan import Entrant, Plan, make_plan

if TYPE_CHECKING:
    from .pools.recovery import Costs

FEWEST_NODES = 50
"""Minimum node limit per move; with fewer nodes, a search hardly sees more than the next ply."""


def to_measure(plan: Plan) -> list[str]:
    """Return the names of a plan's agents, the reference first if there is one, since costs are relative to it."""
    reference = _reference(plan)
    return [entrant.agent.name for entrant in sorted(plan.entrants, key=lambda entrant: entrant is not reference)]


def _reference(plan: Plan) -> Entrant | None:
    """Return whose time contenders are given: the baseline, or in a best-of, which has none, the first of them."""
    role = "contender" if plan.config.format == "best-of" else "baseline"
    return next((entrant for entrant in plan.entrants if role in entrant.roles), None)


def measured(costs: Costs) -> dict[str, Cost]:
    """Return the costs that could be measured."""
    return {name: cost for name, cost in costs.items() if isinstance(cost, Cost)}


def at_equal_cost(plan: Plan, measure: Callable[[Sequence[str]], Costs]) -> tuple[Plan, dict[str, Cost]]:
    """Scale contenders' node limits to equal cost; return the plan and all costs.

    `measure` returns the costs of agents by name, relative to the first. Each limit is divided by the contender's cost
    per node relative to the baseline's, and is a fixed number from then on, so that the run means the same when it is
    resumed or repeated.
    """
    baseline, contenders = check_scalable(plan)
    costs = measure(to_measure(plan))
    known = measured(costs)
    for entrant in (baseline, *contenders):
        if entrant.agent.name not in known:
            raise ValueError(f"equal_cost cannot measure {entrant.agent.name}: {costs[entrant.agent.name]}")
    fixed = [_scaled(entrant.spec, known[entrant.agent.name].times) for entrant in contenders]
    update = {"contenders": tuple(str(spec) for spec in fixed), "equal_cost": False}
    scaled = make_plan(plan.config.model_copy(update=update))
    return replace(scaled, notes=scaled.notes + _warnings(fixed)), known


def specs_at_equal_cost(specs: Sequence[Spec], size: Size) -> tuple[list[Spec], list[Cost]]:
    """Return completed specs, all but the first with limits at which they take as much time as it, and their costs."""
    agents = [make_agent(spec) for spec in specs]
    for spec, agent in zip(specs, agents, strict=True):
        _check_nodes(spec, agent.name, "equal cost")
    costs: list[Cost] = []
    for agent, cost in zip(agents, measure_costs(agents, size), strict=True):
        if isinstance(cost, str):
            raise ValueError(f"equal cost cannot be had, as the cost of {agent.name} cannot be measured: {cost}")
        costs.append(cost)
    others = zip(specs[1:], agents[1:], costs[1:], strict=True)
    return [specs[0], *(replace(_scaled(spec, cost.times), name=agent.name) for spec, agent, cost in others)], costs


def check_scalable(plan: Plan) -> tuple[Entrant, list[Entrant]]:
    """Return the reference and the contenders of a plan whose limits can be scaled."""
    baseline = _reference(plan)
    if baseline is None:
        raise ValueError("equal_cost needs a baseline to measure against")
    contenders = [entrant for entrant in plan.entrants if "contender" in entrant.roles]
    for entrant in (baseline, *contenders):
        _check_nodes(entrant.spec, entrant.agent.name, "equal_cost")
    return baseline, contenders


def _check_nodes(spec: Spec, name: str, option: str) -> None:
    if spec.limit is None or spec.limit.nodes is None:
        raise ValueError(f"{option} scales node limits, but {name} has none")


def _scaled(spec: Spec, times: float) -> Spec:
    nodes = spec.limit.nodes if spec.limit else None
    assert nodes is not None
    return replace(spec, limit=Limit(nodes=scaled_nodes(nodes, times)))


def scaled_nodes(nodes: int, times: float) -> int:
    """Return how many nodes take as much time as `nodes` of the baseline, for a cost per node over the baseline's."""
    return max(1, round(nodes / times))


def _warnings(specs: Sequence[Spec]) -> tuple[str, ...]:
    return tuple(
        f"{spec.name} gets only {spec.limit.nodes} nodes per move at equal cost: the result mostly reflects how slow "
        f"its heuristic is"
        for spec in specs
        if spec.limit and spec.limit.nodes and spec.limit.nodes < FEWEST_NODES
    )
