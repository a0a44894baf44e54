"""What results are called: verdicts, decisions, controls and published claims in words, each rule once.

Results themselves hold facts only; tables, pages and examples all speak through here.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Protocol

from experiments.inference.comparison import Comparison, Verdict
from experiments.inference.published import Claim, Repetition
from experiments.verdicts.findings import Findings
from experiments.verdicts.forfeits import forfeits_of
from experiments.verdicts.sequential import SequentialTest
from reports.cells import Points, PValue, Share, Told, counted, estimate_of

_MANY_FORFEITS = 0.05
"""Above this share of the games, forfeits move results as much as any difference people look for."""
_MOST_PAIRS = 1e6
"""More pairs than that are no advice: the difference seen is next to nothing."""


class Judged(Protocol):
    """What a verdict is put into words from: a comparison or a duel."""

    @property
    def verdict(self) -> Verdict:
        """For openings at large."""

    @property
    def is_empty(self) -> bool:
        """Whether there was nothing to compare."""

    @property
    def is_census(self) -> bool:
        """Whether all openings of the kind were played."""

    @property
    def more_pairs(self) -> float:
        """About how many pairs are missing to find a difference of the size seen."""


def verdict_words(one: Judged) -> str:
    """A verdict for openings at large as one plain phrase, and where there is none, what it would take."""
    if one.verdict != "cannot tell":
        return one.verdict
    if one.is_empty:
        return "cannot tell: no complete pairs in common"
    if one.is_census:
        return "cannot tell beyond these openings, all of which were played"
    if one.more_pairs > _MOST_PAIRS:
        return "cannot tell: no difference to speak of was seen"
    return f"cannot tell: about {two_digits(one.more_pairs):,} more pairs would be needed"


def told_verdict(one: Judged) -> Told:
    """A verdict as a cell: its phrase, and for programs the bare verdict and how many pairs are missing, if known."""
    missing = one.more_pairs if one.verdict == "cannot tell" and math.isfinite(one.more_pairs) else None
    return Told(verdict_words(one), one.verdict, {"more_pairs": missing})


def told_control(one: Comparison) -> Told:
    """What a control shows, as a cell: a verdict of its own."""
    return Told(control_words(one), "differs" if _is_odd(one) else "no difference", {"more_pairs": None})


def control_words(one: Comparison) -> str:
    """Whether a control does what it should: differ from the baseline by luck alone."""
    return "control: differs from itself!" if _is_odd(one) else "control: no difference, as it should be"


def control_sentence(one: Comparison) -> str:
    """What the control shows, in a sentence."""
    shown = estimate_of(one.difference, Points).shown
    if _is_odd(one):
        return (
            f"Control: {one.contender} is {one.baseline} on openings of its own, and still differs by {shown} points, "
            f"{p_words(one.p_value)}. One run in twenty does so by luck; otherwise distrust this run."
        )
    return (
        f"Control: {one.contender} is {one.baseline} on {counted(one.openings, 'opening')} of its own. "
        f"It differs from itself by {shown} points, {p_words(one.p_value)}: luck, and a measure of how much there is."
    )


def forfeit_sentences(findings: Findings) -> list[str]:
    """How many games were lost by anything but having no move left, by whom, and what that does to the rest."""
    games, found = len(findings.games), forfeits_of(findings)
    total = sum(one.games for one in found)
    if not total:
        return []
    by_agent: dict[str, Counter[str]] = {}
    for one in found:
        by_agent.setdefault(one.agent, Counter())[one.reason] += one.games
    told = [
        f"{name} lost {counted(reasons.total(), 'game')} by {' and '.join(reasons)}"
        for name, reasons in sorted(by_agent.items(), key=lambda item: -item[1].total())
    ]
    sentences = [
        f"{total:,} of {counted(games, 'game')} ({Share(total / games).shown}) were forfeits: {'; '.join(told)}."
    ]
    if total > _MANY_FORFEITS * games:
        sentences.append(
            "What follows counts them as losses: it says who fails, and little of who plays better. Mend what fails, "
            "and play again."
        )
    return sentences


def decision_words(test: SequentialTest) -> str:
    """Which of its two differences a sequential test decided for, or that it is open and what holds it back."""
    chosen = {"H1": (test.high, test.low), "H0": (test.low, test.high)}
    if test.path.decision:
        this, other = (f"{bound:g}".replace("-", "−") for bound in chosen[test.path.decision])
        return f"rather {this} than {other} {unit_words(test)}"
    undecided = "undecided when the openings ran out" if test.exhausted else "undecided"
    if test.is_held_back:
        return f"{undecided}: beyond a bound, but not with half a lost and half a won pair added"
    return undecided


def told_decision(test: SequentialTest) -> Told:
    """A decision as a cell: H1, H0 or undecided, between which differences, and whether the openings ran out."""
    more = {"low": test.low, "high": test.high, "unit": unit_words(test), "openings_ran_out": test.exhausted}
    return Told(decision_words(test), test.path.decision or "undecided", more)


def unit_words(test: SequentialTest) -> str:
    """What a sequential test's bounds are counted in."""
    return "Elo" if test.is_duel else "points"


def claim_words(claim: Claim) -> str:
    """What was published about an agent, and whether it stands, in a sentence or two."""
    if not claim.opponents:
        return f"{claim.agent}: no opponent in common with {claim.baseline}, nothing can be said."
    difference = claim.test.difference
    low, high = Points(difference.low).shown, Points(difference.high).shown
    shares = (
        f"{claim.agent} won {Share(claim.contender_wins / claim.contender_games).shown} of {claim.contender_games:,} "
        f"games, {claim.baseline} {Share(claim.baseline_wins / claim.baseline_games).shown} of "
        f"{claim.baseline_games:,}: {Points(difference.estimate).shown} points "
        f"({100 * difference.confidence:.0f} % interval {low} to {high}), "
        f"{p_words(claim.test.p_value)}, adjusted {p_words(claim.adjusted_p)}"
    )
    if claim.published == "equal":
        return f"{shares}. No difference was published."
    verdict = "stands" if claim.stands else "does not stand: luck alone could explain it"
    caveat = ""
    if claim.is_anonymous and len(claim.tables) > 1:
        caveat = f" This holds if {claim.agent} was the same function in all {len(claim.tables)} runs."
    return f"{shares}. The claim that it is {claim.published} {verdict}.{caveat}"


def repetition_words(one: Repetition) -> str:
    """What measuring the same baseline several times shows, in a sentence or two."""
    rates = [run.rate.estimate for run in one.runs]
    odd = "" if one.is_luck else " That is more than luck explains: something else changed."
    return (
        f"{one.agent} was measured {len(one.runs)} times and won between {Share(min(rates)).shown} and "
        f"{Share(max(rates)).shown}: the same player differs from itself by {100 * one.largest_difference:.1f} "
        f"points; two runs of this length differ by up to {100 * one.expected_difference:.1f} points by luck "
        f"alone (test that all runs are alike: {p_words(one.test.p_value)}).{odd}"
    )


def p_words(value: float) -> str:
    """A p-value in a sentence.

    >>> p_words(0.04), p_words(0.0001)
    ('p = 0.040', 'p < 0.001')
    """
    text = PValue(value).shown
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def two_digits(value: float) -> int:
    """A number nobody should take for exact: rounded to two significant digits.

    >>> two_digits(1234.5)
    1200
    """
    return int(float(f"{value:.2g}"))


def _is_odd(control: Comparison) -> bool:
    return control.p_value <= control.alpha
