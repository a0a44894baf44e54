"""The account of evidence: what verdicts by games are adjusted for besides the other contenders of their report.

A question asks whether an agent differs from a baseline. All its openings count once, from whatever run they come, and
each look at them is remembered; its p-value holds however often one looks. Questions about the same baseline, board,
kind of opening and limit are a family, and its p-values are adjusted together (Holm), so that a later question can
withdraw an earlier verdict.

Repeated looks are tested by `alpha_spending`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import scipy

from ..record.tries import Try, code_of, family_of_games, pack_ids, unpack_ids
from .alpha_spending import Look, counted, deviate, evidence_p_value, nominal_level, pooled, repeated_p_value
from .game_pairs import record_of
from .paired_differences import Comparison, Evidence, HeadToHead, rate_of
from .proportions import Interval, agree, stretch
from .run_results import RunResults
from .step_down import holm, score_flip_test

Result: TypeAlias = Comparison | HeadToHead


@dataclass(frozen=True)
class Claim:
    """A result with the question that it answers; `family` and `question` are those of `Try`.

    `planned` is the number of openings planned when the question was first looked at, `looks` are all looks at it, the
    last one included (see `counted`). `new` are the ids of the openings that the last look added; `is_new`: it is at
    more openings than any before.
    """

    result: Result
    family: str
    question: str
    planned: int
    looks: tuple[Look, ...]
    new: frozenset[int]
    is_new: bool

    @property
    def p_value(self) -> float:
        """The question's p-value, however often it was looked at."""
        return evidence_p_value(self.looks, self.planned)

    @property
    def is_first(self) -> bool:
        """Return whether the result is the first look at the question."""
        return len(self.looks) == 1 and self.looks[0].z == deviate(self.result.p_value, self.result.estimate)

    @property
    def times(self) -> list[float]:
        """Openings at each look over those planned first."""
        return [look.openings / self.planned for look in self.looks]


def claim_of(findings: RunResults, result: Result, tries: Sequence[Try]) -> Claim | None:
    """Return a result as a claim, given all tries so far, or None.

    A census is exact; see also `RunResults.is_evidence`.
    """
    if not result.parts.unseen or result.is_empty or not findings.is_evidence:
        return None
    family = family_of(findings, result)
    question = _question(findings, result)
    earlier = [each for each in tries if (each.family, each.question) == (family, question) and each.z is not None]
    all_looks, new = _looks(findings, result, earlier)
    looks = counted(all_looks)
    planned = earlier[0].planned if earlier else looks[0].openings
    if not earlier and len(looks) == 1:
        planned = math.ceil(planned * findings.planned / max(findings.played + findings.repeated, 1))
    is_new = not earlier or looks[-1].openings > earlier[-1].looked
    return Claim(result, family, question, max(planned, 1), looks, new, is_new)


def family_of(findings: RunResults, result: Result) -> str:
    """Return the family of a result in words."""
    asked = findings.sources[0].info.requested
    is_duel = isinstance(result, HeadToHead)
    return family_of_games(result.baseline, is_duel, str(asked["openings"]), asked["board"], asked.get("limit"))


def account_for(
    runs: Sequence[RunResults],
    results: Sequence[Sequence[Result]],
    controls: Sequence[Collection[str]],
    tries: Sequence[Try],
    alpha: float,
) -> list[list[Result]]:
    """Return the results of the runs of one report, with claims adjusted for all that was tried; controls are none."""
    adjusted = [list(of_run) for of_run in results]
    for kind in (Comparison, HeadToHead):
        claims = {
            (number, place): claim
            for number, findings in enumerate(runs)
            for place, result in enumerate(results[number])
            if isinstance(result, kind) and result.contender not in controls[number]
            if (claim := claim_of(findings, result, tries))
        }
        judged = _adjust([*claims.values()], tries, alpha, is_one_run=len(runs) == 1)
        for (number, place), result in zip(claims, judged, strict=True):
            adjusted[number][place] = result
    return adjusted


def _adjust(claims: Sequence[Claim], tries: Sequence[Try], alpha: float, *, is_one_run: bool) -> list[Result]:
    """Return the results of claims, which are one family with what else was tried in theirs, adjusted for all of it."""
    # The results of one run are adjusted for its contenders already: that stands as long as there is nothing else.
    known = _current_p_values(tries)
    own = {(claim.family, claim.question): claim.p_value for claim in claims}
    is_first = is_one_run and all(claim.is_first for claim in claims)
    results: list[Result] = []
    for claim in claims:
        others = {key: p for key, p in known.items() if key[0] == claim.family and key not in own}
        together = {**others, **own}
        values = dict(zip(together, holm(list(together.values())), strict=True))
        p_value, jointly = values[claim.family, claim.question], claim.result.jointly
        is_live = math.isnan(claim.result.adjusted_p)
        if is_first and not others and not is_live:
            p_value = repeated_p_value(claim.times, claim.result.adjusted_p)
        elif not is_live:
            as_unsure = sum(value > alpha for value in values.values())
            jointly = _interval(claim, alpha / (as_unsure if p_value > alpha else len(values)))
        if not (is_live and p_value <= alpha):
            jointly = agree(jointly, p_value <= alpha, claim.result.null)
        evidence = Evidence(tuple(look.openings for look in claim.looks), len(others), claim.p_value)
        adjusted_p = claim.result.adjusted_p if is_live else p_value
        family = claim.result.family if is_one_run else len(claims)
        results.append(replace(claim.result, adjusted_p=adjusted_p, jointly=jointly, family=family, evidence=evidence))
    return results


