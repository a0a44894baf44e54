"""Line plots of the report, as plain values that a template draws: win rates by limit, accuracy by ply."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from experiments.exact.accuracy import Accuracy, accuracy_lines, chance_by
from experiments.inference.cluster_intervals import Interval
from experiments.statistics.run_results import RunResults
from experiments.statistics.win_rate_by_limit import UNITS, by_limit
from reports.pages.chart_specs import round_ticks

_COLOURS = 6
"""So many of the best have colours of their own; the others are grey."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 45.0, 580.0, 15.0, 300.0


@dataclass(frozen=True)
class Line:
    """A line in a box of 600 by 340: its points as SVG has them, and the ends of their intervals.

    `kind` is the number of its colour, or baseline, chance or other.
    """

    name: str
    kind: str
    points: tuple[tuple[float, float], ...]
    bars: tuple[tuple[float, float, float], ...]


@dataclass(frozen=True)
class LineChart:
    """Lines over two axes with their ticks; what the axes count, and how many lines have no name."""

    lines: tuple[Line, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    x_axis: str
    y_axis: str
    others: int


@dataclass(frozen=True)
class _Series:
    name: str
    kind: str
    x: tuple[float, ...]
    rates: tuple[Interval, ...]


def limits_chart(findings: RunResults) -> LineChart | None:
    """Win rate of measured agents by limit; None unless there are several limits."""
    lines = by_limit([findings])
    limits = sorted({point.limit for line in lines for point in line})
    if len(limits) < 2:
        return None
    best = [line for line in lines if not line[-1].is_baseline][:_COLOURS]
    series = []
    for line in lines:
        kind = "baseline" if line[-1].is_baseline else str(best.index(line)) if line in best else "other"
        rates = tuple(point.rate for point in line)
        series.append(_Series(line[-1].name, kind, tuple(point.limit for point in line), rates))
    unit = lines[0][0].unit
    marks = limits if len(limits) <= 8 else limits[:: math.ceil(len(limits) / 8)]
    return _chart(series, marks, UNITS[unit], "games won, per cent", math.log if unit != "depth" else float)


def accuracy_chart(decisions: pd.DataFrame) -> LineChart | None:
    """Moves that kept the win by ply, counted from 1, and what a random choice would keep; None without any."""
    lines = accuracy_lines(decisions)
    if not lines:
        return None
    series = []
    for place, (name, line) in enumerate(lines.items()):
        x = tuple(map(_middle, line))
        kind = str(place) if place < _COLOURS else "other"
        series.append(_Series(name, kind, x, tuple(one.kept for one in line)))
    chance = chance_by(lines.values(), _middle)
    known = tuple(Interval(share, share, share, 1.0) for share in chance.values())
    series.append(_Series("a random choice", "chance", tuple(chance), known))
    marks = round_ticks(min(chance) - 1, max(chance) + 1)
    return _chart(series, marks, "ply", "moves that kept the win, per cent", float)


def _middle(one: Accuracy) -> float:
    """Of a band of plies, counted from 1."""
    return (one.first + one.last) / 2 + 1


def _chart(
    series: Sequence[_Series], marks: Sequence[float], x_axis: str, y_axis: str, scale: Callable[[float], float]
) -> LineChart:
    places = [scale(x) for one in series for x in one.x]
    ends = [100 * end for one in series for rate in one.rates for end in _ends(one, rate)]
    left, right, low, high = min(places), max(places), min(ends), max(ends)

    def x(value: float) -> float:
        return round(_LEFT + 15 + (_RIGHT - _LEFT - 30) * (scale(value) - left) / (right - left or 1), 1)

    def y(value: float) -> float:
        return round(_BOTTOM - 5 - (_BOTTOM - _TOP - 10) * (value - low) / (high - low or 1), 1)

    lines = tuple(
        Line(
            one.name,
            one.kind,
            tuple((x(at), y(100 * rate.estimate)) for at, rate in zip(one.x, one.rates, strict=True)),
            tuple((x(at), y(100 * rate.low), y(100 * rate.high)) for at, rate in zip(one.x, one.rates, strict=True))
            if one.kind not in ("other", "chance")
            else (),
        )
        for one in series
    )
    return LineChart(
        tuple(sorted(lines, key=lambda line: line.kind != "other")),
        tuple((x(mark), f"{mark:,g}") for mark in marks),
        tuple((y(mark), f"{mark:g}") for mark in round_ticks(low, high)) if high > low else (),
        x_axis,
        y_axis,
        sum(line.kind == "other" for line in lines),
    )


def _ends(one: _Series, rate: Interval) -> tuple[float, ...]:
    return (rate.estimate,) if one.kind == "other" else (rate.estimate, rate.low, rate.high)
