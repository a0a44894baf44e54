"""Coloured tables: differences by opponent, and how well scores predict the winner."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from knights_isolation.experiments.inference.bradley_terry import Ratings
from knights_isolation.experiments.inference.standings import matchups
from knights_isolation.experiments.statistics.calibration import BANDS, FEWEST_SCORES, band_auc, scores_of
from knights_isolation.experiments.statistics.run_results import RunResults
from knights_isolation.experiments.verdicts.contender_verdicts import Verdicts

from ..text.cell_values import Points, Share
from .chart import Cell, Grid, strength

UNRANKED = "–"
_STRONGEST_LEAD = 0.12


@dataclass(frozen=True)
class RateCell:
    """A win rate against an opponent, and its difference from the baseline's, or from one half without a baseline."""

    rate: float
    lead: float


def leads(findings: RunResults, verdicts: Verdicts | None) -> dict[tuple[str, str], RateCell]:
    """Return each measured agent's lead against each opponent it met; the baseline's own is 0.

    Against the baseline itself there is none, only a win rate.
    """
    rates = {}
    for name in sorted(findings.in_order(findings.measured), key=lambda name: name == findings.baseline):
        met = matchups(findings.pooled_pairs if name == findings.baseline else findings.all_pairs, name)
        rates[name] = {matchup.opponent: matchup.rate.estimate for matchup in met}
    base = rates.get(findings.baseline or "", {})
    compared = {
        (comparison.contender, effect.opponent): effect.difference.estimate
        for comparison in (verdicts.comparisons if verdicts else ())
        for effect in comparison.effects
    }
    return {
        (name, other): RateCell(rate, compared.get((name, other), rate - (base.get(other, math.nan) if base else 0.5)))
        for name, row in rates.items()
        for other, rate in row.items()
    }


def differences(
    findings: RunResults,
    leads: Mapping[tuple[str, str], RateCell],
    links: Mapping[tuple[str, str], str],
    ratings: Ratings,
    title: str = "",
) -> Grid | None:
    """Return leads as a table of agents by opponents, linked to games; the baseline's row has its win rates.

    Agents and opponents are in the order of their mean leads; the baseline is last. Where all meet all, rows and
    columns are both in the order of rank.
    """
    agents, opponents = (_by_lead(findings, leads, side) for side in (0, 1))
    if not opponents:
        return None
    ranks: dict[str, str] = {}
    if findings.baseline is None and set(agents) == set(opponents):
        ranks = {rating.agent: str(rank) for rating, rank in zip(ratings.ratings, ratings.ranks, strict=True)}
        ranks |= {name: UNRANKED for name in agents if name not in ranks}
        agents = opponents = [name for name in ranks if name in agents]
    rows = []
    for name in agents:
        is_baseline = name == findings.baseline
        cells = (_lead_cell(findings, leads.get((name, other)), is_baseline, links.get((name, other), ""))
                 for other in opponents)  # fmt: skip
        rows.append((name, tuple(cells)))
    note = "Win rates in percentage points above 50 %, without intervals."
    if findings.baseline is not None:
        note = (
            "Win rates compared with the baseline, in percentage points, without intervals. The baseline's row shows "
            "its win rate."
        )
    if findings.baseline in opponents:
        note += f" The column {findings.baseline} has the games against it: win rates in per cent."
    corner = "rank, agent" if ranks else "agent"
    numbers = tuple(ranks[name] for name in agents) if ranks else ()
    return Grid(title or "Win rate by opponent", tuple(opponents), tuple(rows), corner, note, numbers)


def _by_lead(findings: RunResults, leads: Mapping[tuple[str, str], RateCell], side: int) -> list[str]:
    """Return the agents (side 0) or the opponents (side 1) of leads, the largest mean lead first, the baseline last."""
    of_names: dict[str, list[float]] = {}
    for pair, lead in leads.items():
        of_names.setdefault(pair[side], []).extend([] if math.isnan(lead.lead) else [lead.lead])
    ranked = sorted(findings.in_order(of_names), key=lambda name: -fmean(of_names[name] or [0.0]))
    return sorted(ranked, key=lambda name: name == findings.baseline)


def _lead_cell(findings: RunResults, lead: RateCell | None, is_baseline: bool, link: str) -> Cell:
    if lead is None or math.isnan(lead.rate):
        return Cell("–", 0, "", link)
    is_rate = is_baseline or math.isnan(lead.lead)
    text = f"{100 * lead.rate:.1f}" if is_rate else Points(lead.lead).text
    colour = 0 if is_rate else strength(lead.lead, _STRONGEST_LEAD if findings.baseline else 0.5)
    return Cell(text, colour, f"{Share(lead.rate).text} won", link)


def calibration(findings: RunResults) -> Grid | None:
    """Return the AUC of every measured agent's scores, overall and by stage of the game; plies are counted from 1."""
    scores = scores_of(findings, findings.measured)
    names = [name for name in findings.in_order(findings.measured) if not math.isnan(scores[name].auc)]
    bands = [band for band in BANDS if any(scores[name].between(*band).positions >= FEWEST_SCORES for name in names)]
    if not names:
        return None
    rows = []
    for name in names:
        values = [scores[name].auc, *(band_auc(scores[name], band) for band in bands)]
        cells = (
            Cell("–", 0) if math.isnan(auc) else Cell(f"{auc:.2f}", strength(auc - 0.5, 0.5), is_amount=auc >= 0.5)
            for auc in values
        )
        rows.append((name, tuple(cells)))
    columns = ("all", *(f"{first + 1}–{last + 1}" for first, last in bands))
    note = (
        "AUC by ply, counted from 1: the probability that a position whose mover won has a higher score than one "
        "whose mover lost. 0.5 is a coin flip, 1 perfect. Proven scores are excluded."
    )
    return Grid("How well scores predict the winner (AUC)", columns, tuple(rows), note=note)
