"""Verdict on each contender of a run: difference to the baseline, interval, significance; and runs at other costs."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TypeVar

from ..record.run_directory import FACTS, HOME, TRIES, keeps_tries, load_run
from ..record.schema import RunInfo
from .alpha_spending import Look, deviate, evidence_p_value, repeated_p_value
from .game_pairs import opponents_of, record_of
from .paired_differences import Comparison, Evidence, HeadToHead, compare_all, compare_each
from .proportions import ALPHA, Interval, agree
from .run_results import RunResults, load_findings

_SIGNS = {"better": 1, "worse": -1}

Result = TypeVar("Result", Comparison, HeadToHead, Comparison | HeadToHead)


@dataclass(frozen=True)
class Verdicts:
    """Comparisons of all contenders with the baseline: over shared opponents, or head to head if there are none.

    `direct` are the games head to head of contenders that are in `comparisons`: an answer to another question, and a
    family of their own.
    """

    baseline: str
    comparisons: tuple[Comparison, ...]
    duels: tuple[HeadToHead, ...]
    controls: tuple[str, ...]
    direct: tuple[HeadToHead, ...] = ()

    @property
    def results(self) -> tuple[Comparison | HeadToHead, ...]:
        """All comparisons, over shared opponents and head to head."""
        return *self.comparisons, *self.duels, *self.direct

    @property
    def claims(self) -> tuple[Comparison, ...]:
        """The comparisons that are not controls."""
        return tuple(comparison for comparison in self.comparisons if comparison.contender not in self.controls)

    @property
    def checks(self) -> tuple[Comparison, ...]:
        """The comparisons of controls, which show what chance does."""
        return tuple(comparison for comparison in self.comparisons if comparison.contender in self.controls)

    @property
    def judged(self) -> tuple[Comparison | HeadToHead, ...]:
        """One result of each contender that is no control: over shared opponents, or else head to head."""
        return *self.claims, *(duel for duel in self.duels if duel.contender not in self.controls)

    @property
    def best(self) -> Comparison | None:
        """The claim of the largest difference; None without any."""
        claims = [claim for claim in self.claims if not claim.is_empty]
        return max(claims, key=lambda claim: claim.estimate, default=None)

    @property
    def family(self) -> int:
        """Number of contenders that share the error level."""
        return len(self.judged)

    def against_baseline(self, contender: str) -> HeadToHead | None:
        """Return the result head to head of a contender that is compared over shared opponents; None without games."""
        return next((duel for duel in self.direct if duel.contender == contender), None)

    @property
    def disagreeing(self) -> tuple[str, ...]:
        """Contenders whose verdicts differ: over shared opponents and head to head, both with games."""
        return tuple(
            claim.contender
            for claim in self.claims
            if (duel := self.against_baseline(claim.contender))
            and not claim.is_empty
            and not duel.is_empty
            and _SIGNS.get(claim.verdict, 0) != _SIGNS.get(duel.verdict, 0)
        )


def judge(findings: RunResults, alpha: float = ALPHA) -> Verdicts:
    """Compare every contender with the baseline; p-values and intervals are joint over all of them except controls.

    As long as games are missing, and in an extended run, joint intervals are those that are valid at any time, and
    there are no adjusted p-values. Verdicts also allow for earlier looks at the same contenders, and for what else was
    tried (`account`). Games head to head with the baseline are judged among themselves. ValueError if there is no
    baseline, or no agent to compare with it.
    """
    return judge_together([findings], alpha)[0]


def judge_together(runs: Sequence[RunResults], alpha: float = ALPHA) -> list[Verdicts]:
    """Judge several runs of one report, as `judge` does; p-values and intervals are joint over contenders of all."""
    separate = [_compare(findings, alpha) for findings in runs]
    controls = [findings.having("control") for findings in runs]
    has_tries = keeps_tries() and (HOME / TRIES).exists()
    if len(runs) == 1 and not (runs[0].is_interim or runs[0].looks or has_tries):
        accounted = [[_first_look(runs[0], result, controls[0], alpha) for result in separate[0]]]
    else:
        from ..record.tries import known_tries
        from .account import account_for

        accounted = account_for(runs, separate, controls, known_tries(), alpha)
    verdicts = []
    for findings, results, of_run in zip(runs, accounted, controls, strict=True):
        comparisons = tuple(result for result in results if isinstance(result, Comparison))
        compared = {comparison.contender for comparison in comparisons}
        met = [result for result in results if isinstance(result, HeadToHead)]
        duels, direct = (tuple(duel for duel in met if (duel.contender in compared) == both) for both in (False, True))
        verdicts.append(Verdicts(str(findings.baseline), comparisons, duels, of_run, direct))
    return verdicts


def _first_look(findings: RunResults, result: Result, controls: Collection[str], alpha: float) -> Result:
    """Return a claim with the p-value of a first look, which leaves some error to later ones; others unchanged."""
    if not (findings.is_evidence and result.parts.unseen) or result.is_empty or result.contender in controls:
        return result
    look = Look(result.openings, deviate(result.p_value, result.estimate))
    evidence = Evidence((look.openings,), 0, evidence_p_value((look,), look.openings))
    p_value = repeated_p_value([1.0], result.adjusted_p)
    jointly = agree(result.jointly, p_value <= alpha, result.null)
    return replace(result, adjusted_p=p_value, jointly=jointly, evidence=evidence)


def _compare(findings: RunResults, alpha: float) -> tuple[Comparison | HeadToHead, ...]:
    baseline, pairs = findings.baseline, findings.pairs
    if baseline is None:
        known = ", ".join(pairs.agents) or "none"
        raise ValueError(f"no baseline to compare with: name one with --baseline; agents: {known}")
    if not findings.played:
        return ()
    near = opponents_of(pairs, baseline) | {baseline}
    chosen = [name for name in findings.contenders if opponents_of(pairs, name) & near]
    if not chosen:
        raise ValueError(
            f"no agent has played {baseline} or one of its opponents: name another baseline with --baseline"
        )
    chance = {
        name: [other for other in pairs.agents if not findings.repeats_itself([name, baseline, other])]
        for name in chosen
    }
    controls, pool = findings.having("control"), findings.population
    pools, also = dict.fromkeys(chosen, pool) if pool else {}, findings.pooled_controls
    results = compare_all(pairs, baseline, chosen, controls, alpha=alpha, pools=pools, chance=chance, also=also)
    if findings.is_interim:
        results = _at_any_time(findings, results, controls, alpha)
    compared = [result.contender for result in results if isinstance(result, Comparison)]
    asked = [(name, baseline) for name in compared if name in opponents_of(findings.all_pairs, baseline) - {*controls}]
    direct = compare_each(findings.all_pairs, asked, alpha=alpha, pools=[findings.pool_of(names) for names in asked])
    # a test of the differences has stopped these games as well
    is_open = findings.is_interim or findings.stopped_early
    return *results, *(_at_any_time(findings, direct, (), alpha) if is_open else direct)


def _at_any_time(
    findings: RunResults, results: Sequence[Result], controls: Collection[str], alpha: float
) -> tuple[Result, ...]:
    """Return claims with joint intervals that are valid at any time, and therefore without adjusted p-values."""
    claims = [result for result in results if result.contender not in controls and not result.is_empty]
    return tuple(
        replace(result, jointly=_live_interval(findings, result, alpha / len(claims)), adjusted_p=math.nan)
        if result in claims
        else result
        for result in results
    )


def _live_interval(findings: RunResults, result: Comparison | HeadToHead, alpha: float) -> Interval:
    from .sprt import live_estimate

    is_duel = isinstance(result, HeadToHead)
    low, high = live_estimate(findings, result.contender, result.baseline, is_duel, 1 - alpha).last
    low, high = (low, high) if is_duel else (2 * low - 1, 2 * high - 1)
    estimate = result.estimate + 0.5 if is_duel else result.estimate
    return Interval(estimate, min(low, estimate), max(high, estimate), result.jointly.confidence)


def judge_all_pairs(findings: RunResults, alpha: float = ALPHA) -> tuple[HeadToHead, ...]:
    """Compare every two agents that met in a run without baseline, such as a round-robin; the better one comes first.

    P-values and intervals are adjusted for all of these comparisons. Empty if there is a baseline.
    """
    pairs = findings.pairs
    if any("baseline" in facts.roles for facts in findings.agents.values()) or findings.baseline is not None:
        return ()
    met = []
    for agent, other in combinations(pairs.agents, 2):
        if agent in opponents_of(pairs, other):
            record = record_of(pairs, agent)
            wins = record.wins[record.opponent == pairs.code(other)]
            met.append((other, agent) if wins.sum() < wins.size else (agent, other))
    results = compare_each(pairs, met, alpha=alpha, pools=[findings.pool_of(names) for names in met])
    return _at_any_time(findings, results, (), alpha) if findings.is_interim else results


_SAME = ("board", "format", "openings", "limit")
"""Keys that must be equal in two runs that differ in their cost only."""


@dataclass(frozen=True)
class EqualCost:
    """A run at equal cost, and its verdicts on contenders, by their names in the other run."""

    run: Path
    claims: dict[str, Comparison | HeadToHead]


def equal_cost_verdicts(findings: RunResults, names: Iterable[str]) -> EqualCost | None:
    """Return the verdicts of the latest equal-cost run in the same folder on contenders like these; None without any.

    That run has the same settings and the same baseline, and its contenders differ from these in their limits only.
    """
    wanted = {findings.agents[name].apart_from_limit: name for name in names}
    for info in _beside(findings):
        called = {
            name: wanted[entry.apart_from_limit]
            for name, entry in info.agents.items()
            if "contender" in entry.roles and entry.apart_from_limit in wanted
        }
        verdicts = judge(load_findings([info.path])) if called else None
        claims = verdicts.judged if verdicts else ()
        if claims_by_name := {called[claim.contender]: claim for claim in claims if claim.contender in called}:
            return EqualCost(info.path, claims_by_name)
    return None


def _beside(findings: RunResults) -> Iterator[RunInfo]:
    """Yield runs of the same settings at equal cost in the folder of a run, the latest first."""
    first, baseline = findings.sources[0].info, findings.agents[findings.baseline or ""]
    runs = []
    for facts in first.path.parent.glob(f"*/{FACTS}"):
        with suppress(ValueError):  # unreadable runs are skipped
            runs.append(load_run(facts.parent))
    for info in sorted(runs, key=lambda info: info.created_at, reverse=True):
        asked = info.requested
        is_same = all(asked.get(key) == first.requested.get(key) for key in _SAME)
        settings = info.agents[info.baseline].parsed_settings if info.baseline else None
        if asked.get("equal_cost") and is_same and settings == baseline.parsed_settings:
            yield info
