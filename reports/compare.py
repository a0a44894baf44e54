"""The tables that say whether each contender is better than the baseline, by how much, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.inference.clusters import Interval
from experiments.inference.comparison import Comparison
from experiments.inference.duel import Duel
from experiments.inference.pairs import PairInterval
from experiments.inference.planning import WORTH
from experiments.inference.standings import standings
from experiments.verdicts.best_of import read_contest
from experiments.verdicts.comparisons import Verdicts, judge, judge_each
from experiments.verdicts.effort import FEWEST_MOVES, LEAST_SECONDS, Price, measure_price
from experiments.verdicts.equal_cost import known_at_equal_cost
from experiments.verdicts.findings import Findings
from reports.accuracy import theory_section
from reports.best_of import contest_section
from reports.cells import Elo, Estimate, Points, PValue, Range, Share, Times, counted, estimate_of
from reports.sections import Section
from reports.summary import pair_cells, run_notes
from reports.wording import (
    against_all_sentence,
    baseline_openings_words,
    control_sentence,
    excluded_sentence,
    holm_sentence,
    interval_sentence,
    reach_sentences,
    short_verdict,
    told_against_all,
    told_control,
    told_verdict,
)

DEAR = 1.5
"""From this on, a node's time over the baseline's is said beside a verdict."""


def compare_sections(findings: Findings, worth: float = WORTH) -> tuple[Section, ...]:
    """The verdicts, the effects per opponent, and what they rest on; in a round-robin, each against each.

    Of a best-of it says who is left.

    `worth` is a difference worth having, in share of games won.
    """
    if contest := read_contest(findings):
        theory = theory_section(findings)
        return contest_section(findings, contest), *([theory] if theory else [])
    if each := judge_each(findings):
        theory = theory_section(findings)
        return each_section(findings, each, worth), *([theory] if theory else [])
    verdicts = judge(findings)
    prices = measure_price(findings)
    sections = []
    if verdicts.comparisons or not verdicts.duels:
        sections += [verdict_section(findings, verdicts, prices, worth), effects_section(findings, verdicts)]
    if verdicts.duels:
        sections.append(duels_section(findings, verdicts, prices, worth))
    if theory := theory_section(findings):
        sections.append(theory)
    return tuple(sections)


def verdict_section(
    findings: Findings, verdicts: Verdicts, prices: Mapping[str, Price], worth: float = WORTH
) -> Section:
    """One row a contender, in the order of all tables."""
    rates = {
        one.agent: estimate_of(one.rate) for one in (*standings(findings.pairs), *standings(findings.pooled_pairs))
    }
    rows = []
    for one in ranked_comparisons(findings, verdicts):
        is_control = one.contender in verdicts.controls
        row: dict[str, Any] = {
            "contender": one.contender,
            "difference": estimate_of(one.difference, Points),
            "verdict": told_control(one) if is_control else told_verdict(one, worth),
            "jointly": None if is_control else _ends(one.jointly, Points),
            "cost": cost_of(prices, one.contender, verdicts.baseline),
            "win_rate": rates[one.contender],
            "p": PValue(one.p_value),
            "adjusted_p": None if is_control else PValue(one.adjusted_p),
            "better_against_all": told_against_all(one),
            "heterogeneity_p": PValue(one.heterogeneity_p),
            "openings": one.openings,
        }
        rows.append(row)
    title = f"Beside {verdicts.baseline}, which won {rates[verdicts.baseline].shown}" if rates else "No games yet"
    return Section("verdicts", title, tuple(rows), verdict_notes(findings, verdicts, prices, worth))


def ranked_comparisons(findings: Findings, verdicts: Verdicts) -> list[Comparison]:
    """The comparisons in the order of all tables."""
    found = {one.contender: one for one in verdicts.comparisons}
    return [found[name] for name in findings.in_order(found)]


def effects_section(findings: Findings, verdicts: Verdicts) -> Section:
    """The difference to the baseline against each opponent, and their mean."""
    rows = []
    for one in ranked_comparisons(findings, verdicts):
        against = {effect.opponent: effect for effect in one.effects}
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
            for effect in map(against.__getitem__, findings.in_order(against))
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
    note = (
        "Intervals hold with 95 %, each by itself. p better: one-sided, against no better than the baseline; not "
        "adjusted for the number of opponents or contenders."
    )
    return Section("effects", "Difference to the baseline by opponent", tuple(rows), (note,) if rows else ())


def duels_section(findings: Findings, verdicts: Verdicts, prices: Mapping[str, Price], worth: float = WORTH) -> Section:
    """One row a contender that met the baseline itself."""
    rows = []
    found = {one.contender: one for one in verdicts.duels}
    for one in map(found.__getitem__, findings.in_order(found)):
        row: dict[str, Any] = {
            "contender": one.contender,
            "win_rate": estimate_of(one.rate),
            "jointly": _ends(one.jointly, Share),
            "elo": elo_of(one),
            "verdict": told_verdict(one, worth),
            "p": PValue(one.p_value),
            "adjusted_p": PValue(one.adjusted_p),
            "cost": cost_of(prices, one.contender, verdicts.baseline),
            **pair_cells(one.pairs),
        }
        rows.append(row)
    claims = [one for one in verdicts.duels if one.contender not in verdicts.controls]
    notes = [*run_notes(findings), f"{population_words(findings, verdicts.duels)} A pair is one opening, both sides."]
    notes += filter(None, [interval_sentence(claims), holm_sentence(claims), excluded_sentence(claims)])
    notes += reach_sentences(claims, worth, findings.population)
    notes += filter(None, [cost_sentence(prices, [one.contender for one in verdicts.duels], verdicts.baseline)])
    for one in verdicts.duels:
        if one.is_census:
            notes.append(f"These {one.pairs.n:,} openings, all of their kind: {one.contender}'s share is exact.")
    return Section("head_to_head", f"Head to head with {verdicts.baseline}", tuple(rows), tuple(notes))


def each_section(findings: Findings, duels: Sequence[Duel], worth: float = WORTH) -> Section:
    """One row two agents, where nobody is the baseline; the clearest first."""
    rows = [
        {
            "agent": one.contender,
            "against": one.baseline,
            "win_rate": estimate_of(one.rate),
            "jointly": _ends(one.jointly, Share),
            "elo": elo_of(one),
            "verdict": told_verdict(one, worth),
            "p": PValue(one.p_value),
            "adjusted_p": PValue(one.adjusted_p),
            **pair_cells(one.pairs),
        }
        for one in clearest_first(duels)
    ]
    notes = (
        *run_notes(findings),
        f"Nobody is the baseline: each against each, of their own games, p-values Holm-adjusted over "
        f"{counted(len(duels), 'match')}. {population_words(findings, duels)} With "
        "--baseline AGENT the others are compared with that one, over the opponents both have met.",
        interval_sentence(duels),
        *filter(None, [holm_sentence(duels), excluded_sentence(duels)]),
        *reach_sentences(duels, worth, findings.population),
    )
    return Section("each_against_each", "Each against each", tuple(rows), notes)


def clearest_first(duels: Sequence[Duel]) -> list[Duel]:
    """By adjusted p-value, then by share of games won."""
    return sorted(duels, key=lambda duel: (duel.adjusted_p, -duel.rate.estimate))


def elo_of(duel: Duel) -> Estimate:
    """The contender's lead in Elo."""
    rate = duel.rate
    of_pairs = PairInterval(duel.pairs, None, rate.confidence, "", rate.estimate, rate.low, rate.high)
    return Estimate(*(Elo(value) for value in of_pairs.elo))


