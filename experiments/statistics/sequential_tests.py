"""Sequential tests of a run's contenders, and estimates that are valid at any time, from its log."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .anytime import ConfidenceSequence, confidence_sequence
from .argument_checks import Ints
from .game_pairs import AgentPairs, PairTable, opponents_of, record_of
from .proportions import Interval
from .run_results import RunResults
from .sprt import SprtPath, duel_path, gauntlet_path, opening_leads, stopped_estimate

USUAL_ERROR = 0.05
"""Error rate of a sequential test, on both sides, if it has none."""


@dataclass(frozen=True, eq=False)
class SequentialTest:
    """Test of one contender against the baseline.

    Head to head (`is_duel`) it uses pairs, and `low` and `high` are Elo by the path's model; in a gauntlet it uses
    openings (all games from one against all opponents), and they are percentage points. `live` is the anytime-valid
    interval over the same observations, of the score or, in a gauntlet, of (1 + difference)/2. `exhausted`: all of the
    run's openings were played. `census`: these are all existing openings, so that the share is exact. `is_stop_rule`:
    the run was played with `sprt`; otherwise it played a fixed number of pairs, and the test was computed afterwards.
    """

    contender: str
    baseline: str
    is_duel: bool
    low: float
    high: float
    path: SprtPath
    live: ConfidenceSequence
    exhausted: bool
    census: bool
    is_stop_rule: bool

    @property
    def observations(self) -> int:
        """Number of pairs or openings played."""
        return int(self.path.outcomes.size)

    @cached_property
    def estimate(self) -> Interval | None:
        """Median-unbiased estimate once the test is over, in Elo or percentage points.

        None while it is open, and if it did not stop the run, so that the plain mean is unbiased.
        """
        if not self.is_stop_rule or not (self.path.decision or self.exhausted) or self.census:
            return None
        stopped = stopped_estimate(self.path)
        if stopped is None or self.is_duel:
            return stopped
        estimate, low, high = (100 * (2 * end - 1) for end in (stopped.estimate, stopped.low, stopped.high))
        return Interval(estimate, low, high, stopped.confidence)

    @property
    def is_held_back(self) -> bool:
        """Return whether the ratio is beyond a bound, but not with half a lost and half a won pair added."""
        if self.path.decision or not self.observations:
            return False
        last = float(self.path.llr[-1])
        return not self.path.sprt.lower_bound < last < self.path.sprt.upper_bound


def run_tests(
    findings: RunResults, low: float, high: float, alpha: float = 0.05, beta: float = 0.05, model: str = "logistic",
    *, together: bool = False,
) -> list[SequentialTest]:  # fmt: skip
    """Return the test of every contender, between `low` and `high`.

    These are Elo differences of this model head to head, and percentage points otherwise. The 95 % intervals `live`
    hold each by itself, or with `together` for all contenders at once.

    Raises:
        ValueError: there is no baseline, no agent to test, or `low` is not below `high`.
    """
    if findings.baseline is None:
        known = ", ".join(findings.pairs.agents)
        raise ValueError(
            f"no baseline to test against: name one with --baseline; agents: {known or 'none'}. For a round-robin use "
            f"isolation results or isolation ratings"
        )
    names = [name for name in findings.contenders if "control" not in findings.agents[name].roles]
    if not findings.played:
        names = [name for name, facts in findings.agents.items() if "contender" in facts.roles]
    if not names:
        raise ValueError(f"no agent to test against {findings.baseline}")
    confidence = 1 - 0.05 / (len(names) if together else 1)
    return [_test(findings, name, findings.baseline, low, high, alpha, beta, model, confidence) for name in names]


def own_tests(findings: RunResults) -> list[SequentialTest]:
    """Return the tests by which a run was to stop; empty for runs without."""
    if not findings.sprt or findings.baseline is None:
        return []
    error = error_of(findings)
    return run_tests(findings, *bounds_of(findings), error, error, model=model_of(findings))


def stopping_duels(findings: RunResults) -> list[SequentialTest]:
    """Return the tests head to head by which a run was to stop: their decisions are its result, whoever reports it."""
    return [test for test in own_tests(findings) if test.is_duel]


def model_of(findings: RunResults) -> str:
    """Return the Elo model of the runs' own test."""
    asked = (source.info.requested.get("elo_model") for source in findings.sources)
    return next(filter(None, asked), "logistic")


