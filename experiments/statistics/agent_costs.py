"""Costs per node of a run's agents, as measured when it began."""

from __future__ import annotations

from experiments.statistics.run_results import RunResults
from isolation.checks.search_cost import Cost


def node_costs(findings: RunResults) -> dict[str, Cost]:
    """The costs of all agents of which a run knows it, over whatever that run measured them against."""
    costs: dict[str, Cost] = {}
    for source in findings.sources:
        for name, cost in source.info.processor_costs.items():
            costs.setdefault(source.names[name], cost)
    return costs


def relative_costs(findings: RunResults) -> dict[str, Cost]:
    """The costs over the baseline's, of the agents of which a run knows both."""
    costs: dict[str, Cost] = {}
    for source in findings.sources:
        known = {source.names[name]: cost for name, cost in source.info.processor_costs.items()}
        if usual := known.get(findings.baseline or ""):
            costs = {name: cost.over(usual) for name, cost in known.items()} | costs
    return costs
