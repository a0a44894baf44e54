"""Decisions of sequential tests in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .cell_values import Elo, Estimate, Points, WordedCell, pluralise, signed

if TYPE_CHECKING:
    from knights_isolation.experiments.statistics.sprt import SequentialTest


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
    return [
        decision_sentence(test)
        + (f" Median-unbiased estimate: {cell.text} {unit_words(test)}." if (cell := stopped_cell(test)) else "")
        for test in tests
    ]


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
    last = test.path.ratio
    bounds = (last, test.path.sprt.lower_bound, test.path.sprt.upper_bound)
    ratio, lower, upper = (f"{bound:+.2f}".replace("-", "−") for bound in bounds)
    held = "; a bound is crossed, but not after adding half a lost and half a won pair" if test.is_held_back else ""
    return (
        f"UNDECIDED after {read}: the log-likelihood ratio of {test.contender} is {ratio}, between {lower} "
        f"(H0: {low} {unit}) and {upper} (H1: {high}){held}."
    )
