"""Compile a plan's agents and measure their costs in the workers that will play; equal-cost limits.

Equal-cost limits are node limits at which every contender takes as much time as the baseline. ValueError is raised if
there is no baseline, or if an agent to be scaled is not limited by nodes or its code fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from knights_isolation.isolation.checks.search_cost import Cost, measure_costs
from knights_isolation.isolation.players.agents import code_hash
from knights_isolation.isolation.rules.limits import Limit
from knights_isolation.isolation.usercode.user_exceptions import format_exception

from ...plan.tournament_plan import Entrant, Plan, make_plan
from ...roster import Spec, make_agent
from .game_worker import GameWorker
from .interrupts import Interrupted
from .pool import TICK, Answered, Died, Failed, Pool

if TYPE_CHECKING:
    from knights_isolation.isolation.players.agents import Agent

Costs = Mapping[str, Cost | str]
"""Costs of agents by name, or the reasons why they have none."""
Measure = Callable[[Sequence[str]], Costs]
"""Measures the costs of agents by name, relative to the first."""


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


def at_equal_cost(plan: Plan, measure: Measure) -> tuple[Plan, dict[str, Cost]]:
    """Scale contenders' node limits to equal cost; return the plan and all costs.

    Each limit is divided by the contender's cost per node relative to the baseline's.

    The limits are fixed numbers from then on, so that the run means the same when it is resumed or repeated.
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


def specs_at_equal_cost(specs: Sequence[Spec], size: str) -> tuple[list[Spec], list[Cost]]:
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


Sharers = tuple[int, ...]
"""Agents, by their indices in the plan, that share compiled code: two processes must not both compile it."""

_DIED = "its process died during compilation and checks"


@dataclass(frozen=True)
class Kit:
    """Code to compile for a plan: groups of agents that share code, and the agents' names."""

    sharers: tuple[Sharers, ...]
    names: tuple[str, ...]


def kit_of(agents: Sequence[Agent], settings: Sequence[str]) -> Kit:
    """Return the code to compile for some agents with their settings."""
    agents_by_code: dict[str, list[int]] = {}
    for index, (agent, text) in enumerate(zip(agents, settings, strict=True)):
        agents_by_code.setdefault(code_hash(agent.heuristic) if agent.heuristic else text, []).append(index)
    # The empty group stands for the loop that plays games of compiled agents.
    games = [()] if any(agent.is_compilable for agent in agents) else []
    return Kit((*games, *map(tuple, agents_by_code.values())), tuple(agent.name for agent in agents))


def kit_in(worker: GameWorker) -> Kit:
    """Return the code to compile for a worker's task."""
    return kit_of(worker.agents, worker.task.settings)


def prepare(
    pool: Pool, kit: Kit, jobs: int, interrupted: Interrupted, report: Callable[[str, dict[int, str]], None]
) -> dict[int, str]:
    """Compile or load every agent, `jobs` at a time; return the reasons of those that run interpreted, by index.

    `report` is called with the names of the agents in progress, and the reasons so far.

    Raises:
        ValueError: compiled code cannot be kept, or a user's file has changed since the plan was made.
    """
    interpreted: dict[int, str] = {}
    suspects = _compile(pool, kit, kit.sharers, jobs, interrupted, report, interpreted)
    for sharers in suspects:
        if _compile(pool, kit, [sharers], 1, interrupted, report, interpreted):
            interpreted |= _refuse(pool, sharers, interrupted)
    return dict(sorted(interpreted.items()))


def measure_in(pool: Pool, names: Sequence[str], interrupted: Interrupted) -> Costs:
    """Measure the costs of the agents of the pool's plan, relative to the first, in one of its workers.

    None once `interrupted`.
    """
    pool.call(GameWorker.measure_costs, tuple(names))
    while not interrupted():
        for event in pool.finished(TICK):
            match event:
                case Answered(_, costs):
                    return dict(costs)
                case Failed(error):
                    return dict.fromkeys(names, format_exception(error))
                case Died():
                    return dict.fromkeys(names, "the process measuring the agents died")
    return {}


def _compile(
    pool: Pool,
    kit: Kit,
    waiting: Sequence[Sharers],
    jobs: int,
    interrupted: Interrupted,
    report: Callable[[str, dict[int, str]], None],
    reasons: dict[int, str],
) -> list[Sharers]:
    """Compile agents, adding to `reasons`; return those that were being compiled when a worker died."""
    left, lost = list(waiting), []
    out: dict[int, Sharers] = {}
    while (left or out) and not interrupted():
        while left and len(out) < jobs:
            sharers = left.pop(0)
            out[pool.call(GameWorker.compile_agents, sharers)] = sharers
        report(_names(kit, out.values()), reasons)
        for event in pool.finished(TICK):
            match event:
                case Answered(call, interpreted):
                    del out[call]
                    reasons |= interpreted
                case Failed(error):
                    raise error
                case Died(calls=calls):
                    lost += [out.pop(call) for call in calls]
    return lost


def _names(kit: Kit, under_way: Iterable[Sharers]) -> str:
    return ", ".join(kit.names[sharers[0]] if sharers else "games" for sharers in under_way)


def _refuse(pool: Pool, sharers: Sharers, interrupted: Interrupted) -> dict[int, str]:
    pool.call(GameWorker.refuse_to_compile, sharers, _DIED)
    while pool.is_busy and not interrupted():
        for event in pool.finished(TICK):
            if isinstance(event, Failed):
                raise event.error
    return dict.fromkeys(sharers, _DIED)
