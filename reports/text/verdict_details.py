"""Details of verdicts in words: what they exclude, what they rest on, and what further games would show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from knights_isolation.experiments.statistics import planning
from knights_isolation.experiments.statistics.contender_verdicts import Verdicts
from knights_isolation.experiments.statistics.paired_differences import Comparison, HeadToHead, Verdict
from knights_isolation.experiments.statistics.proportions import WORTH
from knights_isolation.experiments.statistics.run_results import RunResults

from .cell_values import Chance, Points, WordedCell, estimate_of, pluralise
from .wording import (
    SAME_OPPONENTS,
    alike_words,
    finding_sentence,
    is_odd,
    is_too_little,
    p_words,
    points_of,
    state_words,
    verdict_words,
)

_FEW = 3


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


def alike_sentences(findings: RunResults, claims: Sequence[Comparison | HeadToHead]) -> list[str]:
    """Name the contenders that had the baseline's results throughout, and say whether their functions differ."""
    sentences = []
    for claim in claims:
        if isinstance(claim, Comparison) and claim.plays_alike and claim.verdict == "no significant difference":
            own, base = (findings.agents[name].function for name in (claim.contender, claim.baseline))
            differ = "; the functions differ" if own[0] and base[0] and own != base else ""
            sentences.append(f"{claim.contender} and {claim.baseline}: {alike_words(claim)}{differ}.")
    return sentences


def finding_title(findings: RunResults, verdicts: Verdicts) -> str:
    """Return the finding about the contenders without their names, as a short title; empty without any."""
    state = state_words(findings)
    title, _, _ = finding_sentence(findings, verdicts).removeprefix(state).removesuffix(".").partition(";")
    return "" if title.startswith("No complete pairs") else state + title.partition(": ")[0].replace(SAME_OPPONENTS, "")


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


def excluded_sentence(claims: Sequence[Comparison | HeadToHead]) -> str:
    """Return what is excluded for contenders without significant difference; empty if nothing is."""
    unsure = [claim for claim in claims if claim.verdict == "no significant difference"]
    bounded = [claim for claim in unsure if not claim.is_empty and not is_too_little(claim)]
    if not bounded:
        return ""
    if len(bounded) > _FEW:
        return (
            f"{len(bounded)} do not differ significantly from the baseline: none is better by more than the upper end "
            f"of its interval or worse by more than the lower end."
        )
    bounds = [
        f"{claim.contender} is at most {points_of(claim.lead[1])} points better and at most "
        f"{points_of(-claim.lead[0])} points worse than {claim.baseline}"
        for claim in bounded
    ]
    return f"{'; '.join(bounds)}."


def verdict_cell(comparison: Comparison | HeadToHead, worth: float = WORTH) -> WordedCell:
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
        f"{points_of(detectable)} points for the median contender, "
        f"{points_of(min(reach.difference for reach in reaches))} to "
        f"{points_of(max(reach.difference for reach in reaches))} over all."
    ]
    if detectable >= 1:
        sentences = ["Too little data: no difference is detectable with 80 % power."]
    unit = "pair" if isinstance(open_ones[0], HeadToHead) else "opening"
    missing = int(np.median([reach.still_needed for reach in reaches]))
    played = max(open_one.openings for open_one in open_ones)
    wanted = f"Detecting {points_of(worth)} points (set by --worth) takes"
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
    takes = f"needs a lead of {points_of(needed)} points against each" if needed < 1 else "needs more openings"
    return (
        "Better against all: tested at the 5 % level, not adjusted for the number of contenders. “Not significant” "
        f"does not prove the contrary: a contender {points_of(worth)} points better against every opponent passes in "
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


def baseline_openings_words(claims: Sequence[Comparison]) -> str:
    """Return the number of openings the baseline played beyond the contenders', as a clause; empty if none."""
    baseline_openings = max((claim.baseline_openings for claim in claims if claim.paired), default=0)
    if baseline_openings <= max((claim.openings for claim in claims), default=0):
        return ""
    return (
        f", and {baseline_openings:,} of {claims[0].baseline} including its control. A regression "
        f"uses these additional openings, so a difference may deviate from that of the win rates shown"
    )


def control_sentence(comparison: Comparison) -> str:
    """Describe the control's result in a sentence."""
    name, baseline = comparison.contender, comparison.baseline
    found = f"{estimate_of(comparison.difference, Points).text} points, {p_words(comparison.p_value)}"
    if is_odd(comparison):
        return (
            f"Control: {name} is {baseline} on other openings, yet differs by {found}. By chance this happens in one "
            "of 1,000 runs: do not trust this run."
        )
    return (
        f"Control: {name} is {baseline} on {pluralise(comparison.openings, 'opening')} of its own. It differs from "
        f"itself by {found}: chance alone, and a measure of its size."
    )


def two_digits(value: float) -> int:
    """Round an approximate number to two significant digits.

    >>> two_digits(1234.5)
    1200
    """
    return int(float(f"{value:.2g}"))


# fields for programs beside a verdict
_FACTS = ("not_better_by", "not_worse_by", "could_have_found", "more_pairs", "plays_alike")


def control_cell(comparison: Comparison) -> WordedCell:
    """Return whether a control differs from the baseline only by luck, as a verdict of its own kind, as a cell."""
    how, value = ("from itself", "control differs") if is_odd(comparison) else ("by chance", "control")
    return WordedCell(f"control: differs {how}", value, dict.fromkeys(_FACTS))
