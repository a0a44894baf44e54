"""Tables that compare: contenders with their baseline, pairs of agents, and two runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from knights_isolation.experiments.record.schema import differing_settings, format_setting
from knights_isolation.experiments.statistics import frames
from knights_isolation.experiments.statistics.anytime import read_contest
from knights_isolation.experiments.statistics.contender_verdicts import (
    Verdicts,
    judge,
    judge_all_pairs,
)
from knights_isolation.experiments.statistics.paired_differences import Comparison, HeadToHead, OpponentEffect
from knights_isolation.experiments.statistics.proportions import WORTH, Interval
from knights_isolation.experiments.statistics.run_results import RunResults, relative_costs
from knights_isolation.isolation.rules.game import Cost
from knights_isolation.isolation.suggestions import advice

from ..text import verdict_details, wording
from ..text.cell_values import Elo, Estimate, Points, PValue, Share, estimate_of, pluralise
from ..text.rendering import Section
from .accuracy import theory_section
from .run_notes import (
    clearest_first,
    cost_cell,
    cost_sentence,
    direct_note,
    head_to_head_cell,
    in_rank_order,
    of_runs,
    price_sentence,
    run_notes,
)
from .sequential import contest_section
from .summary import pair_cells


def compare_sections(findings: RunResults, worth: float = WORTH) -> tuple[Section, ...]:
    """Return the verdicts, the effects by opponent, and their basis; in a round-robin, all pairs of agents.

    For a best-of, return its remaining contenders.

    `worth` is a difference worth having, in share of games won.
    """
    return of_runs(findings, filter(None, [*verdict_sections(findings, worth), theory_section(findings)]))


def verdict_sections(findings: RunResults, worth: float = WORTH) -> list[Section]:
    """Return the tables of `compare_sections` without that of the theory, and without the state of the run."""
    if contest := read_contest(findings):
        return [contest_section(findings, contest)]
    if each := judge_all_pairs(findings):
        return [_each_section(findings, each, worth)]
    if findings.baseline is None:
        return []
    verdicts, costs = judge(findings), relative_costs(findings)
    duels = _duel_sections(findings, verdicts, costs, worth)
    if verdicts.duels and not verdicts.comparisons:
        return duels
    return [_verdict_section(findings, verdicts, costs, worth), _effects_section(findings, verdicts), *duels]


def _verdict_section(findings: RunResults, verdicts: Verdicts, costs: Mapping[str, Cost], worth: float) -> Section:
    """Return one row per contender, in the order of all tables."""
    pooled = findings.standings_in(findings.pooled_pairs)
    rates = {standing.agent: estimate_of(standing.rate) for standing in (*findings.standings, *pooled)}
    rows = tuple(
        {
            "contender": comparison.contender,
            "difference": estimate_of(comparison.jointly, Points),
            "verdict": (
                verdict_details.control_cell(comparison)
                if comparison.contender in verdicts.controls
                else verdict_details.verdict_cell(comparison, worth)
            ),
            **head_to_head_cell(verdicts, comparison.contender),
            "cost": cost_cell(costs, comparison.contender),
            "win_rate": rates[comparison.contender],
            "adjusted_p": p_value_of(comparison),
            "better_against_all": verdict_details.against_all_cell(comparison),
            "heterogeneity_p": PValue(comparison.heterogeneity[2]),
            "openings": comparison.openings,
        }
        for comparison in in_rank_order(findings, verdicts.comparisons)
    )
    title = f"Compared with {verdicts.baseline}, which won {rates[verdicts.baseline].text}" if rates else "No games yet"
    return Section("verdicts", title, rows, _verdict_notes(findings, verdicts, costs, worth))


def _effects_section(findings: RunResults, verdicts: Verdicts) -> Section:
    """Return the difference to the baseline against each opponent, and their mean."""
    rows = []
    for comparison in in_rank_order(findings, verdicts.comparisons):
        against = {effect.opponent: effect for effect in comparison.effects}
        effects: list[tuple[str, OpponentEffect | Comparison, Interval]] = [
            *((name, against[name], against[name].difference) for name in findings.in_order(against)),
            ("mean", comparison, comparison.jointly),
        ]
        rows += [
            {
                "contender": comparison.contender,
                "opponent": opponent,
                "openings": effect.openings,
                "contender_rate": Share(effect.contender_rate),
                "baseline_rate": Share(effect.baseline_rate),
                "difference": estimate_of(difference, Points),
                "p_better": None
                if isinstance(effect, Comparison)
                else PValue(math.nan if difference.low == difference.high else effect.p_better),
            }
            for opponent, effect, difference in effects
        ]
    note = (
        "Intervals against single opponents are individual 95 % intervals; the interval of the mean is that of the "
        "verdict. One-sided p (null hypothesis: no better than the baseline) is at most 0.025 where the interval is "
        "above 0; it is not adjusted for the number of opponents or contenders."
    )
    notes = (note,) if not all(comparison.is_census for comparison in verdicts.comparisons) else ()
    return Section("effects", "Difference from the baseline by opponent", tuple(rows), notes)


def _duel_sections(findings: RunResults, verdicts: Verdicts, costs: Mapping[str, Cost], worth: float) -> list[Section]:
    """Return the table of games with the baseline itself: of all contenders, or apart from a gauntlet's comparisons."""
    duels = verdicts.duels or verdicts.direct
    if not duels:
        return []
    rows = tuple(
        {
            "contender": duel.contender,
            **_duel_cells(duel, worth),
            "cost": cost_cell(costs, duel.contender),
            **pair_cells(duel.pairs),
        }
        for duel in in_rank_order(findings, duels)
    )
    claims = [duel for duel in duels if duel.contender not in verdicts.controls]
    notes = [*run_notes(findings), f"{_population_words(findings, duels)} A pair is one opening, both sides."]
    notes += [*_basis(claims), *verdict_details.reach_sentences(claims, worth, findings.population)]
    notes.append(cost_sentence(costs, [duel.contender for duel in duels]))
    notes += [
        f"All {duel.pairs.n:,} openings of this kind were played: the share of {duel.contender} is exact."
        for duel in duels
        if duel.is_census
    ]
    title = f"Head to head with {verdicts.baseline}"
    return [Section("head_to_head", title, rows, tuple(filter(None, notes)))]


