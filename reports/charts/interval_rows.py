"""Rows with intervals: differences to the baseline, ratings, and distributions by agent."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from knights_isolation.experiments.inference.bradley_terry import Ratings
from knights_isolation.experiments.inference.contenders.baseline_comparison import Comparison
from knights_isolation.experiments.inference.contenders.head_to_head import HeadToHead
from knights_isolation.experiments.record.tries import Try
from knights_isolation.experiments.statistics.move_statistics import game_lengths, searched
from knights_isolation.experiments.statistics.run_results import RunResults
from knights_isolation.experiments.verdicts.contender_verdicts import Verdicts

from ..text.cell_values import Elo, Points
from ..text.wording import finding_title
from .chart import Row, RowChart, fit_axis, role_of, row_chart

_LABEL = "difference from the baseline in percentage points"
_LUCK = " Dotted: the baseline against itself, what chance does."
_MOST_TRIES = 40
_SPREAD = "Thin: 90 % of the values, thick: half of them, dot: median."


def forest(findings: RunResults, verdicts: Verdicts) -> RowChart | None:
    """Return every contender's difference to the baseline, largest first, with its joint and its own interval."""
    all_claims: list[Comparison | HeadToHead] = [*verdicts.comparisons, *verdicts.duels]
    claims = {claim.contender: claim for claim in all_claims if not claim.is_empty}
    rows, is_joint = [], verdicts.family > 1 and not findings.is_interim
    ranked = sorted(findings.in_order(claims), key=lambda name: -claims[name].estimate)
    for name in sorted(ranked, key=lambda name: name in verdicts.controls):
        claim = claims[name]
        role = "control" if name in verdicts.controls else claim.verdict
        low, high = (100 * end for end in claim.lead)
        inner = _alone(claim) if is_joint and role != "control" else None
        rows.append(Row(name, role, 100 * claim.estimate, low, high, Points(claim.estimate).text, inner))
    title = finding_title(findings, verdicts) or f"Win rate compared with {verdicts.baseline}"
    colours = "Blue better, orange worse: the interval excludes 0. Grey: no significant difference."
    note = f"{_forest_intervals(is_joint, findings.is_interim)} {colours}{_LUCK if verdicts.controls else ''}"
    return row_chart(title, rows, _LABEL, note)


def _forest_intervals(is_joint: bool, is_interim: bool) -> str:
    if is_interim:
        return "95 % intervals for all contenders at once, valid at any time."
    return "95 % intervals; thin: for all contenders at once, thick: for one alone." if is_joint else "95 % intervals."


def _alone(claim: Comparison | HeadToHead) -> tuple[float, float]:
    """Return the interval of a claim by itself, in points above the baseline."""
    if isinstance(claim, HeadToHead):
        return 200 * claim.rate.low - 100, 200 * claim.rate.high - 100
    return 100 * claim.difference.low, 100 * claim.difference.high


def tries_chart(tries: Mapping[int, Try]) -> RowChart | None:
    """Return the latest tries by their numbers in the log, each as a difference to its baseline; None without any."""
    rows = []
    for number, each in list(tries.items())[-_MOST_TRIES:]:
        estimate, low, high = each.difference
        name = f"{number} {each.command}: {each.agent}{', head to head' * (each.measure == 'head to head')}"
        rows.append(Row(name, role_of(low, high), estimate, low, high, Points(estimate / 100).text))
    title = f"The latest {len(rows)} of {len(tries)} tries" if len(tries) > len(rows) else "Tries, the first on top"
    note = "95 % intervals, each as it was reported: not corrected for the number of tries."
    return row_chart(title, rows, _LABEL, f"{note} The best of many is too high.")


def ladder(ratings: Ratings) -> RowChart | None:
    """Return ratings with their intervals, best first; None without any finite one."""
    rows = [
        Row(rating.agent, "", rating.elo, rating.low, rating.high, Elo(rating.elo).text) for rating in ratings.ratings
    ]
    ends = np.array([(row.low, row.value, row.high) for row in rows])
    if not np.isfinite(ends).any():
        return None
    arrows = "" if np.isfinite(ends).all() else "; arrow: the rating is unbounded on that side"
    zero = f"{ratings.zero} is 0" if ratings.zero else "the pool's mean is 0"
    label = f"Elo, with individual 95 % intervals{arrows}"
    return row_chart("Ratings", rows, label, f"Elo by the Bradley–Terry model; {zero}.")


SPREADS = {
    "depth": ("Depth of search", "plies of the last completed iteration"),
    "nodes": ("Nodes per move", "nodes (MCTS: simulations)"),
    "lengths": ("Length of games", "plies, including the opening"),
}
"""Title and axis of what varies among an agent's searches, or its games."""


def spread(findings: RunResults, kind: str) -> RowChart | None:
    """Return the 90 % range, the interquartile range and the median of one of the `SPREADS` for each agent."""
    agents = findings.in_order(findings.pairs.agents)
    values = game_lengths(findings, agents) if kind == "lengths" else searched(findings, kind, agents)
    title, label = SPREADS[kind]
    rows = []
    for name, quantiles in zip(values.names, values.quantiles((0.05, 0.25, 0.5, 0.75, 0.95)), strict=True):
        if not np.isnan(quantiles).any():
            least, lower, median, upper, most = quantiles.tolist()
            rows.append(Row(name, "", median, least, most, f"{median:,.0f}", (lower, upper)))
    if not rows:
        return None
    ends = [end for row in rows for end in (row.low, row.high)]
    axis = fit_axis(label, ends, is_log=kind == "nodes", is_whole=True)
    return RowChart(title, tuple(rows), axis, None, _SPREAD)
