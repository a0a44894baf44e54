"""The tables that say whether each contender is better than the baseline, by how much, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from experiments.inference.clusters import Interval
from experiments.inference.comparison import Comparison
from experiments.inference.duel import Duel
from experiments.inference.pairs import PairInterval
from experiments.inference.standings import standings
from experiments.verdicts.comparisons import Verdicts, judge, judge_each
from experiments.verdicts.effort import Effort, measure_effort
from experiments.verdicts.findings import Findings
from reports.accuracy import theory_section
from reports.cells import Elo, Estimate, Points, PValue, Share, Times, counted, estimate_of
from reports.sections import Section
from reports.summary import pair_cells, run_notes
from reports.wording import control_sentence, told_control, told_verdict


def compare_sections(findings: Findings) -> tuple[Section, ...]:
    """The verdicts, the effects per opponent, and what they rest on; in a round-robin, each against each."""
    if each := judge_each(findings):
        theory = theory_section(findings)
        return each_section(findings, each), *([theory] if theory else [])
    verdicts = judge(findings)
    efforts = measure_effort(findings)
    sections = []
    if verdicts.comparisons or not verdicts.duels:
        sections += [verdict_section(findings, verdicts, efforts), effects_section(verdicts)]
    if verdicts.duels:
        sections.append(duels_section(findings, verdicts, efforts))
    if theory := theory_section(findings):
        sections.append(theory)
    return tuple(sections)


def verdict_section(findings: Findings, verdicts: Verdicts, efforts: dict[str, Effort]) -> Section:
    """One row a contender, the largest difference first; the control last."""
    rates = {one.agent: estimate_of(one.rate) for one in standings(findings.pairs)}
    ordered = sorted(
        verdicts.comparisons, key=lambda one: (one.contender in verdicts.controls, -_or_low(one.difference))
    )
    has_pool = any(one.on_these for one in ordered)
    rows = []
    for one in ordered:
        row: dict[str, Any] = {
            "contender": one.contender,
            "difference": estimate_of(one.difference, Points),
            "verdict": told_control(one) if one.contender in verdicts.controls else told_verdict(one),
        }
        if has_pool:
            row["on_these_openings"] = estimate_of(one.on_these, Points) if one.on_these else None
        is_control = one.contender in verdicts.controls
        row |= {
            "win_rate": rates[one.contender],
            "p": PValue(one.p_value),
            "adjusted_p": None if is_control else PValue(one.adjusted_p),
            "better_against_all": one.better_against_every_opponent,
            "heterogeneity_p": PValue(one.heterogeneity_p),
            "openings": one.openings,
            "cost": _cost(efforts, one.contender, verdicts.baseline),
        }
        rows.append(row)
    title = f"Beside {verdicts.baseline}, which won {rates[verdicts.baseline].shown}" if rates else "No games yet"
    return Section("verdicts", title, tuple(rows), verdict_notes(findings, verdicts))


def effects_section(verdicts: Verdicts) -> Section:
    """The difference to the baseline against each opponent, and their mean."""
    rows = []
    for one in verdicts.comparisons:
        rows += [
            {
                "contender": one.contender,
                "opponent": effect.opponent,
                "openings": effect.openings,
                "contender_rate": Share(effect.contender_rate),
                "baseline_rate": Share(effect.baseline_rate),
                "difference": estimate_of(effect.difference, Points),
                "p_better": PValue(effect.p_better),
            }
            for effect in one.effects
        ]
        rows.append(
            {
                "contender": one.contender,
                "opponent": "mean",
                "openings": one.openings,
                "contender_rate": Share(one.contender_rate),
                "baseline_rate": Share(one.baseline_rate),
                "difference": estimate_of(one.difference, Points),
                "p_better": None,
            }
        )
    note = "p better: one-sided, against no better than the baseline; not adjusted for the number of opponents."
    return Section("effects", "Difference to the baseline by opponent", tuple(rows), (note,) if rows else ())


def duels_section(findings: Findings, verdicts: Verdicts, efforts: dict[str, Effort]) -> Section:
    """One row a contender that met the baseline itself."""
    rows = []
    for one in sorted(verdicts.duels, key=lambda duel: -_or_low(duel.rate)):
        row: dict[str, Any] = {
            "contender": one.contender,
            "win_rate": estimate_of(one.rate),
            "elo": elo_of(one),
            "verdict": told_verdict(one),
        }
        if one.on_these or any(duel.on_these for duel in verdicts.duels):
            row["on_these_openings"] = estimate_of(one.on_these) if one.on_these else None
        row |= {
            "p": PValue(one.p_value),
            "adjusted_p": PValue(one.adjusted_p),
            **pair_cells(one.pairs),
            "cost": _cost(efforts, one.contender, verdicts.baseline),
        }
        rows.append(row)
    notes = list(run_notes(findings))
    notes.append(
        "Win rate, Elo and p-values: openings at large, clustered by symmetry. A pair is one opening, both sides."
    )
    for one in verdicts.duels:
        if one.is_census:
            notes.append(f"These {one.pairs.n:,} openings, all of their kind: {one.contender}'s share is exact.")
    return Section("head_to_head", f"Head to head with {verdicts.baseline}", tuple(rows), tuple(notes))


def each_section(findings: Findings, duels: Sequence[Duel]) -> Section:
    """One row two agents, where nobody is the baseline; the clearest first."""
    rows = [
        {
            "agent": one.contender,
            "against": one.baseline,
            "win_rate": estimate_of(one.rate),
            "elo": elo_of(one),
            "verdict": told_verdict(one),
            "p": PValue(one.p_value),
            "adjusted_p": PValue(one.adjusted_p),
            **pair_cells(one.pairs),
        }
        for one in sorted(duels, key=lambda duel: (duel.adjusted_p, -_or_low(duel.rate)))
    ]
    notes = (
        *run_notes(findings),
        f"Nobody is the baseline: each against each, of their own games, p-values Holm-adjusted over "
        f"{counted(len(duels), 'match')}. Win rate, Elo and p-values: openings at large, clustered by symmetry. With "
        "--baseline AGENT the others are compared with that one, over the opponents both have met.",
    )
    return Section("each_against_each", "Each against each", tuple(rows), notes)


def elo_of(duel: Duel) -> Estimate:
    """The contender's lead in Elo over openings at large."""
    rate = duel.rate
    at_large = PairInterval(duel.pairs, None, rate.confidence, "", rate.estimate, rate.low, rate.high)
    return Estimate(*(Elo(value) for value in at_large.elo))