def adjusted_p_values(tries: Sequence[Try]) -> dict[tuple[str, str], float]:
    """Return the p-value of each family and question, adjusted for all questions of the family."""
    known = _current_p_values(tries)
    adjusted: dict[tuple[str, str], float] = {}
    for family in dict.fromkeys(family for family, _ in known):
        keys = [key for key in known if key[0] == family]
        adjusted.update(zip(keys, holm([known[key] for key in keys]), strict=True))
    return adjusted


def look_of(claim: Claim | None, findings: RunResults, result: Result) -> dict[str, Any]:
    """Return what a `Try` says of the last look at a result, and of one that is no claim."""
    if claim is None:
        return {"family": family_of(findings, result), "question": _question(findings, result)}
    return {
        "family": claim.family,
        "question": claim.question,
        "planned": claim.planned,
        "looked": claim.looks[-1].openings,
        "z": claim.looks[-1].z,
        "openings": pack_ids(claim.new),
    }


def _current_p_values(tries: Sequence[Try]) -> dict[tuple[str, str], float]:
    """Return each question's p-value: that of all looks at its games, or the one of a fixed set of positions."""
    questions: dict[tuple[str, str], list[Try]] = {}
    for each in tries:
        if each.p_value is not None:
            questions.setdefault((each.family, each.question), []).append(each)
    p_values = {}
    for key, looks in questions.items():
        by_games = [Look(each.looked, each.z) for each in looks if each.z is not None]
        by_position = looks[-1].p_value or 0.0
        p_values[key] = evidence_p_value(counted(by_games), looks[0].planned) if by_games else by_position
    return p_values


def _looks(findings: RunResults, result: Result, earlier: Sequence[Try]) -> tuple[list[Look], frozenset[int]]:
    """Return all looks at a question with that at a result, and the ids of the openings that are new to it."""
    # If the result has all openings seen before, as an extended run has, the look is at the result; otherwise its new
    # openings are added to those.
    seen = set().union(*(unpack_ids(each.openings) for each in earlier))
    pairs = findings.all_pairs if isinstance(result, HeadToHead) else findings.pairs
    record, of_baseline = record_of(pairs, result.contender), pairs.agents.index(result.baseline)
    met = (record.opponent == of_baseline) == isinstance(result, HeadToHead)
    own = set(pairs.cluster_ids[np.unique(record.cluster[met])].tolist())
    openings = result.openings
    looks = [Look(each.looked, each.z or 0.0) for each in earlier]
    if not looks:
        looks = [Look(before, 0.0) for before in findings.looks if before < openings]
    if not seen or (seen <= own and openings > looks[-1].openings):
        looks.append(Look(openings, deviate(result.p_value, result.estimate)))
    elif new := own - seen:
        is_new = ~np.isin(pairs.cluster_ids[result.parts.cluster], [*(own & seen)])
        test = score_flip_test(result.parts.score[is_new])
        more = max(round(openings * len(new) / len(own)), 1)
        looks.append(pooled(looks[-1], more, deviate(test.p_value, test.statistic)))
    return looks, frozenset(own - seen)


def _interval(claim: Claim, level: float) -> Interval:
    own_level, degrees = nominal_level(claim.times, level), max(claim.result.parts.clusters - 1, 1)
    wide, usual = (float(scipy.special.stdtrit(degrees, 1 - each / 2)) for each in (own_level, claim.result.alpha))
    interval = stretch(claim.result.parts.alone, max(wide / usual, 1.0))
    return rate_of(interval) if isinstance(claim.result, HeadToHead) else interval


def _question(findings: RunResults, result: Result) -> str:
    """Return a text for an agent and its opponents, equal for equal code."""
    opponents = (result.baseline,) if isinstance(result, HeadToHead) else result.opponents
    against = sorted(code_of(findings.spec_and_settings(name)[1]) for name in opponents)
    at_cost = " at equal cost" * bool(findings.sources[0].info.requested.get("equal_cost"))
    return f"{code_of(findings.spec_and_settings(result.contender)[1])}{at_cost} against {code_of(' '.join(against))}"
