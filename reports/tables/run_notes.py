"""Notes and columns that tables of runs share: state, cost, forfeits, games head to head."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from knights_isolation.experiments.record.run_directory import missing_sentence, resume_advice
from knights_isolation.experiments.statistics.contender_verdicts import Verdicts, equal_cost_verdicts
from knights_isolation.experiments.statistics.paired_differences import Comparison, HeadToHead
from knights_isolation.experiments.statistics.proportions import WORTH
from knights_isolation.experiments.statistics.run_results import RunResults, node_costs, relative_costs
from knights_isolation.isolation.rules.game import STEADY, Cost
from knights_isolation.isolation.suggestions import advice

from ..text.cell_values import Estimate, Points, Ratio, Share, estimate_of, join_names, pluralise
from ..text.rendering import Section
from ..text.wording import caveats, forfeit_sentences, short_verdict


def interval_note(findings: RunResults) -> str:
    """Describe what the intervals of win rates refer to, or that there are none, and which games do not count."""
    apart = findings.all_pairs is not findings.pairs
    direct = " Games of contenders with the baseline itself are not in them: see the table opponents." if apart else ""
    if findings.is_census:
        return f"Every opening of this kind on this board was played: the win rates are exact for them.{direct}"
    return f"Win rates with individual 95 % intervals for openings of this kind on this board.{direct}"


def of_runs(findings: RunResults, sections: Iterable[Section]) -> tuple[Section, ...]:
    """Return sections about runs with the state of the runs, and with what every output about them begins with."""
    state, caveat = findings.state, " ".join(caveats(findings))
    return tuple(replace(section, state=state, caveat=caveat) for section in sections)


def run_notes(findings: RunResults) -> tuple[str, ...]:
    """Return the notes that apply to everything reported about these runs."""
    notes = equal_cost_sentences(findings)
    notes += [sentence for source in findings.sources if (sentence := missing_sentence(source.info.path))]
    notes += forfeit_sentences(findings)
    games, planned = findings.played + findings.repeated, findings.planned
    if findings.is_census:
        notes.append("Census: deterministic agents play every opening of this kind from both sides.")
    if findings.sprt and (games == planned or findings.stopped_early):
        from knights_isolation.experiments.statistics.sprt import own_tests

        from ..text.decisions import stopped_sentences

        notes += stopped_sentences(own_tests(findings))
    if not games and planned:
        again = join_names([resume_advice(source.info.path) for source in findings.sources])
        notes.append(f"No games are logged yet. If no process is playing this run, resume it with: {again}")
    if findings.repeated:
        notes.append(f"{findings.repeated:,} games are in several runs and are counted once.")
    if unfinished := findings.pairs.unfinished:
        notes.append(f"{pluralise(unfinished, 'unfinished pair')} (one game missing) excluded from paired analyses.")
    return tuple(notes)


def cost_cell(costs: Mapping[str, Cost], name: str) -> Estimate:
    """Return CPU time per node relative to the baseline's, with its interval; NaN if it was not measured."""
    cost = costs.get(name)
    return times_cell(cost) if cost else Estimate(*[Ratio(math.nan)] * 3)


def times_cell(cost: Cost) -> Estimate:
    """Return a cost ratio with its interval."""
    return Estimate(Ratio(cost.times), Ratio(cost.low), Ratio(cost.high))


def cost_sentence(costs: Mapping[str, Cost], names: Sequence[str], when: str = "when the run began") -> str:
    """Explain cost, and name the agents whose cost is unreliable or unknown; empty without agents."""
    if not names:
        return ""
    if not any(name in costs for name in names):
        return "Cost: not measured; only agents that search by nodes are measured, when a run begins."
    unsteady = [name for name in names if name in costs and not costs[name].is_steady]
    unknown = any(name not in costs for name in names)
    return (
        f"Cost: CPU time per node relative to the baseline, measured in alternation {when}, with 95 % intervals"
        f"{'; –: not measured' if unknown else ''}."
        f"{f' Unreliable, with a spread above {100 * STEADY:.0f} %: {join_names(unsteady)}.' if unsteady else ''}"
    )


def equal_cost_sentences(findings: RunResults) -> list[str]:
    """Return the most important facts about runs at equal cost: each agent's nodes per move, and their basis."""
    if not any(source.info.requested.get("equal_cost") for source in findings.sources):
        return []
    costs = relative_costs(findings) or node_costs(findings)
    limited = [
        (name, f"{facts.limit[1]:,.0f} nodes")
        for name, facts in findings.agents.items()
        if facts.limit and facts.limit[0] == "nodes" and {"baseline", "contender"} & set(facts.roles)
    ]
    if not costs:
        nodes = ", ".join(f"{name} {nodes}" for name, nodes in limited)
        return [f"At equal cost by wall time (as older versions measured it, possibly inaccurate): {nodes} per move."]
    nodes = "; ".join(
        f"{name} {nodes}{times_words(costs.get(name), name == findings.baseline)}" for name, nodes in limited
    )
    return [f"At equal cost by CPU time per node, measured when the run began: {nodes} per move."]


