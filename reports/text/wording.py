"""Results in words: verdicts, decisions, controls, published claims.

Results contain facts only; tables, pages and examples all use this module for their words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import shorten
from typing import Literal

import numpy as np

from knights_isolation.experiments.published.published_claims import Claim, Repetition
from knights_isolation.experiments.statistics import planning
from knights_isolation.experiments.statistics.agent_results import ForfeitGroup, forfeits_of
from knights_isolation.experiments.statistics.contender_verdicts import Verdicts
from knights_isolation.experiments.statistics.game_pairs import standing
from knights_isolation.experiments.statistics.paired_differences import Comparison, HeadToHead, Verdict
from knights_isolation.experiments.statistics.run_results import RunResults
from knights_isolation.experiments.statistics.sequential_tests import SequentialTest
from knights_isolation.isolation.suggestions import advice

from .cell_values import (
    Chance,
    Elo,
    Estimate,
    Points,
    PValue,
    Share,
    WordedCell,
    end_text,
    estimate_of,
    join_names,
    pluralise,
)
from .cell_values import signed as signed

# shares of games: above it, forfeits affect results as much as typical differences; from it on, they decide them
_MANY_FORFEITS, _MOSTLY_FORFEITS = 0.05, 0.5
_DISTRUST = 0.001  # p-value of a control below which something is wrong: it occurs in one of 1,000 correct runs
_EVERYTHING = 0.75  # share of the range of differences above which an interval carries no information
_LONGEST_DETAIL = 200
_FEW = 3
_FIRST = 6
_SAME = " against the same opponents"
# fields for programs beside a verdict
_FACTS = ("not_better_by", "not_worse_by", "could_have_found", "more_pairs", "plays_alike")
# what a contender did: over shared opponents how much it won, head to head a verb
_VERBS = {"better": ("more", "beat"), "worse": ("less", "lose")}

Word = Verdict | Literal["same moves"]
"""Results of a comparison; in solved positions also that both make the same moves."""


def verdict_of(estimate: float, is_significant: bool) -> Word:
    """Return the verdict on a difference, positive if the contender is ahead.

    >>> verdict_of(-0.02, True), verdict_of(0.02, False)
    ('worse', 'no significant difference')
    """
    if not is_significant or not estimate:
        return "no significant difference"
    return "better" if estimate > 0 else "worse"


def verdict_clause(word: Word, is_quick: bool = False) -> str:
    """Format a verdict as a clause; a quick test only suggests one.

    >>> verdict_clause("better"), verdict_clause("better", is_quick=True), verdict_clause("no significant difference")
    ('better', 'looks better (quick test)', 'no significant difference yet')
    """
    if word == "no significant difference":
        return f"{word} yet"
    return f"looks {word} (quick test)" if is_quick and word in ("better", "worse") else word


def verdict_sentence(contender: str, baseline: str, word: Word, difference: str) -> str:
    """Format a verdict as a sentence; `difference` is the estimate with its interval and unit.

    >>> verdict_sentence("Mine", "Base", "no significant difference", "+0.3 (−1.0 to +1.6) points")
    'Mine shows no significant difference from Base yet: +0.3 (−1.0 to +1.6) points.'
    """
    if word == "no significant difference":
        return f"{contender} shows {word} from {baseline} yet: {difference}."
    if word in ("better", "worse"):
        return f"{contender} is {word} than {baseline}: {difference}."
    return f"{contender} and {baseline}: {word}."


def verdict_words(comparison: Comparison | HeadToHead, worth: float = planning.WORTH) -> str:
    """Format a verdict as one short phrase; for contenders without one, see also `excluded_sentence`.

    `worth` is a difference worth having: if the interval is within ± `worth`, there is no such difference.
    """
    if comparison.verdict == "equal":
        return "equal on all openings"
    if comparison.verdict != "no significant difference":
        return f"{comparison.verdict} on all openings" if comparison.is_census else comparison.verdict
    if comparison.is_empty:
        return "no significant difference: no complete pairs in common"
    least, most = comparison.lead
    if _is_too_little(comparison):
        return "too little data"
    if isinstance(comparison, Comparison) and comparison.plays_alike:
        return _alike_words(comparison)
    return f"no difference of {_size(worth)}" if max(most, -least) < worth else "no significant difference"


def _alike_words(comparison: Comparison) -> str:
    # games that depend on chance do not count
    games = 2 * sum(effect.openings for effect in comparison.effects if not effect.is_chance)
    of_chance = sum(effect.is_chance for effect in comparison.effects)
    among = f" against {pluralise(len(comparison.effects) - of_chance, 'opponent')}" if of_chance else ""
    return f"equal results in all {games:,} games of {pluralise(comparison.openings, 'opening')}{among}"


def alike_sentences(findings: RunResults, claims: Sequence[Comparison | HeadToHead]) -> list[str]:
    """Name the contenders that had the baseline's results throughout, and say whether their functions differ."""
    sentences = []
    for claim in claims:
        if isinstance(claim, Comparison) and claim.plays_alike and claim.verdict == "no significant difference":
            own, base = (findings.agents[name].function for name in (claim.contender, claim.baseline))
            differ = "; the functions differ" if own[0] and base[0] and own != base else ""
            sentences.append(f"{claim.contender} and {claim.baseline}: {_alike_words(claim)}{differ}.")
    return sentences


