"""Costs per node of a run's agents, as measured when it began."""

from __future__ import annotations

from knights_isolation.isolation.checks.search_cost import Cost

from .run_results import RunResults


def node_costs(findings: RunResults) -> dict[str, Cost]:
    """Return the costs of all agents whose runs know them, relative to the reference agent of each run."""
    costs: dict[str, Cost] = {}
    for source in findings.sources:
        for name, cost in source.info.processor_costs.items():
            costs.setdefault(source.names[name], cost)
    return costs


def relative_costs(findings: RunResults) -> dict[str, Cost]:
    """Return the costs relative to the baseline's, for agents whose run knows both."""
    costs: dict[str, Cost] = {}
    for source in findings.sources:
        known = {source.names[name]: cost for name, cost in source.info.processor_costs.items()}
        if usual := known.get(findings.baseline or ""):
            costs = {name: cost.over(usual) for name, cost in known.items()} | costs
    return costs
