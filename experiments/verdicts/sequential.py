"""Sequential tests of a run's contenders, read from its log in the order in which it was played."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.inference.arguments import Ints
from experiments.inference.betting import ConfidenceSequence, confidence_sequence
from experiments.inference.contender_tests import duel_path, gauntlet_path
from experiments.inference.pairing import Record, record_of
from experiments.inference.sequential import SprtPath
from experiments.verdicts.findings import Findings


@dataclass(frozen=True, eq=False)
class SequentialTest:
    """One contender's test against the baseline.

    Head to head (`is_duel`) it reads pairs and `low` and `high` are Elo; in a gauntlet it reads openings, all games
    from one against all opponents, and they are percentage points. `live` is the anytime-valid interval over the same
    observations, of the score or, in a gauntlet, of (1 + difference)/2. `exhausted`: all the run's openings were
    played; `census`: those are all there are, so that the share is exact.
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

    @property
    def observations(self) -> int:
        """Pairs or openings played."""
        return int(self.path.outcomes.size)

    @property
    def is_held_back(self) -> bool:
        """Whether the ratio stands beyond a bound, but would not if half a lost and half a won pair were added."""
        if self.path.decision or not self.observations:
            return False
        last = float(self.path.llr[-1])
        return not self.path.sprt.lower_bound < last < self.path.sprt.upper_bound


def run_tests(
    findings: Findings, low: float, high: float, alpha: float = 0.05, beta: float = 0.05
) -> list[SequentialTest]:
    """The test of every contender: between `low` and `high` Elo head to head, else percentage points.

    Raises:
        ValueError: there is no baseline, nobody to test, or the bounds do not rise.
    """
    if findings.baseline is None:
        known = ", ".join(findings.pairs.agents)
        raise ValueError(
            f"no baseline to test against: name one with --baseline; there are {known or 'no games'}. In a round-robin "
            "`isolation compare RUN` compares each with each, `isolation ratings RUN` rates all"
        )
    names = [name for name in findings.contenders if "control" not in findings.agents[name].roles]
    if not findings.played:
        names = [name for name, facts in findings.agents.items() if "contender" in facts.roles]
    if not names:
        raise ValueError(f"nobody to test against {findings.baseline}")
    return [_test(findings, name, findings.baseline, low, high, alpha, beta) for name in names]


def bounds_of(findings: Findings) -> tuple[float, float]:
    """The two differences the run itself was to be tested between; 0 and 20 Elo, or 0 and 3 points, without."""
    asked = [source.info.requested.get("sprt") for source in findings.sources]
    for bounds in asked:
        if bounds:
            return float(bounds[0]), float(bounds[1])
    return (0.0, 3.0) if _formats(findings) == {"gauntlet"} else (0.0, 20.0)


def _test(
    findings: Findings, name: str, baseline: str, low: float, high: float, alpha: float, beta: float
) -> SequentialTest:
    own, base = _record(findings, name), _record(findings, baseline)
    number = findings.pairs.code(baseline) if baseline in findings.pairs.agents else -1
    is_duel = _is_duel(findings, own, base, number)
    known = None
    if is_duel:
        path = duel_path(own, number, low, high, alpha, beta)
        pool = findings.pool_of([name, baseline])
        known = pool if pool and pool >= path.outcomes.size else None
    else:
        controls = [_record(findings, control) for control in findings.pooled_controls]
        path = gauntlet_path(own, base, low, high, alpha, beta, controls[0] if len(controls) == 1 else None)
    live = confidence_sequence(path.outcomes / (path.classes - 1), pool=known)
    played_out = findings.played + findings.repeated == findings.planned
    census = known is not None and known == path.outcomes.size
    return SequentialTest(name, baseline, is_duel, low, high, path, live, played_out, census)


def _is_duel(findings: Findings, own: Record, base: Record, baseline: int) -> bool:
    """Whether pairs with the baseline are what to read: never in a gauntlet with opponents that both have met."""
    has_met = bool((own.opponent == baseline).any())
    if _formats(findings) == {"gauntlet"}:
        return has_met and not np.isin(own.opponent, base.opponent).any()
    return has_met or _formats(findings) == {"head-to-head"}


def _formats(findings: Findings) -> set[str]:
    return {source.info.requested["format"] for source in findings.sources}


def _record(findings: Findings, name: str) -> Record:
    """The agent's complete pairs; none if it has not played yet."""
    if name in findings.pairs.agents:
        return record_of(findings.pairs, name)
    nothing: Ints = np.empty(0, np.int64)
    return Record(nothing, nothing, nothing, nothing)