def _is_too_little(comparison: Comparison | HeadToHead) -> bool:
    least, most = comparison.lead
    return most - least >= _EVERYTHING * (1 if isinstance(comparison, HeadToHead) else 2)


def short_verdict(comparison: Comparison | HeadToHead, worth: float = planning.WORTH) -> str:
    """Format a verdict in two or three words: the part of a longer one before the colon."""
    return verdict_words(comparison, worth).partition(":")[0].removesuffix(" on all openings")


def state_words(findings: RunResults) -> str:
    """Return the state of an unfinished or extended run as the beginning of whatever is said of it, or ""."""
    if not findings.is_interim:
        return ""
    if findings.is_extended:
        return "Extended: "
    games = f"{findings.played + findings.repeated:,} of {findings.planned:,} games"
    return f"{'Stopped at' if findings.state == 'stopped' else 'After'} {games}: "


def _state_caveat(findings: RunResults) -> str:
    games, planned = findings.played + findings.repeated, findings.planned
    if findings.is_extended and games >= planned:
        before = join_names([f"{openings:,}" for openings in findings.looks])
        return (
            f"Extended: the run was finished with {before} openings before, so verdicts and their intervals are those "
            "that are valid at any time."
        )
    if games >= planned:
        return ""
    if findings.stopped_early:
        return (
            f"Stopped early, after {games:,} of at most {planned:,} games. Intervals and p-values for a fixed "
            f"number of games are overconfident here; `isolation {findings.judged_by}` accounts for the stopping."
        )
    begin = {"running": "Still running: ", "stopped": "Stopped: ", "finished": ""}[findings.state]
    logged = f"{begin}{games:,} of {planned:,} planned games are in the log."
    if not findings.is_interim:
        return logged
    return (
        f"{logged} Verdicts and their intervals are those that are valid at any time; other intervals and p-values are "
        "meant for a single look at the end: with eight looks, 20 % of runs show a significant difference by chance."
    )


def finding_sentence(findings: RunResults, verdicts: Verdicts) -> str:
    """Summarise a run in one sentence.

    Who won more than the baseline against the same opponents, who less, who beats it head to head, and the control's
    result. Of an unfinished run it begins with its state.
    """
    known = [claim for claim in verdicts.judged if not claim.is_empty]
    if not known:
        return "No complete pairs to compare yet."
    parts = [
        clause
        for kind in (Comparison, HeadToHead)
        for clause in _clauses([claim for claim in known if isinstance(claim, kind)], verdicts.baseline)
    ]
    parts += filter(None, [direct_clause(verdicts)])
    if verdicts.disagreeing:
        parts.append(f"the two verdicts differ{_listed(verdicts.disagreeing) if len(verdicts.direct) > 1 else ''}")
    for check in verdicts.checks:
        why = ", too much for chance: do not trust this run" if _is_odd(check) else " (chance)"
        parts.append(f"check: the baseline against itself differs by {Points(check.estimate).text} points{why}")
    return f"{state_words(findings)}{'; '.join(parts)}."