def _each_section(findings: RunResults, duels: Sequence[HeadToHead], worth: float) -> Section:
    """Return one row per two agents, in a run without baseline; the most significant first."""
    rows = tuple(
        {"agent": duel.contender, "against": duel.baseline, **_duel_cells(duel, worth), **pair_cells(duel.pairs)}
        for duel in clearest_first(duels)
    )
    notes = (
        *run_notes(findings),
        f"No baseline: every pair of agents is compared by the games between them, adjusted for "
        f"{pluralise(len(duels), 'match')}. {_population_words(findings, duels)} Use "
        f"{advice('--baseline AGENT', 'baseline=AGENT')} to compare the others with one agent, over common opponents.",
        verdict_details.interval_sentence(duels),
        verdict_details.excluded_sentence(duels),
        *verdict_details.reach_sentences(duels, worth, findings.population),
    )
    return Section("each_against_each", "Every pair of agents", rows, tuple(filter(None, notes)))


def _duel_cells(duel: HeadToHead, worth: float) -> dict[str, Any]:
    return {
        "win_rate": estimate_of(duel.jointly),
        "elo": Estimate(*map(Elo, duel.jointly.elo)),
        "verdict": verdict_details.verdict_cell(duel, worth),
        "adjusted_p": p_value_of(duel),
    }


def _basis(claims: Sequence[Comparison | HeadToHead]) -> list[str]:
    return [
        verdict_details.interval_sentence(claims),
        *wording.evidence_sentences(claims),
        verdict_details.excluded_sentence(claims),
    ]


def p_value_of(comparison: Comparison | HeadToHead) -> PValue:
    """Return the adjusted p-value; NaN after a census, where nothing is uncertain."""
    return PValue(math.nan if comparison.is_census else comparison.adjusted_p)


def _population_words(findings: RunResults, results: Sequence[Comparison | HeadToHead]) -> str:
    size = f"{findings.population:,} " if findings.population else ""
    played = ", of which a sample was played, clustered by symmetry"
    if results and all(result.is_census for result in results):
        played = ", all of which were played: they are exact"
    elif any(result.pool for result in results):
        played = "; only unplayed openings and randomness make them uncertain"
    return (
        f"The results hold for the {size}openings of this kind on this board{played}. They do not extend to other "
        "boards or longer openings."
    )


def _verdict_notes(
    findings: RunResults, verdicts: Verdicts, costs: Mapping[str, Cost], worth: float
) -> tuple[str, ...]:
    notes = [*run_notes(findings)]
    if not verdicts.comparisons:
        return (*notes, "No complete pairs to compare yet.")
    claims = verdicts.claims
    openings = max(claim.openings for claim in claims or verdicts.comparisons)
    notes.append(
        f"Differences in percentage points, mean over opponents, from {pluralise(openings, 'opening')}"
        f"{verdict_details.baseline_openings_words(claims)}"
        f"{'' if findings.is_census else '; win rates with individual 95 % intervals'}. "
        f"{_population_words(findings, claims or verdicts.comparisons)}"
    )
    if claims:
        notes += [*_basis(claims), *verdict_details.alike_sentences(findings, claims)]
    notes += [direct_note(verdicts), *verdict_details.reach_sentences(claims, worth, findings.population)]
    chance = [name for name in findings.pairs.agents if not findings.agents[name].deterministic]
    if chance and not any(comparison.pool for comparison in verdicts.comparisons):
        notes.append(f"{_chance_words(findings, chance)}: no result is exact for these openings.")
    notes += [verdict_details.against_all_sentence(claims, worth), price_sentence(findings, verdicts, costs)]
    notes += [*map(verdict_details.control_sentence, verdicts.checks), *_left_out(verdicts.comparisons)]
    notes.append(cost_sentence(costs, [comparison.contender for comparison in verdicts.comparisons]))
    return tuple(filter(None, notes))


