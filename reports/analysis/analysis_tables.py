"""Tables of an analysis."""

from __future__ import annotations

import math
from typing import Any

from knights_isolation.experiments.analysis.analyse_file import Analysis
from knights_isolation.experiments.analysis.quick_trial import BASELINE
from knights_isolation.experiments.inference.contenders.baseline_comparison import Comparison
from knights_isolation.isolation.checks.search_cost import Cost
from knights_isolation.reports.analysis.verdict_sentences import interval_name
from knights_isolation.reports.tables.compare import p_value_of
from knights_isolation.reports.text.cell_values import Points, Ratio, Share, estimate_of, pluralise
from knights_isolation.reports.text.sections import Section
from knights_isolation.reports.text.wording import evidence_sentences, two_digits

_COURSE_LIMIT = 150e6
"""Time per move of the course, in nanoseconds."""


def verdict_table(analysis: Analysis) -> Section:
    """Return one row per function: the difference at equal nodes and at equal cost, with p-values."""
    rows = tuple(_verdict_row(analysis, name) for name in analysis.ranked)
    compared = [comparison for name in analysis.trials if (comparison := analysis.comparison(name, "nodes"))]
    if not compared:
        return Section("verdicts", "", rows)
    first, together, adjusted = compared[0], "", ""
    if first.family > 1:
        together = f": all {first.family}, at equal nodes and at equal cost, hold together"
        adjusted = f", adjusted for {first.family} comparisons"
    notes = [
        f"Difference: win rate minus {first.baseline}'s against the same opponents, in percentage points, with the "
        f"range that the games support ({interval_name(first)} interval{together}).",
        f"p: how often luck alone would make such a difference{adjusted}; below 0.05 is significant.",
    ]
    return Section("verdicts", "", rows, (*notes, *evidence_sentences(compared), *_control_words(analysis)))


def _verdict_row(analysis: Analysis, name: str) -> dict[str, Any]:
    nodes = analysis.comparison(name, "nodes") or analysis.comparison(name, "python")
    cost = analysis.comparison(name, "cost")
    row = {"function": name, **_cells("difference", "p", nodes)}
    return row | _cells("at equal cost", "p at equal cost", cost) if "cost" in analysis.runs else row


def _cells(difference: str, p: str, comparison: Comparison | None) -> dict[str, Any]:
    if comparison is None:
        return {difference: None, p: None}
    return {difference: estimate_of(comparison.jointly, Points), p: p_value_of(comparison)}


def _control_words(analysis: Analysis) -> list[str]:
    """Describe the effect of luck alone: the baseline compared with itself on other openings."""
    return [
        f"Check {'passed' if comparison.difference.low <= 0 <= comparison.difference.high else 'FAILED'}: "
        f"{comparison.baseline} differs from itself on other openings by "
        f"{estimate_of(comparison.difference, Points).text}."
        for comparison in analysis.verdicts["nodes"].checks
    ]


def cost_table(analysis: Analysis) -> Section:
    """Return one row per function: cost per node compiled and in Python, and nodes per course move in Python."""
    costs = [trial.python_cost for trial in analysis.trials.values() if isinstance(trial.python_cost, Cost)]
    fastest = min((cost.nanoseconds / cost.times for cost in costs), default=math.nan)
    rows = tuple(
        {
            "function": name,
            "cost compiled": _times(analysis.cost(name)),
            "cost in Python": _times(trial.python_cost),
            "nodes in 150 ms of Python": _nodes_in_time(trial.python_cost, fastest),
        }
        for name in analysis.ranked
        if (trial := analysis.trials[name]).python_cost is not None
    )
    if not rows:
        return Section("costs", "", ())
    reference = {
        "function": f"{BASELINE} (ID_Improved)",
        "cost compiled": Ratio(1),
        "cost in Python": Ratio(1),
        "nodes in 150 ms of Python": two_digits(_COURSE_LIMIT / fastest),
    }
    note = "Cost: processor time of a node. The games at equal cost go by the compiled one."
    return Section("costs", "", (reference, *rows), (note,))


def _times(cost: Cost | str | None) -> Ratio | None:
    return Ratio(cost.times) if isinstance(cost, Cost) else None


def _nodes_in_time(cost: Cost | str | None, baseline: float) -> int | None:
    """Return the nodes in the time of a course move, from the ratio of costs and the time of the baseline's node.

    All use the baseline time of the quietest measurement, since ratios are measured in turns but absolute times are
    not.
    """
    return two_digits(_COURSE_LIMIT / (baseline * cost.times)) if isinstance(cost, Cost) else None


def opponents_table(analysis: Analysis) -> Section:
    """Return one row per opponent: the win rates of the baseline and of each function against it."""
    compared = [found for name in analysis.ranked if (found := analysis.comparison(name, "nodes"))]
    if not compared:
        return Section("opponents", "", ())
    effects = [{effect.opponent: effect for effect in comparison.effects} for comparison in compared]
    names = analysis.runs["nodes"].in_order(effects[0])
    rows: list[dict[str, Any]] = [
        {
            "win rate against": opponent,
            compared[0].baseline: Share(effects[0][opponent].baseline_rate),
            **{
                comparison.contender: Share(own[opponent].contender_rate)
                for comparison, own in zip(compared, effects, strict=True)
            },
        }
        for opponent in names
    ]
    mean = {comparison.contender: Share(comparison.contender_rate) for comparison in compared}
    games = pluralise(2 * compared[0].openings, "game")
    note = f"At {analysis.question.limit} a move; {games} of each function in each row; win rates without intervals."
    rows.append({"win rate against": "mean", compared[0].baseline: Share(compared[0].baseline_rate), **mean})
    duels = {comparison.contender: analysis.head_to_head(comparison.contender, "nodes") for comparison in compared}
    if any(duels.values()):
        direct = {name: Share(duel.rate.estimate) if duel else None for name, duel in duels.items()}
        rows.append({"win rate against": f"{compared[0].baseline}, head to head", compared[0].baseline: None, **direct})
    return Section("opponents", "", tuple(rows), (note,), verbatim=True)