def live_estimate(
    findings: RunResults, name: str, baseline: str, is_duel: bool, confidence: float = 0.95
) -> ConfidenceSequence:
    """Return the anytime-valid estimate of a contender's share of games won from the baseline, one value a pair.

    Unless `is_duel` it is of (1 + difference from the baseline)/2 over their opponents, one value an opening.
    """
    if is_duel:
        pairs = findings.all_pairs
        own = _record(pairs, name)
        values = own.wins[own.opponent == pairs.code(baseline)] / 2 if baseline in pairs.agents else np.empty(0)
        pool = findings.pool_of([name, baseline])
    else:
        own, base = _record(findings.pairs, name), _record(findings.pairs, baseline)
        leads, most = opening_leads(own, base, _control(findings))
        values = (leads + most) / (2 * most)
        # with the control's openings, the observations are not the openings of the pool
        is_of_pool = not findings.pooled_controls and findings.repeats_itself([baseline])
        pool = findings.pool_among(name) if is_of_pool else None
    return confidence_sequence(values, confidence, pool if pool and pool >= values.size else None)


def bounds_of(findings: RunResults) -> tuple[float, float]:
    """Return the two hypotheses of the run's own test; the defaults are 0 and 20 Elo, or 0 and 3 points."""
    if rule := findings.sprt:
        return float(rule[0]), float(rule[1])
    return (0.0, 3.0) if findings.formats == {"gauntlet"} else (0.0, 20.0)


def error_of(findings: RunResults) -> float:
    """Return the error rate of the run's own test, on both sides."""
    return float(findings.sprt[2]) if len(findings.sprt) > 2 else USUAL_ERROR


def live_rate(findings: RunResults, name: str) -> ConfidenceSequence:
    """Return the anytime-valid estimate of an agent's win rate.

    An opening counts once its games against all opponents are finished; openings are read in the order of the schedule.
    """
    record = _record(findings.pairs, name)
    opening, first, unit = np.unique(record.opening, return_index=True, return_inverse=True)
    played = np.bincount(unit, minlength=opening.size)
    done = played >= len(opponents_of(findings.pairs, name))
    order = np.argsort(first, kind="stable")
    chosen = order[done[order]]
    shares = np.bincount(unit, record.wins, opening.size)[chosen] / (2 * played[chosen])
    pool = findings.pool_among(name)
    return confidence_sequence(shares, pool=pool if pool and pool >= shares.size else None)


def _test(
    findings: RunResults, name: str, baseline: str, low: float, high: float, alpha: float, beta: float, model: str,
    confidence: float,
) -> SequentialTest:  # fmt: skip
    own, base = _record(findings.pairs, name), _record(findings.pairs, baseline)
    number = findings.pairs.code(baseline) if baseline in findings.pairs.agents else -1
    is_duel = _is_duel(findings, own, base, number)
    if is_duel:
        path = duel_path(own, number, low, high, alpha, beta, model)
    else:
        path = gauntlet_path(own, base, low, high, alpha, beta, _control(findings))
    live = live_estimate(findings, name, baseline, is_duel, confidence)
    played_out = findings.played + findings.repeated == findings.planned
    census = live.pool is not None and live.pool == path.outcomes.size
    return SequentialTest(name, baseline, is_duel, low, high, path, live, played_out, census, bool(findings.sprt))


def _is_duel(findings: RunResults, own: AgentPairs, base: AgentPairs, baseline: int) -> bool:
    """Return whether the test uses pairs with the baseline: never in a gauntlet with common opponents."""
    has_met = bool((own.opponent == baseline).any())
    if findings.formats == {"gauntlet"}:
        return has_met and not np.isin(own.opponent, base.opponent).any()
    return has_met or findings.formats == {"head-to-head"}


def _control(findings: RunResults) -> AgentPairs | None:
    controls = [_record(findings.pairs, control) for control in findings.pooled_controls]
    return controls[0] if len(controls) == 1 else None


def _record(pairs: PairTable, name: str) -> AgentPairs:
    """Return the agent's complete pairs; empty if it has not played yet."""
    if name in pairs.agents:
        return record_of(pairs, name)
    nothing: Ints = np.empty(0, np.int64)
    return AgentPairs(nothing, nothing, nothing, nothing)