def finding_title(findings: RunResults, verdicts: Verdicts) -> str:
    """Return the finding about the contenders without their names, as a short title; empty without any."""
    state = state_words(findings)
    title, _, _ = finding_sentence(findings, verdicts).removeprefix(state).removesuffix(".").partition(";")
    return "" if title.startswith("No complete pairs") else state + title.partition(": ")[0].replace(_SAME, "")


def direct_clause(verdicts: Verdicts) -> str:
    """Return who of a gauntlet's contenders beats the baseline head to head, as a clause; empty without such games."""
    duels = [duel for duel in verdicts.direct if not duel.is_empty]
    if not duels:
        return ""
    if len(duels) == 1:
        return f"head to head {duel_words(duels[0])}"
    first, *others = _clauses(duels, "it")
    return f"head to head {', '.join([first.replace('None', 'none', 1), *others])}"


def duel_words(duel: HeadToHead) -> str:
    """Return whether a contender beats the baseline, with the share of games that it won, as a clause."""
    word = {"better": "it beats", "worse": "it loses to", "equal": "it is equal to"}.get(duel.verdict, "")
    found = f"{word} {duel.baseline}" if word else "no significant difference"
    return f"{found}, {estimate_of(duel.jointly).text}"


def _clauses(results: Sequence[Comparison | HeadToHead], baseline: str) -> list[str]:
    if not results:
        return []
    is_duel = isinstance(results[0], HeadToHead)
    surely = "" if all(result.is_census for result in results) else "significantly "
    same, whom = ("", f" {baseline}") if is_duel else (_SAME, f"{_SAME} than {baseline}")
    if len(results) == 1:
        name, kind = results[0].contender, results[0].verdict
        if kind == "no significant difference":
            return [f"No significant difference between {name} and {baseline}{same}"]
        if kind == "equal":
            equally = f"and {baseline} are equal on all openings" if is_duel else f"won as much{same} as {baseline}"
            return [f"{name} {equally}"]
        return [f"{name} {_did(kind, 1, surely, is_duel)}{' to' * (is_duel and kind == 'worse')}{whom}"]
    better, worse, equal = (_named(results, kind) for kind in ("better", "worse", "equal"))
    did = [
        _did(kind, len(names), "" if names else surely, is_duel)
        for kind, names in (("better", better), ("worse", worse))
    ]
    parts = [f"{len(better) or 'None'} of {len(results)} {did[0]}{whom}{_listed(better)}"]
    parts.append(f"{len(worse) or 'none'} {did[1]}{_listed(worse)}")
    return parts + ([f"equal on all openings{_listed(equal)}"] if equal else [])


def _did(kind: str, number: int, surely: str, is_duel: bool) -> str:
    amount, verb = _VERBS[kind]
    return f"{surely}{verb}{'s' * (number < 2)}" if is_duel else f"won {surely}{amount}"


def _named(comparisons: Sequence[Comparison | HeadToHead], kind: str) -> list[str]:
    # those of the largest lead first
    ranked = sorted(comparisons, key=lambda comparison: -sum(comparison.lead))
    return [comparison.contender for comparison in ranked if comparison.verdict == kind]


def opponents_title(verdicts: Verdicts | None) -> str:
    """Return against whom the best contender leads most and least; empty without two opponents."""
    best = verdicts.best if verdicts else None
    if best is None or len(best.effects) < 2:
        return ""
    most = max(best.effects, key=lambda effect: effect.difference.estimate)
    least = min(best.effects, key=lambda effect: effect.difference.estimate)
    return (
        f"The largest lead of {best.contender} is {Points(most.difference.estimate).text} against {most.opponent}, "
        f"the smallest {Points(least.difference.estimate).text} against {least.opponent}"
    )


def _listed(names: Sequence[str]) -> str:
    if not names:
        return ""
    overflow = f" and {len(names) - _FIRST} more" if len(names) > _FIRST else ""
    return f": {', '.join(names[:_FIRST])}{overflow}"