def verdict_notes(findings: Findings, verdicts: Verdicts) -> tuple[str, ...]:
    """What the verdicts rest on, and what was left out of them."""
    notes = [*run_notes(findings)]
    if not verdicts.comparisons:
        return (*notes, "No complete pairs to compare yet.")
    openings = max(one.openings for one in verdicts.comparisons)
    notes.append(
        f"Differences in percentage points, mean over opponents. Verdicts, intervals and p-values are about openings "
        f"at large, with {counted(openings, 'opening')} as the sample; p-values are Holm-adjusted over "
        f"{counted(len(verdicts.claims), 'contender')}."
    )
    if on_these := next((one for one in verdicts.comparisons if one.on_these), None):
        is_exact = (
            " exact, as all of them were played" if on_these.is_census else " with what the unplayed ones could change"
        )
        notes.append(f"On these openings: the {on_these.pool:,} of this kind on the board,{is_exact}.")
    elif chance := [name for name in findings.pairs.agents if not findings.agents[name].is_deterministic]:
        verb = "leaves" if len(chance) == 1 else "leave"
        notes.append(f"{', '.join(chance)} {verb} moves to chance or a clock: no result is exact for these openings.")
    notes += [control_sentence(one) for one in verdicts.comparisons if one.contender in verdicts.controls]
    notes += left_out(verdicts.comparisons)
    notes.append("Cost: time per node over the baseline's, on the machine that played.")
    return tuple(notes)


def left_out(comparisons: Sequence[Comparison]) -> list[str]:
    """Which opponents and openings could not be used, and for whom."""
    whom: dict[str, list[str]] = {}
    for one in comparisons:
        if one.missing:
            text = f"{', '.join(one.missing)}, whom only one of the two has finished a pair with"
            whom.setdefault(text, []).append(one.contender)
        if one.unshared:
            text = f"{counted(one.unshared, 'opening')} that only one of the two has finished"
            whom.setdefault(text, []).append(one.contender)
    return [f"Left out beside the baseline: {what} ({', '.join(names)})." for what, names in whom.items()]


def _cost(efforts: dict[str, Effort], name: str, baseline: str) -> Times:
    """Time per node over the baseline's; unknown where the baseline's moves were too quick for the clock."""
    usual = efforts[baseline].nanoseconds_a_node
    return Times(efforts[name].nanoseconds_a_node / usual if usual else math.nan)


def _or_low(interval: Interval) -> float:
    return -2.0 if math.isnan(interval.estimate) else interval.estimate
