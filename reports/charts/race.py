"""The race of a run that is played: intervals that shrink on an axis that zooms in on them, and how they came to be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.statistics.run_results import RunResults
from reports.charts.chart import Axis, Row, RowChart, Series, fit_axis, plain, signed
from reports.charts.running_estimates import Estimates, band, estimates
from reports.text.cell_values import Points, Share

_POINTS = 60


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
    text = signed if found.is_difference else plain
    axis = fit_axis(label, [zero, *(end for row in rows for end in (row.low, row.high))], text)
    courses = tuple(band(name, found.sequences[name], found, _POINTS) for name in names)
    units = tuple(found.sequences[name].values.size for name in names)
    return Race(RowChart("Race", rows, axis, zero), courses, found.axis, units, found.unit)


def _row(name: str, found: Estimates, is_judged: bool) -> Row:
    sequence = found.sequences[name]
    low, high = sequence.last
    role = "better" if low > 0.5 else "worse" if high < 0.5 else ""
    mean, low, high = found.percent(np.array([sequence.mean[-1], low, high])).tolist()
    text = Points(mean / 100).text if found.is_difference else Share(mean / 100).text
    return Row(name, role if is_judged else "", mean, low, high, text)