def excluded_sentence(claims: Sequence[Comparison | HeadToHead]) -> str:
    """Return what is excluded for contenders without significant difference; empty if nothing is."""
    unsure = [claim for claim in claims if claim.verdict == "no significant difference"]
    bounded = [claim for claim in unsure if not claim.is_empty and not _is_too_little(claim)]
    if not bounded:
        return ""
    if len(bounded) > _FEW:
        return (
            f"{len(bounded)} do not differ significantly from the baseline: none is better by more than the upper end "
            f"of its interval or worse by more than the lower end."
        )
    bounds = [
        f"{claim.contender} is at most {_size(claim.lead[1])} points better and at most {_size(-claim.lead[0])} points "
        f"worse than {claim.baseline}"
        for claim in bounded
    ]
    return f"{'; '.join(bounds)}."


def verdict_cell(comparison: Comparison | HeadToHead, worth: float = planning.WORTH) -> WordedCell:
    """Return a verdict as a cell: its phrase, and for programs the plain verdict, its bounds and games needed.

    `not_better_by` and `not_worse_by` are the ends of the joint interval, `could_have_found` is the difference
    detectable with power 0.8, and `more_pairs` are the contender's pairs still needed to detect `worth`, if there is no
    verdict yet.
    """
    reach = planning.detectable_effect(comparison, worth)
    least, most = comparison.lead
    pairs = reach.still_needed * (len(comparison.opponents) if isinstance(comparison, Comparison) else 1)
    missing = pairs if comparison.verdict == "no significant difference" else None
    facts = (max(most, 0.0), max(-least, 0.0), reach.difference, missing, comparison.plays_alike)
    known = dict.fromkeys(_FACTS) if comparison.is_empty else dict(zip(_FACTS, facts, strict=True))
    return WordedCell(verdict_words(comparison, worth), comparison.verdict, known)


def reach_sentences(claims: Sequence[Comparison | HeadToHead], worth: float, population: int | None) -> list[str]:
    """Describe which difference could have been detected, and the cost of detecting one worth having."""
    open_ones = [claim for claim in claims if not claim.is_empty and not claim.is_census]
    if not open_ones:
        return []
    reaches = [planning.detectable_effect(open_one, worth) for open_one in open_ones]
    detectable = float(np.median([reach.difference for reach in reaches]))
    sentences = [
        f"Detectable differences (80 % power, adjusted for {pluralise(len(claims), 'comparison')}): "
        f"{_size(detectable)} points for the median contender, {_size(min(reach.difference for reach in reaches))} to "
        f"{_size(max(reach.difference for reach in reaches))} over all."
    ]
    if detectable >= 1:
        sentences = ["Too little data: no difference is detectable with 80 % power."]
    unit = "pair" if isinstance(open_ones[0], HeadToHead) else "opening"
    missing = int(np.median([reach.still_needed for reach in reaches]))
    played = max(open_one.openings for open_one in open_ones)
    wanted = f"Detecting {_size(worth)} points (set by --worth) takes"
    if not missing:
        sentences.append(f"{wanted} no more than the {pluralise(played, unit)} played, for the median contender.")
    elif population and played + missing > population:
        sentences.append(
            f"{wanted} more openings than the {population:,} of this kind on the board. Without randomness, playing "
            f"all of them gives an exact result; otherwise use longer openings or a larger board."
        )
    else:
        share = f", of {population:,} on the board" if population else ""
        sentences.append(
            f"{wanted} about {two_digits(missing):,} {unit}s more than the {played:,} played{share}, for the median "
            f"contender."
        )
    return sentences


def against_all_cell(comparison: Comparison) -> WordedCell:
    """Return, as a cell, whether a contender is significantly better against every opponent."""
    is_shown = comparison.better_against_every_opponent
    return WordedCell("yes" if is_shown else "not significant", is_shown, {})


def against_all_sentence(claims: Sequence[Comparison], worth: float) -> str:
    """Explain what "not significant" means: the power of the test for a contender that is better against all."""
    known = [claim for claim in claims if claim.effects and not claim.is_census]
    if not known:
        return ""
    power, needed = np.median([planning.power_over_every_opponent(claim, worth) for claim in known], axis=0).tolist()
    chance = Chance(power).text
    takes = f"needs a lead of {_size(needed)} points against each" if needed < 1 else "needs more openings"
    return (
        "Better against all: tested at the 5 % level, not adjusted for the number of contenders. “Not significant” "
        f"does not prove the contrary: a contender {_size(worth)} points better against every opponent passes in "
        f"{chance} % of such runs; 80 % power {takes}."
    )