def _chance_words(findings: RunResults, names: Sequence[str]) -> str:
    unknown = [name for name in names if findings.agents[name].unknown]
    known = [name for name in names if name not in unknown]
    plays = "plays" if len(unknown) == 1 else "play"
    clauses = [f"{', '.join(known)} {'depends' if len(known) == 1 else 'depend'} on chance or a clock"] * bool(known)
    whether = "whether" if known else "Whether"
    clauses += [f"{whether} {', '.join(unknown)} {plays} deterministically is unknown"] * bool(unknown)
    return ", and ".join(clauses)


def _left_out(comparisons: Sequence[Comparison]) -> list[str]:
    whom: dict[str, list[str]] = {}
    for comparison in comparisons:
        if comparison.missing:
            text = f"{', '.join(comparison.missing)}, which only one of the two has finished pairs against"
            whom.setdefault(text, []).append(comparison.contender)
        if comparison.unshared:
            text = f"{pluralise(comparison.unshared, 'opening')} finished by only one of the two"
            whom.setdefault(text, []).append(comparison.contender)
    return [
        f"Excluded from the comparison with the baseline: {what} ({', '.join(names)})." for what, names in whom.items()
    ]


def change_sections(before: RunResults, after: RunResults) -> tuple[Section, ...]:
    """Return designs, shared games, and results side by side, of two findings of one run each."""
    shared = frames.shared_games(before.sources[0].info.path, after.sources[0].info.path)
    return _design_section(before, after, shared), _results_section(before, after, shared)


def _design_section(before: RunResults, after: RunResults, shared: frames.SharedGames) -> Section:
    first, other = before.sources[0].info, after.sources[0].info
    changes = frames.design_changes(first, other)
    rows = tuple(
        {"what": change.what, "before": _describe_side(change, 0), "after": _describe_side(change, 1)}
        for change in changes
    )
    note = "The runs have no game in common."
    if shared.games:
        note = (
            f"{pluralise(shared.games, 'game')} are in both runs with the same players, sides and openings: "
            f"{shared.same_moves:,} are identical move by move, "
            f"{shared.games - shared.same_winner:,} have a different winner."
        )
    title = (
        f"From {first.path} to {other.path}: {pluralise(len(rows), 'change') if rows else 'same design, no changes'}"
    )
    return Section("design", title, rows, (note,))


def _describe_side(change: frames.DesignChange, side: int) -> str | None:
    # settings, which are long, are abbreviated
    value, other = (change.before, change.after)[:: -1 if side else 1]
    if isinstance(value, str) and value.startswith("{"):
        is_both = isinstance(other, str) and other.startswith("{")
        return differing_settings(value, other)[0] if is_both else "plays"
    return None if value is None else format_setting(value)


def _results_section(before: RunResults, after: RunResults, shared: frames.SharedGames) -> Section:
    rates = [{standing.agent: standing.rate for standing in findings.standings} for findings in (before, after)]
    verdicts = [_verdicts(findings) for findings in (before, after)]
    rows: list[dict[str, Any]] = [
        {
            "agent": name,
            "change": Estimate(*[Points(0)] * 3)
            if name in shared.unchanged
            else estimate_of(frames.difference_of(rates[0][name], rates[1][name]), Points),
            "before": Share(rates[0][name].estimate),
            "after": Share(rates[1][name].estimate),
            "verdict_before": verdicts[0].get(name),
            "verdict_after": verdicts[1].get(name),
        }
        for name in after.ranked
        if name in rates[0]
    ]
    both = verdicts[0].keys() & verdicts[1].keys()
    moved = [name for name in after.in_order(both) if verdicts[0][name] != verdicts[1][name]]
    changes = "; ".join(f"{name}, {verdicts[0][name]} before, {verdicts[1][name]} now" for name in moved)
    apart = sum(row["change"].low > 0 or row["change"].high < 0 for row in rows)
    alike = [row["agent"] for row in rows if row["agent"] in shared.unchanged]
    notes = [
        f"{len(moved)} of {pluralise(len(both), 'verdict')} changed{f': {changes}' if changes else ''}."
        if both
        else "",
        "Change of the win rate in percentage points with individual 95 % intervals, treating the runs as "
        f"independent. {apart} of {pluralise(len(rows), 'interval')} exclude 0; by chance alone one in 20 would.",
        f"Exactly 0.0: {', '.join(alike)} played the same games in both runs." if alike else "",
    ]
    keep = ("change", "verdict_after")
    return Section("results", "Results of agents in both runs", tuple(rows), tuple(filter(None, notes)), keep=keep)


def _verdicts(findings: RunResults) -> dict[str, str]:
    if findings.baseline is None:
        return {}
    return {claim.contender: claim.verdict for claim in judge(findings).judged}
