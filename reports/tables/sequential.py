"""Tables of runs that stop early: best-of, and sequential tests of contenders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from knights_isolation.experiments.statistics.anytime import BestOfContender, BestOfResult
from knights_isolation.experiments.statistics.frames import same_games
from knights_isolation.experiments.statistics.proportions import ALPHA, count_pairs, pair_interval
from knights_isolation.experiments.statistics.run_results import RunResults, node_costs
from knights_isolation.experiments.statistics.sprt import (
    SequentialTest,
    bounds_of,
    error_of,
    model_of,
    run_tests,
)
from knights_isolation.isolation.rules.game import Cost
from knights_isolation.isolation.suggestions import advice

from ..text.cell_values import Estimate, Points, Share, end_text, estimate_of, join_names, pluralise
from ..text.decisions import decision_cell, stopped_cell, unit_words
from ..text.rendering import Section
from ..text.wording import pooled_sentence
from .run_notes import cost_cell, of_runs, run_notes


def contest_section(findings: RunResults, contest: BestOfResult) -> Section:
    """Return one row per contender, the leader first."""
    costs = _costs_over_leader(findings, contest)
    rows = tuple({**row, "cost": cost_cell(costs, str(row["contender"]))} for row in contest_rows(contest))
    notes = (
        *run_notes(findings),
        contest_sentence(contest),
        *dearer_sentences(findings, contest),
        *identical_sentences(findings, contest),
        "Behind: the leader's win rate minus the contender's, in percentage points, over the openings that both have "
        "played against all opponents. A contender is eliminated when its whole interval is above 0, whoever leads "
        f"then. Intervals are valid at any time; each end holds with {100 * (1 - contest.allowed):.4g} %, so the best "
        f"of these {pluralise(len(rows), 'contender')} is eliminated with a probability of at most {100 * ALPHA:g} %.",
    )
    return Section("best_of", f"Best of {len(rows)}", rows, notes)


def dearer_sentences(findings: RunResults, contest: BestOfResult) -> list[str]:
    """Say whether a node of the leader costs more than one of other contenders, unless they played at equal cost."""
    if any(source.info.requested.get("equal_cost") for source in findings.sources):
        return []
    leader, *others = (contestant.contender for contestant in contest.contestants)
    costs = _costs_over_leader(findings, contest)
    cheaper = [
        f"{1 / costs[name].times:.2f} × that of {name}" for name in others if name in costs and costs[name].high < 1
    ]
    if not cheaper:
        return []
    return [
        f"{leader} is dearer: a node of it costs {join_names(cheaper)}. It may not win at equal cost: play them with "
        f"{advice('match --equal-cost', 'ki.match(…, equal_cost=True)')}."
    ]


def identical_sentences(findings: RunResults, contest: BestOfResult) -> list[str]:
    """Say which contenders played the same games, so that none of them can be better."""
    groups = same_games(findings, [contestant.contender for contestant in contest.contestants if contestant.openings])
    return [f"{join_names(group)} are identical: they played the same games, move by move." for group in groups]


def _costs_over_leader(findings: RunResults, contest: BestOfResult) -> dict[str, Cost]:
    costs = node_costs(findings)
    own = costs.get(contest.contestants[0].contender)
    return {name: cost.over(own) for name, cost in costs.items()} if own else {}


def contest_rows(contest: BestOfResult) -> tuple[dict[str, Any], ...]:
    """Return the results of each contender, the leader first."""
    leader = contest.contestants[0]
    return tuple(
        {
            "contender": contestant.contender,
            "openings": contestant.openings,
            "win_rate": Share(contestant.rate),
            "behind": None if contestant is leader else estimate_of(contestant.behind, Points),
            "state": "leads" if contestant is leader else _state(contestant),
        }
        for contestant in contest.contestants
    )


def _state(contender: BestOfContender) -> str:
    # games already running when it dropped out are finished
    if not contender.out_after:
        return "left"
    openings_played = f", {contender.openings:,} played" if contender.openings > contender.out_after else ""
    return f"out after {contender.out_after:,}{openings_played}"


def contest_sentence(contest: BestOfResult) -> str:
    """Name the best contender, or those that may still be the best."""
    left = [contender.contender for contender in contest.left]
    if not contest.contestants[0].openings:
        return "No opening has been completed against all opponents yet."
    if len(left) == 1:
        return f"Best: {left[0]}; all others have been eliminated."
    why = ", and all openings of the run are played" if contest.exhausted else ""
    return f"Remaining of {len(contest.contestants)}: {', '.join(left)}. No significant difference between them{why}."


_STEPS = 20


def sprt_sections(
    findings: RunResults, low: float | None, high: float | None, alpha: float | None = None,
    beta: float | None = None, model: str | None = None,
) -> tuple[Section, ...]:  # fmt: skip
    """Return decisions, and the paths of the log-likelihood ratios to them; what is None is the run's own."""
    usual, error = bounds_of(findings), error_of(findings)
    bounds = usual[0] if low is None else low, usual[1] if high is None else high
    tests = run_tests(findings, *bounds, alpha or error, beta or error, model or model_of(findings))
    rows = [test_row(test) for test in tests]
    steps = [row for test in tests for row in _steps(test)]
    notes = [_method(test) for test in tests[:1]]
    if (pooled := pooled_sentence(findings)) and not all(test.is_duel for test in tests):
        notes.append(f"In this table {pooled}.")
    notes += [_several(tests)] if len(tests) > 1 else []
    notes += [_far_outside(test) for test in tests if test.observations]
    notes += [_exact(test) for test in tests if test.exhausted]
    sections = (
        Section("sprt", "Sequential test", tuple(rows), tuple(note for note in notes if note)),
        Section("path", "Log-likelihood ratio during the run", tuple(steps)),
    )
    return of_runs(findings, sections)