def population_words(findings: Findings, results: Sequence[Comparison | Duel]) -> str:
    """Which openings all is about, and whether that is exact, in sentences."""
    size = f"{findings.population:,} " if findings.population else ""
    words = f"All is about the {size}openings of this kind on this board"
    if results and all(one.is_census for one in results):
        words += ", each of which was played: exact."
    elif any(one.pool for one in results):
        words += "; where no player leaves anything to chance, only the unplayed ones are uncertain."
    else:
        words += ", those played as a sample, clustered by symmetry."
    return f"{words} Other boards and longer openings are another question."


def verdict_notes(
    findings: Findings, verdicts: Verdicts, prices: Mapping[str, Price], worth: float = WORTH
) -> tuple[str, ...]:
    """What the verdicts rest on, and what was left out of them."""
    notes = [*run_notes(findings)]
    if not verdicts.comparisons:
        return (*notes, "No complete pairs to compare yet.")
    claims = verdicts.claims
    openings = max(one.openings for one in claims or verdicts.comparisons)
    notes.append(
        f"Differences in percentage points, mean over opponents, from {counted(openings, 'opening')}"
        f"{baseline_openings_words(claims)}. "
        f"{population_words(findings, claims or verdicts.comparisons)} Verdicts: p-values of exact sign flips, "
        f"Holm-adjusted over {counted(verdicts.family, 'contender')}."
    )
    if claims:
        notes += filter(None, [interval_sentence(claims), holm_sentence(claims), excluded_sentence(claims)])
    notes += reach_sentences(claims, worth, findings.population)
    chance = [name for name in findings.pairs.agents if not findings.agents[name].is_deterministic]
    if chance and not any(one.pool for one in verdicts.comparisons):
        notes.append(f"{_chance_words(findings, chance)}: no result is exact for these openings.")
    if sentence := against_all_sentence(claims, worth):
        notes.append(sentence)
    if sentence := price_sentence(findings, verdicts, prices):
        notes.append(sentence)
    notes += [control_sentence(one) for one in verdicts.comparisons if one.contender in verdicts.controls]
    notes += left_out(verdicts.comparisons)
    notes += filter(None, [cost_sentence(prices, [one.contender for one in verdicts.comparisons], verdicts.baseline)])
    return tuple(notes)


