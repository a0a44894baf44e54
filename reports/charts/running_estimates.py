"""Running estimates over a run, with an anytime-valid band; and the race of one that is played."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from knights_isolation.experiments.inference.argument_checks import Floats
from knights_isolation.experiments.inference.contenders.baseline_comparison import Comparison
from knights_isolation.experiments.inference.contenders.head_to_head import HeadToHead
from knights_isolation.experiments.inference.sequential.confidence_sequence import ConfidenceSequence
from knights_isolation.experiments.statistics.run_results import RunResults
from knights_isolation.experiments.verdicts.contender_verdicts import Verdicts
from knights_isolation.experiments.verdicts.sprt_tests import live_rate, run_tests

from ..text.cell_values import Points, Share
from .chart import Axis, Panel, Plot, Row, RowChart, Series, fit_axis, role_of, row_chart, signed

_MAX_POINTS = 100
_NEAREST = 6
_COURSE_POINTS = 60


def nearest_to_decision(findings: RunResults, verdicts: Verdicts | None) -> list[str]:
    """Return the agents whose joint interval is nearest to just excluding 0; the first without a baseline."""
    if verdicts is None or not findings.contenders:
        return list(findings.measured[:_NEAREST])
    return [claim.contender for claim in sorted(verdicts.judged, key=_distance_from_decision)[:_NEAREST]]


def _distance_from_decision(claim: Comparison | HeadToHead) -> float:
    """Return the distance of the joint interval from just excluding no difference, in its own half-widths."""
    low, high = claim.lead
    half = (high - low) / 2
    return abs(abs((low + high) / 2) / half - 1) if half else math.inf


@dataclass(frozen=True)
class Estimates:
    """Anytime-valid estimates by agent after each `unit`: differences to the baseline, or else win rates."""

    sequences: Mapping[str, ConfidenceSequence]
    is_difference: bool
    unit: str

    @property
    def axis(self) -> Axis:
        """The shared axis, scaled to the current intervals, not to the wide initial ones."""
        centre, most = (0.0, 100.0) if self.is_difference else (50.0, 50.0)
        ends = np.concatenate([self.percent(np.array(sequence.last)) for sequence in self.sequences.values()])
        reach = min(most, max(1.1 * float(np.abs(ends - centre).max()), 2.0))
        if self.is_difference:
            return fit_axis("difference, points", (-reach, reach), signed)
        return fit_axis("games won, per cent", (centre - reach, centre + reach))

    def percent(self, shares: Floats) -> Floats:
        """Convert shares to per cent; shares that encode differences become points."""
        return 100 * (2 * shares - 1) if self.is_difference else 100 * shares


def estimates(findings: RunResults, agents: Sequence[str] | None = None, *, together: bool = False) -> Estimates:
    """Return the running estimates of these agents (default: all that are measured) that have any.

    With `together` the intervals of all contenders hold at once, as those of an unfinished run's verdicts do.
    """
    if findings.baseline is not None and findings.contenders:
        tests = [
            test for test in run_tests(findings, 0, 10, together=together) if agents is None or test.contender in agents
        ]
        sequences = {test.contender: test.live for test in tests}
        is_difference = bool(tests) and not tests[0].is_duel
        unit = "openings" if is_difference else "pairs"
    else:
        sequences = {name: live_rate(findings, name) for name in findings.measured if agents is None or name in agents}
        is_difference, unit = False, "openings"
    sequences = {name: sequences[name] for name in findings.in_order(sequences) if sequences[name].values.size}
    return Estimates(sequences, is_difference, unit)


def running(findings: RunResults, agents: Sequence[str] | None = None) -> Plot | None:
    """Plot the running estimate of these agents (default: all) after each pair or opening, with its 95 % band."""
    found = estimates(findings, agents)
    if not found.sequences:
        return None
    y, lengths = found.axis, [sequence.values.size for sequence in found.sequences.values()]
    x = fit_axis(f"{found.unit} played", [1, *lengths], is_whole=True)
    panels = tuple(
        Panel(name, (band(name, sequence, found),), x, y, 0.0 if found.is_difference else 50.0)
        for name, sequence in found.sequences.items()
    )
    note = "Estimate after each opening, with a 95 % band that is valid at all times simultaneously."
    return Plot("Running estimates", panels, note)


def band(name: str, sequence: ConfidenceSequence, found: Estimates, points: int = _MAX_POINTS) -> Series:
    """Return the course of an agent's estimate as a line in a band."""
    at = np.unique(np.linspace(0, sequence.values.size - 1, points).astype(np.int64))
    mean, low, high = (
        tuple(found.percent(values[at]).tolist()) for values in (sequence.mean, sequence.low, sequence.high)
    )
    return Series(name, "0", tuple((at + 1.0).tolist()), mean, low, high, "band")


@dataclass(frozen=True)
class Race:
    """Rows with anytime-valid intervals, best first, and the course of each over `height`.

    `chart.zero` is no difference. `units` is the number of `unit` (openings or pairs) that each estimate rests on.
    """

    chart: RowChart
    courses: tuple[Series, ...]
    height: Axis
    units: tuple[int, ...]
    unit: str


def race(findings: RunResults) -> Race | None:
    """Return differences to the baseline, or win rates without one; None before anything can be estimated.

    A row is better or worse once its interval, which is valid at any time, excludes no difference: as in the report of
    a run that has not finished.
    """
    found = estimates(findings, together=True)
    if not found.sequences:
        return None
    names = sorted(found.sequences, key=lambda name: -float(found.sequences[name].mean[-1]))
    rows = tuple(_row(name, found, findings.baseline is not None) for name in names)
    zero = 0.0 if found.is_difference else 50.0
    label = "difference to the baseline in percentage points" if found.is_difference else "games won, per cent"
    chart = row_chart("Race", rows, label, "", zero, is_signed=found.is_difference)
    assert chart is not None
    courses = tuple(band(name, found.sequences[name], found, _COURSE_POINTS) for name in names)
    units = tuple(found.sequences[name].values.size for name in names)
    return Race(chart, courses, found.axis, units, found.unit)


def _row(name: str, found: Estimates, is_judged: bool) -> Row:
    sequence = found.sequences[name]
    low, high = sequence.last
    role = role_of(low, high, 0.5) if is_judged else ""
    mean, low, high = found.percent(np.array([sequence.mean[-1], low, high])).tolist()
    text = Points(mean / 100).text if found.is_difference else Share(mean / 100).text
    return Row(name, role, mean, low, high, text)
