"""Costs in cells and sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from knights_isolation.experiments.roster import Spec, make_agent
from knights_isolation.experiments.statistics.agent_results import node_costs, relative_costs
from knights_isolation.experiments.statistics.run_results import RunResults
from knights_isolation.isolation.checks.search_cost import STEADY, Cost

from ..text.cell_values import Estimate, Ratio, join_names


def cost_cell(costs: Mapping[str, Cost], name: str) -> Estimate:
    """Return CPU time per node relative to the baseline's, with its interval; NaN if it was not measured."""
    cost = costs.get(name)
    return times_cell(cost) if cost else Estimate(*[Ratio(math.nan)] * 3)


def times_cell(cost: Cost) -> Estimate:
    """Return a cost ratio with its interval."""
    return Estimate(Ratio(cost.times), Ratio(cost.low), Ratio(cost.high))


def cost_sentence(costs: Mapping[str, Cost], names: Sequence[str], when: str = "when the run began") -> str:
    """Explain cost, and name the agents whose cost is unreliable or unknown; empty without agents."""
    if not names:
        return ""
    if not any(name in costs for name in names):
        return "Cost: not measured; only agents that search by nodes are measured, when a run begins."
    unsteady = [name for name in names if name in costs and not costs[name].is_steady]
    unknown = any(name not in costs for name in names)
    return (
        f"Cost: CPU time per node relative to the baseline, measured in alternation {when}, with 95 % intervals"
        f"{'; –: not measured' if unknown else ''}."
        f"{f' Unreliable, with a spread above {100 * STEADY:.0f} %: {join_names(unsteady)}.' if unsteady else ''}"
    )


def cost_words(cost: Cost | str, reference: str) -> str:
    """Format a cost, such as 8.24 ns, 2.26 × (2.24 to 2.29) that of improved; or why it is unknown."""
    if isinstance(cost, str):
        return f"not measured: {cost}"
    amount = cost.nanoseconds if cost.nanoseconds < 1000 else cost.nanoseconds / 1000
    unit = "ns" if cost.nanoseconds < 1000 else "µs"
    unsteady = "" if cost.is_steady else f", unreliable with a spread of {100 * cost.spread:.0f} %"
    return f"{amount:.3g} {unit} of CPU time, {times_cell(cost).text} that of {reference}{unsteady}"


def equal_cost_sentences(findings: RunResults) -> list[str]:
    """Return the most important facts about runs at equal cost: each agent's nodes per move, and their basis."""
    if not any(source.info.requested.get("equal_cost") for source in findings.sources):
        return []
    costs = relative_costs(findings) or node_costs(findings)
    limited = [
        (name, f"{facts.limit[1]:,.0f} nodes")
        for name, facts in findings.agents.items()
        if facts.limit and facts.limit[0] == "nodes" and {"baseline", "contender"} & set(facts.roles)
    ]
    if not costs:
        nodes = ", ".join(f"{name} {nodes}" for name, nodes in limited)
        return [f"At equal cost by wall time (as older versions measured it, possibly inaccurate): {nodes} per move."]
    nodes = "; ".join(f"{name} {nodes}{_times(costs.get(name), name == findings.baseline)}" for name, nodes in limited)
    return [f"At equal cost by CPU time per node, measured when the run began: {nodes} per move."]


def scaled_sentence(scaled: Spec, cost: Cost, opponent: Spec) -> str:
    """Return the limit at which an agent takes the time of its opponent, and what its nodes cost."""
    agent, other = (f"{make_agent(spec).name} {spec.limit}" for spec in (scaled, opponent))
    return f"At equal cost by CPU time per node, measured now: {other}; {agent}{_times(cost, False)}."


def _times(cost: Cost | None, is_baseline: bool) -> str:
    if cost is None or is_baseline:
        return ""
    return f" (a node costs {Ratio(cost.times).text}, spread {100 * cost.spread:.1f} %)"