def times_words(cost: Cost | None, is_baseline: bool) -> str:
    """Return how much a node costs over one of the baseline, in parentheses; empty for the baseline itself."""
    if cost is None or is_baseline:
        return ""
    return f" (a node costs {Ratio(cost.times).text}, spread {100 * cost.spread:.1f} %)"


Result = TypeVar("Result", Comparison, HeadToHead, Comparison | HeadToHead)


DEAR = 1.5
"""Cost ratio to the baseline from which on it is mentioned beside a verdict."""


def in_rank_order(findings: RunResults, results: Sequence[Result]) -> list[Result]:
    """Return comparisons in the order of all tables."""
    by_contender = {result.contender: result for result in results}
    return [by_contender[name] for name in findings.in_order(by_contender)]


def head_to_head_cell(verdicts: Verdicts, contender: str) -> dict[str, Estimate | None]:
    """Return the column of games won from the baseline itself; empty if nobody that is compared has met it."""
    if not verdicts.direct:
        return {}
    duel = verdicts.against_baseline(contender)
    return {"head_to_head": estimate_of(duel.jointly) if duel and not duel.is_empty else None}


def direct_note(verdicts: Verdicts) -> str:
    """Explain the column of games won from the baseline itself, and its verdicts; empty without it."""
    if not verdicts.direct:
        return ""
    together = "simultaneous " if len(verdicts.direct) > 1 else ""
    return (
        f"Head to head: share of games won against {verdicts.baseline} itself, on the same openings, with {together}"
        f"95 % intervals of their own; it beats {verdicts.baseline} if the interval is above 50 %. These games are not "
        "in the mean."
    )


def clearest_first(duels: Sequence[HeadToHead]) -> list[HeadToHead]:
    """Sort by adjusted p-value, of an unfinished run by verdict, then by share of games won."""

    def key(duel: HeadToHead) -> tuple[float, float]:
        is_open = duel.verdict == "no significant difference"
        return float(is_open) if math.isnan(duel.adjusted_p) else duel.adjusted_p, -duel.rate.estimate

    return sorted(duels, key=key)


def price_sentence(findings: RunResults, verdicts: Verdicts, costs: Mapping[str, Cost]) -> str:
    """Describe the cost per node of better contenders if nodes limit the search; empty if it is negligible.

    If contenders had the baseline's time, or are limited by time, the result already includes the cost.
    """
    if any(source.info.requested.get("equal_cost") for source in findings.sources):
        return ""
    dear = [
        name
        for name in findings.in_order(claim.contender for claim in verdicts.judged if claim.verdict == "better")
        if (findings.agents[name].limit or ("",))[0] == "nodes" and name in costs and costs[name].times >= DEAR
    ]
    if not dear:
        return ""
    words = ", ".join(f"{name} {Ratio(costs[name].times).text}" for name in dear)
    return (
        f"CPU time per node compared with {verdicts.baseline}: {words}. Equal node limits ignore this cost; "
        f"{_equal_cost_words(findings, dear)}"
    )


def _equal_cost_words(findings: RunResults, names: Sequence[str]) -> str:
    known = equal_cost_verdicts(findings, names)
    use = advice("isolation tournament --equal-cost", "ki.compare(…, equal_cost=True)")
    if known is None:
        return f"{use} accounts for it."
    found = []
    for name, claim in ((name, known.claims[name]) for name in names if name in known.claims):
        lead = Share(claim.rate.estimate) if isinstance(claim, HeadToHead) else Points(claim.difference.estimate)
        found.append(f"{name} {lead.text}, {short_verdict(claim, WORTH)}")
    others = "" if len(known.claims) == len(names) else f"; for the others, use {use}"
    return f"at equal cost, {known.run} found: {'; '.join(found)}{others}."


def cost_words(cost: Cost | str, reference: str) -> str:
    """Format a cost, such as 8.24 ns, 2.26 × (2.24 to 2.29) that of improved; or why it is unknown."""
    if isinstance(cost, str):
        return f"not measured: {cost}"
    amount = cost.nanoseconds if cost.nanoseconds < 1000 else cost.nanoseconds / 1000
    unit = "ns" if cost.nanoseconds < 1000 else "µs"
    unsteady = "" if cost.is_steady else f", unreliable with a spread of {100 * cost.spread:.0f} %"
    return f"{amount:.3g} {unit} of CPU time, {times_cell(cost).text} that of {reference}{unsteady}"
