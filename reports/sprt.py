"""The tables of a sequential test: what was decided, and the way there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.inference.pairs import count_pairs, pair_interval
from experiments.verdicts.findings import Findings
from experiments.verdicts.sequential import SequentialTest, bounds_of, run_tests
from reports.cells import Estimate, Points, Share, counted
from reports.sections import Section
from reports.wording import pooled_sentence, told_decision

_STEPS = 20


def sprt_sections(
    findings: Findings, low: float | None, high: float | None, alpha: float = 0.05, beta: float = 0.05
) -> tuple[Section, ...]:
    """Decisions, and the path of the log-likelihood ratio to them."""
    usual = bounds_of(findings)
    bounds = usual[0] if low is None else low, usual[1] if high is None else high
    tests = run_tests(findings, *bounds, alpha, beta)
    rows = [_row(test) for test in tests]
    steps = [row for test in tests for row in _steps(test)]
    notes = [_method(test) for test in tests[:1]]
    notes.append(_with_control(findings, tests))
    notes += [_several(tests)] if len(tests) > 1 else []
    notes += [_exact(test) for test in tests if test.is_duel and test.exhausted]
    return (
        Section("sprt", "Sequential test", tuple(rows), tuple(note for note in notes if note)),
        Section("path", "Log-likelihood ratio on the way", tuple(steps)),
    )


def _row(test: SequentialTest) -> dict[str, Any]:
    live_low, live_high = test.live.last
    mean = float(test.live.mean[-1]) if test.observations else float("nan")
    shown: Estimate = Estimate(Share(mean), Share(live_low), Share(live_high))
    if not test.is_duel:
        shown = Estimate(*(Points(2 * value - 1) for value in (mean, live_low, live_high)))
    return {
        "contender": test.contender,
        "pairs" if test.is_duel else "openings": test.observations,
        "score" if test.is_duel else "difference": shown,
        "llr": float(test.path.llr[-1]) if test.observations else 0.0,
        "lower_bound": test.path.sprt.lower_bound,
        "upper_bound": test.path.sprt.upper_bound,
        "decided_after": test.path.decided_after,
        "decision": told_decision(test),
    }


def _steps(test: SequentialTest) -> list[dict[str, Any]]:
    """The path at about twenty places, the decision's among them."""
    if not test.observations:
        return []
    places = {int(place) for place in np.linspace(1, test.observations, min(_STEPS, test.observations))}
    if test.path.decided_after:
        places.add(test.path.decided_after)
    return [
        {
            "contender": test.contender,
            "after": place,
            "llr": float(test.path.llr[place - 1]),
            "live_low": _live(test, float(test.live.low[place - 1])),
            "live_high": _live(test, float(test.live.high[place - 1])),
            "decided": test.path.decided_after == place,
        }
        for place in sorted(places)
    ]


def _live(test: SequentialTest, value: float) -> Share | Points:
    return Share(value) if test.is_duel else Points(2 * value - 1)


def _method(test: SequentialTest) -> str:
    """What was tested, in a sentence."""
    unit = (
        "Elo, over pairs" if test.is_duel else "percentage points of the win rate, over openings against all opponents"
    )
    return (
        f"Generalized SPRT against {test.baseline}, {test.low:g} against {test.high:g} {unit}; "
        f"α = {test.path.sprt.alpha:g}, β = {test.path.sprt.beta:g}. A test chooses between these two: where the truth "
        "lies between them it may choose either, and it bounds nothing; the interval does. It was made for "
        "looking after every observation, and so was the interval beside the score (95 %, at any time). "
        "Both are about the openings of the run's kind on its board."
    )


def _with_control(findings: Findings, tests: Sequence[SequentialTest]) -> str:
    """Whose openings are read with the baseline's; empty if nobody's."""
    pooled = pooled_sentence(findings)
    return f"Here {pooled}." if pooled and not all(test.is_duel for test in tests) else ""


def _several(tests: Sequence[SequentialTest]) -> str:
    """What error rates of single tests mean for so many of them."""
    sprt = tests[0].path.sprt
    return (
        f"{len(tests)} tests, each with these error rates by itself and not adjusted: were all contenders at "
        f"{tests[0].low:g}, about {len(tests) * sprt.alpha:.2g} would pass by luck."
    )


def _exact(test: SequentialTest) -> str:
    """The exact share when the openings ran out."""
    if test.path.decision or not test.observations:
        return ""
    pairs = count_pairs(test.path.outcomes)
    share = Share(pairs.score).shown
    if test.census:
        return (
            f"The openings ran out: {test.contender} won exactly {share} of the games from these {pairs.n:,} openings, "
            "all of their kind."
        )
    interval = pair_interval(pairs)
    return (
        f"The openings ran out after {counted(pairs.n, 'pair')}: {test.contender} won {share} "
        f"({Share(interval.low).shown} to {Share(interval.high).shown} for all openings of the kind)."
    )
