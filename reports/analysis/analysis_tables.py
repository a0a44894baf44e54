"""The tables of an analysis."""

from __future__ import annotations

import math
from typing import Any

from experiments.analysis.analyse_file import Analysis
from experiments.inference.contenders.baseline_comparison import Comparison
from experiments.verdicts.contender_verdicts import judge
from isolation.checks.search_cost import Cost
from reports.analysis.verdict_sentences import interval_name
from reports.text.cell_values import Points, PValue, Ratio, Share, estimate_of
from reports.text.sections import Section

_COURSE_LIMIT = 150e6
"""Nanoseconds a move in the course."""


def verdict_table(analysis: Analysis) -> Section:
    """A row a function: the difference at equal nodes and at equal cost, with p-values."""
    rows = tuple(_verdict_row(analysis, name) for name in analysis.ranked)
    compared = [comparison for name in analysis.trials if (comparison := analysis.comparison(name, "nodes"))]
    if not compared:
        return Section("verdicts", "", rows)
    first = compared[0]
    note = (
        f"Difference: win rate less {first.baseline}'s, mean over the opponents, in percentage points. Intervals are "
        f"{interval_name(first)}; p-values are adjusted for the number of functions."
    )
    return Section("verdicts", "", rows, (note, *_control_words(analysis)))


def _verdict_row(analysis: Analysis, name: str) -> dict[str, Any]:
    nodes = analysis.comparison(name, "nodes") or analysis.comparison(name, "python")
    cost = analysis.comparison(name, "cost")
    row = {"function": name, "difference": estimate_of(nodes.jointly, Points) if nodes else None, "p": _p(nodes)}
    if "cost" in analysis.runs:
        row |= {"at equal cost": estimate_of(cost.jointly, Points) if cost else None, "p there": _p(cost)}
    return row


def _control_words(analysis: Analysis) -> list[str]:
    """What luck alone does: the baseline compared with itself on other openings."""
    verdicts = judge(analysis.runs["nodes"])
    return [
        f"Check: {one.baseline} compared with itself on other openings: {estimate_of(one.difference, Points).text}."
        for one in verdicts.comparisons
        if one.contender in verdicts.controls
    ]


def cost_table(analysis: Analysis) -> Section:
    """A row a function: what a node costs compiled and in Python, and how far a move of the course gets in Python."""
    rows = tuple(
        {
            "function": name,
            "cost compiled": _times(trial.cost),
            "cost in Python": _times(trial.python_cost),
            "nodes in 150 ms of Python": _nodes_in_time(trial.python_cost),
        }
        for name in analysis.ranked
        if (trial := analysis.trials[name]).python_cost is not None
    )
    notes = ("Cost: processor time a node, as a multiple of improved's, the evaluation of ID_Improved.",)
    return Section("costs", "", rows, notes if rows else ())


def _p(comparison: Comparison | None) -> PValue | None:
    return PValue(math.nan if comparison.is_census else comparison.adjusted_p) if comparison else None


def _times(cost: Cost | str | None) -> Ratio | None:
    return Ratio(cost.times) if isinstance(cost, Cost) else None


def _nodes_in_time(cost: Cost | str | None) -> int | None:
    return round(_COURSE_LIMIT / cost.nanoseconds) if isinstance(cost, Cost) else None


def opponents_table(analysis: Analysis) -> Section:
    """A row an opponent: the win rates of the baseline and of each function against it."""
    compared = [found for name in analysis.ranked if (found := analysis.comparison(name, "nodes"))]
    if not compared:
        return Section("opponents", "", ())
    effects = [{effect.opponent: effect for effect in one.effects} for one in compared]
    names = analysis.runs["nodes"].in_order(effects[0])
    rows: list[dict[str, Any]] = [
        {
            "win rate against": opponent,
            compared[0].baseline: Share(effects[0][opponent].baseline_rate),
            **{one.contender: Share(own[opponent].contender_rate) for one, own in zip(compared, effects, strict=True)},
        }
        for opponent in names
    ]
    mean = {one.contender: Share(one.contender_rate) for one in compared}
    rows.append({"win rate against": "mean", compared[0].baseline: Share(compared[0].baseline_rate), **mean})
    return Section("opponents", "", tuple(rows), verbatim=True)