def interval_sentence(claims: Sequence[Comparison | HeadToHead]) -> str:
    """Explain for which comparisons intervals and verdicts hold jointly, and how they are related."""
    if all(claim.is_census for claim in claims):
        return ""
    is_live = all(math.isnan(claim.adjusted_p) for claim in claims)
    many = len(claims) > 1
    held = f"{100 * claims[0].jointly.confidence:.0f} %"
    held += f" for all {pluralise(len(claims), 'comparison')} at once" if many or is_live else ""
    basis = (
        f"Intervals, p-values and verdicts hold with {held}, from a {'step-down ' * many}sign-flip test over openings"
    )
    if is_live:
        basis = f"Intervals and verdicts hold however often one looks, with {held}"
    return f"{basis}: a contender is better or worse if its interval excludes 0."


def evidence_sentences(claims: Sequence[Comparison | HeadToHead]) -> list[str]:
    """Say which earlier looks at the contenders, and how many other tries, p-values and verdicts allow for."""
    known = {claim.contender: claim.evidence for claim in claims if claim.evidence}
    looks = [
        f"{name} after {join_names([f'{openings:,}' for openings in evidence.looks])} openings"
        for name, evidence in known.items()
        if len(evidence.looks) > 1
    ]
    sentences = [f"Looked at more than once, which p-values and verdicts allow for: {'; '.join(looks)}."] * bool(looks)
    sentences += pooling_sentences(claims)
    if others := max((evidence.others for evidence in known.values()), default=0):
        sentences.append(
            f"Adjusted for {pluralise(others, 'further test')} of this project with the same baseline, board, openings "
            f"and limit as well: {advice('isolation tried', 'ki.tried()')}."
        )
    return sentences


def pooling_sentences(claims: Sequence[Comparison | HeadToHead]) -> list[str]:
    """Say which verdicts rest on openings of other runs as well, of which the differences shown say nothing."""
    return [
        f"The verdict on {claim.contender} pools {pluralise(claim.evidence.looks[-1], 'opening')}, "
        f"{elsewhere:,} of them in other runs of this project (pooled {p_words(claim.evidence.p_value)}); what is "
        f"shown is of the {claim.openings:,} here."
        for claim in claims
        if claim.evidence and (elsewhere := claim.evidence.looks[-1] - claim.openings) > 0
    ]


def pooled_sentence(findings: RunResults) -> str:
    """Name the controls whose games count as the baseline's, with its win rate including them; empty if none."""
    controls, baseline = findings.pooled_controls, findings.baseline
    if not controls or baseline not in findings.pooled_pairs.agents:
        return ""
    rate = standing(findings.pooled_pairs, baseline).rate.estimate
    return f"the games of {', '.join(controls)} count for {baseline}, which won {Share(rate).text} including them"


def baseline_openings_words(claims: Sequence[Comparison]) -> str:
    """Return the number of openings the baseline played beyond the contenders', as a clause; empty if none."""
    baseline_openings = max((claim.baseline_openings for claim in claims if claim.paired), default=0)
    if baseline_openings <= max((claim.openings for claim in claims), default=0):
        return ""
    return (
        f", and {baseline_openings:,} of {claims[0].baseline} including its control. A regression "
        f"uses these additional openings, so a difference may deviate from that of the win rates shown"
    )


def control_cell(comparison: Comparison) -> WordedCell:
    """Return whether a control differs from the baseline only by luck, as a verdict of its own kind, as a cell."""
    how, value = ("from itself", "control differs") if _is_odd(comparison) else ("by chance", "control")
    return WordedCell(f"control: differs {how}", value, dict.fromkeys(_FACTS))


def control_sentence(comparison: Comparison) -> str:
    """Describe the control's result in a sentence."""
    name, baseline = comparison.contender, comparison.baseline
    found = f"{estimate_of(comparison.difference, Points).text} points, {p_words(comparison.p_value)}"
    if _is_odd(comparison):
        return (
            f"Control: {name} is {baseline} on other openings, yet differs by {found}. By chance this happens in one "
            "of 1,000 runs: do not trust this run."
        )
    return (
        f"Control: {name} is {baseline} on {pluralise(comparison.openings, 'opening')} of its own. It differs from "
        f"itself by {found}: chance alone, and a measure of its size."
    )


