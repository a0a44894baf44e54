"""Rows with intervals: differences to the baseline, ratings, and distributions by agent."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from experiments.inference.bradley_terry import Ratings
from experiments.inference.contenders.baseline_comparison import Comparison
from experiments.inference.contenders.head_to_head import HeadToHead
from experiments.record.tries import Try
from experiments.statistics.move_statistics import Distribution, game_lengths, searched
from experiments.statistics.run_results import RunResults
from experiments.verdicts.contender_verdicts import Verdicts
from reports.charts.chart import Row, RowChart, fit_axis, signed
from reports.text.cell_values import Elo, Points
from reports.text.wording import finding_title

_LUCK = "Dotted: the baseline against itself, what chance does."
_MOST_TRIES = 40
_SPREAD = "Thin: 90 % of the values, thick: half of them, dot: median."


def forest(findings: RunResults, verdicts: Verdicts) -> RowChart | None:
    """Return every contender's difference to the baseline, largest first, with its joint and its own interval."""
    all_claims: list[Comparison | HeadToHead] = [*verdicts.comparisons, *verdicts.duels]
    claims = {claim.contender: claim for claim in all_claims if not claim.is_empty}
    if not claims:
        return None
    rows, is_joint = [], verdicts.family > 1 and not findings.is_interim
    ranked = sorted(findings.in_order(claims), key=lambda name: -claims[name].estimate)
    for name in sorted(ranked, key=lambda name: name in verdicts.controls):
        claim = claims[name]
        role = "control" if name in verdicts.controls else claim.verdict
        low, high = (100 * end for end in claim.lead)
        inner = _alone(claim) if is_joint and role != "control" else None
        rows.append(Row(name, role, 100 * claim.estimate, low, high, Points(claim.estimate).text, inner))
    ends = [end for row in rows for end in (row.low, row.value, row.high)]
    return RowChart(
        finding_title(findings, verdicts) or f"Win rate compared with {verdicts.baseline}",
        tuple(rows),
        fit_axis("difference from the baseline in percentage points", [0.0, *ends], signed),
        0.0,
        " ".join(
            [
                _forest_intervals(is_joint, findings.is_interim),
                "Blue better, orange worse: the interval excludes 0. Grey: no significant difference.",
                _LUCK if verdicts.controls else "",
            ]
        ).strip(),
    )


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
        role = "better" if low > 0 else "worse" if high < 0 else ""
        name = f"{number} {each.command}: {each.agent}{', head to head' * (each.measure == 'head to head')}"
        rows.append(Row(name, role, estimate, low, high, Points(estimate / 100).text))
    if not rows:
        return None
    values = [value for row in rows for value in (row.low, row.value, row.high)]
    return RowChart(
        f"The latest {len(rows)} of {len(tries)} tries" if len(tries) > len(rows) else "Tries, the first on top",
        tuple(rows),
        fit_axis("difference from the baseline in percentage points", [0.0, *values], signed),
        0.0,
        "95 % intervals, each as it was reported: not corrected for the number of tries. The best of many is too high.",
    )


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
    axis = fit_axis(f"Elo, with individual 95 % intervals{arrows}", [0.0, *ends.flat], signed)
    return RowChart("Ratings", tuple(rows), axis, 0.0, f"Elo by the Bradley–Terry model; {zero}.")


def lengths(findings: RunResults) -> RowChart | None:
    """Return the number of plies of each agent's games."""
    agents = findings.in_order(findings.pairs.agents)
    return _spread("Length of games", game_lengths(findings, agents), "plies, including the opening")


def depths(findings: RunResults) -> RowChart | None:
    """Return the depth in plies of each agent's searches."""
    agents = findings.in_order(findings.pairs.agents)
    return _spread("Depth of search", searched(findings, "depth", agents), "plies of the last completed iteration")


def nodes(findings: RunResults) -> RowChart | None:
    """Return the nodes of each agent's searches."""
    agents = findings.in_order(findings.pairs.agents)
    return _spread("Nodes per move", searched(findings, "nodes", agents), "nodes (MCTS: simulations)", True)


def _spread(title: str, values: Distribution, label: str, is_log: bool = False) -> RowChart | None:
    """Return rows with the 90 % range, the interquartile range and the median of each agent."""
    rows = []
    for name, quantiles in zip(values.names, values.quantiles((0.05, 0.25, 0.5, 0.75, 0.95)), strict=True):
        if not np.isnan(quantiles).any():
            least, lower, median, upper, most = quantiles.tolist()
            rows.append(Row(name, "", median, least, most, f"{median:,.0f}", (lower, upper)))
    if not rows:
        return None
    ends = [end for row in rows for end in (row.low, row.high)]
    return RowChart(title, tuple(rows), fit_axis(label, ends, is_log=is_log, is_whole=True), None, _SPREAD)