def test_row(test: SequentialTest) -> dict[str, Any]:
    """Return the state of a test: score, log-likelihood ratio, decision, and the estimate after it."""
    mean = float(test.live.mean[-1]) if test.observations else float("nan")
    score = Estimate(*(_live(test, value) for value in (mean, *test.live.last)))
    return {
        "contender": test.contender,
        "pairs" if test.is_duel else "openings": test.observations,
        "score" if test.is_duel else "difference": score,
        "llr": test.path.ratio,
        "lower_bound": test.path.sprt.lower_bound,
        "upper_bound": test.path.sprt.upper_bound,
        "decided_after": test.path.decided_after,
        "decision": decision_cell(test),
        "estimate": stopped_cell(test),
    }


def _steps(test: SequentialTest) -> list[dict[str, Any]]:
    if not test.observations:
        return []
    checkpoints = {int(number) for number in np.linspace(1, test.observations, min(_STEPS, test.observations))}
    if test.path.decided_after:
        checkpoints.add(test.path.decided_after)
    return [
        {
            "contender": test.contender,
            "after": checkpoint,
            "llr": float(test.path.llr[checkpoint - 1]),
            "live_low": _live(test, float(test.live.low[checkpoint - 1])),
            "live_high": _live(test, float(test.live.high[checkpoint - 1])),
            "decided": test.path.decided_after is not None and checkpoint >= test.path.decided_after,
        }
        for checkpoint in sorted(checkpoints)
    ]


def _live(test: SequentialTest, value: float) -> Share | Points:
    return Share(value) if test.is_duel else Points(2 * value - 1)


def _method(test: SequentialTest) -> str:
    unit = "percentage points of the win rate, over openings against all opponents"
    if test.is_duel:
        unit = f"{unit_words(test)}, over pairs"
    return (
        f"Generalized SPRT against {test.baseline}, {test.low:g} against {test.high:g} {unit}; "
        f"α = {test.path.sprt.alpha:g}, β = {test.path.sprt.beta:g}. The test chooses between these two values. If "
        f"the truth is between them, it may choose either. It gives no bounds; the interval does. Both the test and "
        f"the interval next to the score (95 %, valid at any time) allow a look after every observation. "
        f"{_estimate_words(test)} Test and intervals hold for openings of this kind on this board."
    )


def _estimate_words(test: SequentialTest) -> str:
    if not test.is_stop_rule:
        return (
            "No test stopped this run: it played a fixed number of pairs, so there is no estimate after stopping. For "
            "a fixed number of pairs use the intervals of `isolation results`."
        )
    later = test.observations - (test.path.decided_after or test.observations)
    unit = "pair" if test.is_duel else "opening"
    finished = f" It leaves out the {pluralise(later, unit)} finished after the decision, which the score includes."
    return (
        f"The estimate ({unit_words(test)}, after the test has ended) is median-unbiased with a 95 % interval by "
        f"stagewise ordering. The plain score at the decision would be too extreme, because a test tends to stop after "
        f"a lucky streak.{finished if later else ''}"
    )


def _far_outside(test: SequentialTest) -> str:
    # of an open gauntlet test whose interval contains neither hypothesis
    low, high = test.live.last
    if test.is_duel or test.path.decision or (low <= test.path.sprt.high and high >= test.path.sprt.low):
        return ""
    return (
        f"{test.contender} is far from both {test.low:g} and {test.high:g} points, as the interval shows, and still "
        f"undecided: the likelihood ratio only compares these two values, and a result far from both is about equally "
        f"unlikely under either. Its llr may be closer to 0 than that of a smaller difference."
    )


def _several(tests: Sequence[SequentialTest]) -> str:
    sprt = tests[0].path.sprt
    return (
        f"{len(tests)} tests, each with these error rates individually, not adjusted. If all contenders were at "
        f"{tests[0].low:g}, about {len(tests) * sprt.alpha:.2g} would pass by chance."
    )


def _exact(test: SequentialTest) -> str:
    if test.path.decision or not test.observations:
        return ""
    if not test.is_duel:
        if not test.census:
            return ""
        difference = Points(2 * float(test.live.mean[-1]) - 1).text
        return (
            f"All {test.observations:,} openings of this kind were played: {test.contender} differs by exactly "
            f"{difference} points on them."
        )
    pairs = count_pairs(test.path.outcomes)
    share = Share(pairs.score).text
    if test.census:
        return f"All {pairs.n:,} openings of this kind were played: {test.contender} won exactly {share} of the games."
    interval = pair_interval(pairs)
    return (
        f"Undecided after the {pluralise(pairs.n, 'pair')} played: {test.contender} won {share} "
        f"({end_text(Share(interval.low))} to {end_text(Share(interval.high))} % for all openings of this kind)."
    )