def caveats(findings: RunResults) -> list[str]:
    """Return what every output about runs begins with: what follows from their state, and whose games are left out."""
    unranked = (
        f"Without a rank, having never made a legal move: {', '.join(sorted(findings.unranked))}. Their "
        f"{pluralise(findings.left_out, 'game')} count for nobody."
    )
    return [*filter(None, [_state_caveat(findings), unranked if findings.unranked else ""])]


def forfeit_sentences(findings: RunResults) -> list[str]:
    """Report the forfeits by agent, and their effect on the results."""
    games, groups = findings.played, forfeits_of(findings)
    total = sum(group.games for group in groups)
    if not total:
        return []
    by_agent: dict[str, list[ForfeitGroup]] = {}
    for group in groups:
        by_agent.setdefault(group.agent, []).append(group)
    clauses = [
        f"{name} lost {pluralise(sum(group.games for group in lost), 'game')} "
        f"by {' and '.join(map(_reason_words, lost))}"
        for name, lost in sorted(by_agent.items(), key=lambda item: -sum(group.games for group in item[1]))
    ]
    sentences = [
        f"{total:,} of {pluralise(games, 'game')} ({Share(total / games).text}) were forfeits: {'; '.join(clauses)}."
    ]
    if total > _MANY_FORFEITS * games:
        effect = f", which puts {join_names(sorted(by_agent))} lower in the ranking"
        if total >= _MOSTLY_FORFEITS * games:
            effect = ": the ranking mostly reflects failures, not strength"
        sentences.append(f"They count as losses{effect}. Fix these errors and rerun.")
    return sentences


def forfeit_notes(are_none: bool, resigned: int) -> tuple[str, ...]:
    """Return the notes of a table of forfeits: that there are none, and how many games were resigned."""
    notes = ("None: no game was lost by a failure.",) if are_none else ()
    if not resigned:
        return notes
    were = "game was" if resigned == 1 else "games were"
    return (*notes, f"{resigned:,} {were} resigned, which is no forfeit.")


def _reason_words(forfeit: ForfeitGroup) -> str:
    # with the detail of the first game in the log, such as the file and line of an error
    detail = f" ({shorten(forfeit.detail, _LONGEST_DETAIL)})" if forfeit.detail else ""
    return f"{forfeit.reason}{detail}"


def decision_words(test: SequentialTest) -> str:
    """Return which hypothesis a sequential test accepted, or that it is open and why."""
    if test.path.decision:
        bound = f"{test.high if test.path.decision == 'H1' else test.low:g}".replace("-", "−")
        return f"accepted: {bound} {unit_words(test)} ({test.path.decision})"
    undecided = "undecided"
    if test.census:
        undecided = "undecided when the openings ran out"
    elif test.exhausted:
        undecided = f"undecided after the {pluralise(test.observations, 'pair' if test.is_duel else 'opening')} played"
    if test.is_held_back:
        return f"{undecided}: a bound is crossed, but not after adding half a lost and half a won pair"
    return undecided


def decision_cell(test: SequentialTest) -> WordedCell:
    """Return a decision as a cell: H1, H0 or undecided, the two hypotheses, and whether the openings ran out."""
    details = {"low": test.low, "high": test.high, "unit": unit_words(test), "openings_ran_out": test.census}
    return WordedCell(decision_words(test), test.path.decision or "undecided", details)


def unit_words(test: SequentialTest) -> str:
    """Return the unit of a sequential test's bounds."""
    if not test.is_duel:
        return "points"
    return "normalized Elo" if test.path.sprt.model == "normalized" else "Elo"


def stopped_cell(test: SequentialTest) -> Estimate | None:
    """Return the median-unbiased estimate after a test, with its interval; None while the test is open."""
    if test.estimate is None:
        return None
    ends = (test.estimate.estimate, test.estimate.low, test.estimate.high)
    return Estimate(*(Elo(end) if test.is_duel else Points(end / 100) for end in ends))


def stopped_sentences(tests: Sequence[SequentialTest]) -> list[str]:
    """Describe the decisions of sequential tests, with estimates of strength that account for the stopping rule."""
    sentences = []
    for test in tests:
        cell = stopped_cell(test)
        estimate = f" Median-unbiased estimate: {cell.text} {unit_words(test)}." if cell else ""
        sentences.append(f"{decision_sentence(test)}{estimate}")
    return sentences