def _chance_words(findings: Findings, names: Sequence[str]) -> str:
    """Who leaves moves to chance or a clock, and of whom nobody knows."""
    unknown = [name for name in names if findings.agents[name].is_unknown]
    known = [name for name in names if name not in unknown]
    told = f"{', '.join(known)} {'leaves' if len(known) == 1 else 'leave'} moves to chance or a clock" if known else ""
    untold = (
        f"of how {', '.join(unknown)} {'plays' if len(unknown) == 1 else 'play'} nothing is known" if unknown else ""
    )
    words = ", and ".join(filter(None, (told, untold)))
    return f"{words[0].upper()}{words[1:]}" if not known else words


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


def _ends(interval: Interval, kind: type[Share] | type[Points]) -> Range:
    return Range(kind(interval.low), kind(interval.high))


def price_sentence(findings: Findings, verdicts: Verdicts, prices: Mapping[str, Price]) -> str:
    """What those that are better pay for it: time a node, where nodes limit the search; empty if nothing to speak of.

    Where contenders were given the baseline's time, or the clock limits them, the price is in the result already.
    """
    if any(source.info.requested.get("equal_cost") for source in findings.sources):
        return ""
    claims: list[Comparison | Duel] = [*verdicts.claims, *verdicts.duels]
    dear = []
    for name in findings.in_order(one.contender for one in claims if one.verdict == "better"):
        limit, cost = findings.agents[name].limit, cost_of(prices, name, verdicts.baseline)
        if limit and limit[0] == "nodes" and cost >= DEAR:
            dear.append(name)
    if not dear:
        return ""
    words = ", ".join(f"{name} {cost_of(prices, name, verdicts.baseline).shown}" for name in dear)
    return (
        f"The price: a node takes {words} the time of {verdicts.baseline}'s. Equal nodes do not charge for that; "
        f"{_equal_cost_words(findings, dear)}"
    )


def _equal_cost_words(findings: Findings, names: Sequence[str]) -> str:
    """What equal cost says of contenders where it is known, and how to learn it of the others."""
    known = known_at_equal_cost(findings, names)
    if known is None:
        return "isolation tournament --equal-cost does."
    told = "; ".join(
        f"{name} {_lead_words(known.claims[name])}, {short_verdict(known.claims[name], WORTH)}"
        for name in names
        if name in known.claims
    )
    others = "" if len(known.claims) == len(names) else "; of the others, isolation tournament --equal-cost will tell"
    return f"at equal cost, in {known.run}: {told}{others}."


def _lead_words(one: Comparison | Duel) -> str:
    return Share(one.rate.estimate).shown if isinstance(one, Duel) else Points(one.difference.estimate).shown


def cost_of(prices: Mapping[str, Price], name: str, baseline: str) -> Times:
    """Time per node over the baseline's; NaN where too little searching of either was timed."""
    own, usual = prices[name], prices[baseline]
    is_known = own.is_enough and usual.is_enough and usual.nanoseconds_a_node > 0
    return Times(own.nanoseconds_a_node / usual.nanoseconds_a_node if is_known else math.nan)


def cost_sentence(prices: Mapping[str, Price], names: Sequence[str], baseline: str) -> str:
    """What cost means, and why it is not told of some, or of none; nothing where nobody is named."""
    told = "Cost: time per node over the baseline's, on the machine that played"
    unknown = [math.isnan(cost_of(prices, name, baseline)) for name in names]
    if not unknown:
        return ""
    if not any(unknown):
        return f"{told}."
    if all(unknown):
        enough = f"{FEWEST_MOVES} moves and {LEAST_SECONDS} second of search"
        return f"Cost: –, as it would rest on too little; {enough} would do."
    return (
        f"{told}; – where it would rest on too little: fewer than {FEWEST_MOVES} moves or {LEAST_SECONDS} second of "
        "search of either, or moves too quick for the clock."
    )
