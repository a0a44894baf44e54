"""A sequential test of a head-to-head or of a gauntlet, read from its log in the order in which it was played."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.inference.arguments import Ints
from experiments.inference.betting import ConfidenceSequence, confidence_sequence
from experiments.inference.comparison import opening_differences
from experiments.inference.pairing import PairTable
from experiments.inference.pairs import count_pairs, pair_interval
from experiments.inference.sequential import Sprt, SprtPath, sprt_path
from experiments.verdicts.findings import Findings
from reports.cells import Estimate, Points, Share, counted
from reports.sections import Section

_STEPS = 20
_WORDS = {"H1": "at least {high}", "H0": "no more than {low}", None: "undecided"}


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
    def words(self) -> str:
        """The decision, or that there is none."""
        unit = "Elo" if self.is_duel else "points"
        text = _WORDS[self.path.decision].format(low=f"{self.low:g} {unit}", high=f"{self.high:g} {unit}")
        if self.path.decision is None and self.exhausted:
            return "undecided when the openings ran out"
        return text


def run_tests(
    findings: Findings, low: float, high: float, alpha: float = 0.05, beta: float = 0.05
) -> list[SequentialTest]:
    """The test of every contender: between `low` and `high` Elo head to head, else percentage points.

    Raises:
        ValueError: there is no baseline, nobody to test, or the bounds do not rise.
    """
    if findings.baseline is None:
        raise ValueError("no baseline to test against: name one with --baseline")
    names = [name for name in findings.contenders if "control" not in findings.agents[name].roles]
    if not len(findings.games):
        names = [name for name, facts in findings.agents.items() if "contender" in facts.roles]
    if not names:
        raise ValueError(f"nobody to test against {findings.baseline}")
    return [_test(findings, name, findings.baseline, low, high, alpha, beta) for name in names]


def bounds_of(findings: Findings) -> tuple[float, float]:
    """The two differences the run itself was to be tested between; 0 and 20 Elo, or 0 and 3 points, without."""
    asked = next((part.info.requested["sprt"] for part in findings.parts if part.info.requested.get("sprt")), None)
    if asked:
        return float(asked[0]), float(asked[1])
    return (0.0, 20.0) if _is_head_to_head(findings) else (0.0, 3.0)


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
    notes += [_exact(findings, test) for test in tests if test.is_duel and test.exhausted]
    return (
        Section("sprt", "Sequential test", tuple(rows), tuple(note for note in notes if note)),
        Section("path", "Log-likelihood ratio on the way", tuple(steps)),
    )


def _test(
    findings: Findings, name: str, baseline: str, low: float, high: float, alpha: float, beta: float
) -> SequentialTest:
    table = findings.table
    wins = _pairs_in_order(table, name, baseline)
    is_duel = wins.size > 0 or _is_head_to_head(findings)
    pool = findings.pool_of([name, baseline])
    if is_duel:
        path = sprt_path(wins, Sprt(low, high, alpha, beta))
        known = pool if pool and pool >= wins.size else None
        live = confidence_sequence(wins / 2, pool=known)
    else:
        known = None
        leads, most = _leads_in_order(table, name, baseline)
        test = Sprt((1 + low / 100) / 2, (1 + high / 100) / 2, alpha, beta, model="score")
        path = sprt_path(leads + most, test, 2 * most + 1)
        live = confidence_sequence((leads + most) / (2 * most))
    played_out = len(findings.games) + findings.repeated == findings.planned
    census = known is not None and known == path.outcomes.size
    return SequentialTest(name, baseline, is_duel, low, high, path, live, played_out, census)


def _pairs_in_order(table: PairTable, name: str, baseline: str) -> Ints:
    """Games won in each complete pair with the baseline, in the order of the schedule."""
    if name not in table.agents or baseline not in table.agents:
        return np.empty(0, np.int64)
    own, other = table.code(name), table.code(baseline)
    as_first = table.complete & (table.first == own) & (table.second == other)
    as_second = table.complete & (table.second == own) & (table.first == other)
    chosen = as_first | as_second
    return np.asarray(np.where(as_first, table.wins, 2 - table.wins)[chosen])


def _leads_in_order(table: PairTable, name: str, baseline: str) -> tuple[Ints, int]:
    """For each finished opening, games won more than the baseline against all opponents, and the most there can be."""
    if name not in table.agents or baseline not in table.agents:
        return np.empty(0, np.int64), 1
    differences = opening_differences(table, name, baseline)
    order = {opening: place for place, opening in enumerate(dict.fromkeys(table.opening.tolist()))}
    places = np.argsort([order[opening] for opening in differences.openings.tolist()], kind="stable")
    shared = _opponents(table, name) & _opponents(table, baseline)
    most = 2 * max(len(shared), 1)
    return np.round(differences.values[places] * most).astype(np.int64), most


def _opponents(table: PairTable, name: str) -> set[int]:
    code = table.code(name)
    return {*table.second[table.first == code].tolist(), *table.first[table.second == code].tolist()}


def _is_head_to_head(findings: Findings) -> bool:
    return all(part.info.requested["format"] == "head-to-head" for part in findings.parts)


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
        "decision": test.words,
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
        f"α = {test.path.sprt.alpha:g}, β = {test.path.sprt.beta:g}. It was made for "
        "looking after every observation, and so was the interval beside the score (95 %, at any time). "
        "Both are about the openings there are to draw from."
    )


def _exact(findings: Findings, test: SequentialTest) -> str:
    """The exact share when the openings ran out."""
    if test.path.decision or not test.observations:
        return ""
    pairs = count_pairs(_pairs_in_order(findings.table, test.contender, test.baseline))
    share = Share(pairs.score).shown
    if test.census:
        return (
            f"The openings ran out: {test.contender} won exactly {share} of the games from these {pairs.n:,} openings, "
            "all of their kind."
        )
    interval = pair_interval(pairs)
    return (
        f"The openings ran out after {counted(pairs.n, 'pair')}: {test.contender} won {share} "
        f"({Share(interval.low).shown} to {Share(interval.high).shown} for openings at large)."
    )