def decision_sentence(test: SequentialTest) -> str:
    """Describe the decision of a sequential test, or the log-likelihood ratio and the bounds of an open one."""
    read = pluralise(test.path.decided_after or test.observations, "pair" if test.is_duel else "opening")
    unit, (low, high) = unit_words(test), (signed(bound) for bound in (test.low, test.high))
    if test.path.decision:
        is_h1 = test.path.decision == "H1"
        word, opposite, by = ("stronger", "weaker", -test.low) if is_h1 else ("weaker", "stronger", test.high)
        verdict = f"{word} than {test.baseline}" if by <= 0 else f"not {opposite} than {test.baseline} by {by:g} {unit}"
        accepted, other = (high, low) if is_h1 else (low, high)
        return (
            f"Decided after {read}: {test.contender} is {verdict} ({test.path.decision}: {accepted} {unit} rather than "
            f"{other})."
        )
    last = float(test.path.llr[-1]) if test.observations else 0.0
    bounds = (last, test.path.sprt.lower_bound, test.path.sprt.upper_bound)
    ratio, lower, upper = (f"{bound:+.2f}".replace("-", "−") for bound in bounds)
    held = "; a bound is crossed, but not after adding half a lost and half a won pair" if test.is_held_back else ""
    return (
        f"UNDECIDED after {read}: the log-likelihood ratio of {test.contender} is {ratio}, between {lower} "
        f"(H0: {low} {unit}) and {upper} (H1: {high}){held}."
    )


def claim_words(claim: Claim) -> str:
    """Describe a published claim, and whether it holds, in a sentence or two."""
    if not claim.opponents:
        return f"{claim.agent}: no opponent in common with {claim.baseline}, so no comparison is possible."
    difference = claim.test.difference
    low, high = end_text(Points(difference.low)), end_text(Points(difference.high))
    shares = (
        f"{claim.agent} won {Share(claim.contender_wins / claim.contender_games).text} of {claim.contender_games:,} "
        f"games, {claim.baseline} won {Share(claim.baseline_wins / claim.baseline_games).text} of "
        f"{claim.baseline_games:,}: {Points(difference.estimate).text} points "
        f"({100 * difference.confidence:.0f} % interval {low} to {high}), "
        f"{p_words(claim.test.p_value)}, adjusted {p_words(claim.adjusted_p)}"
    )
    if claim.published == "equal":
        return f"{shares}. No difference was published."
    verdict = "holds" if claim.stands else "does not hold: chance alone could explain the difference"
    caveat = ""
    if claim.is_anonymous and len(claim.tables) > 1:
        caveat = f" This holds if {claim.agent} was the same function in all {len(claim.tables)} runs."
    return f"{shares}. The claim that it is {claim.published} {verdict}.{caveat}"


def repetition_words(repetition: Repetition) -> str:
    """Describe the results of measuring the same baseline several times, in a sentence or two."""
    rates = [run.rate.estimate for run in repetition.runs]
    odd = "" if repetition.is_luck else " That is more than chance explains: something else changed."
    return (
        f"{repetition.agent} was measured {len(repetition.runs)} times and won between {Share(min(rates)).text} and "
        f"{Share(max(rates)).text}: the same player differs from itself by {100 * repetition.largest_difference:.1f} "
        f"points; two runs of this length differ by up to {100 * repetition.expected_difference:.1f} points by chance "
        f"alone (test that all runs are equal: {p_words(repetition.p_value)}).{odd}"
    )


def p_words(value: float) -> str:
    """Format a p-value for a sentence.

    >>> p_words(0.04), p_words(0.0001)
    ('p = 0.040', 'p < 0.001')
    """
    text = PValue(value).text
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def two_digits(value: float) -> int:
    """Round an approximate number to two significant digits.

    >>> two_digits(1234.5)
    1200
    """
    return int(float(f"{value:.2g}"))


def _size(value: float) -> str:
    return f"{max(100 * value, 0.0):.1f}"


def _is_odd(control: Comparison) -> bool:
    return control.p_value <= _DISTRUST
