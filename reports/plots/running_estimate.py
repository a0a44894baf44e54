"""How an estimate settled while the run went on, with the band that holds at every moment."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.inference.argument_checks import Floats
from experiments.inference.game_pairs import record_of
from experiments.inference.sequential.confidence_sequence import ConfidenceSequence, confidence_sequence
from experiments.statistics.run_results import RunResults
from experiments.verdicts.sprt_tests import run_tests
from reports.plots.style import BLACK, BLUE, SKY, new_figure, no_data, short, styled

_COLUMNS = 3
_MOST_POINTS = 200


@dataclass(frozen=True, eq=False)
class _Series:
    name: str
    sequence: ConfidenceSequence
    is_difference: bool


@styled
def draw_running(findings: RunResults, agent: str | None = None) -> Figure:
    """The running estimate of every contender, or of one `agent`, after each pair or opening, with its 95 % band.

    The band is anytime-valid: with probability 0.95 it holds the truth at all moments together.
    """
    title = "Running estimates with a 95 % band that holds at any time"
    series = [one for one in _series(findings) if agent in (None, one.name) and one.sequence.values.size]
    if not series:
        return no_data(title)
    columns = min(_COLUMNS, len(series))
    rows = math.ceil(len(series) / columns)
    figure = new_figure(3.6 if len(series) == 1 else 0.9 + 1.45 * rows)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for axes, one in zip(grid.flat, series, strict=False):
        _draw(axes, one, is_alone=len(series) == 1)
    _fit(grid[0, 0], series)
    for axes in grid.flat[len(series) :]:
        axes.set_axis_off()
    unit = "openings" if series[0].is_difference or findings.baseline is None else "pairs"
    figure.supxlabel(f"{unit} played", fontsize=9)
    what = "difference to the baseline, points" if series[0].is_difference else "games won, per cent"
    figure.supylabel(what, fontsize=9)
    figure.suptitle(title, fontsize=11, x=0.01, ha="left")
    return figure


def _draw(axes: Axes, one: _Series, is_alone: bool) -> None:
    sequence = one.sequence
    shown = np.unique(np.linspace(0, sequence.values.size - 1, _MOST_POINTS).astype(np.int64))
    mean, low, high = (_percent(values[shown], one) for values in (sequence.mean, sequence.low, sequence.high))
    axes.fill_between(shown + 1, low, high, color=SKY, alpha=0.35, linewidth=0)
    axes.plot(shown + 1, mean, color=BLUE, linewidth=1.4, marker="o" if shown.size == 1 else "")
    axes.axhline(0 if one.is_difference else 50, color=BLACK, linewidth=0.8)
    axes.set_title(short(one.name, 60 if is_alone else 26), fontsize=9 if is_alone else 8)


def _fit(axes: Axes, series: Sequence[_Series]) -> None:
    """The shared height of all panels: wide enough for what the bands came to, not for where they began."""
    centre, most = (0.0, 100.0) if series[0].is_difference else (50.0, 50.0)
    ends = np.concatenate([_percent(np.array(one.sequence.last), one) for one in series])
    reach = min(most, max(2.5 * float(np.abs(ends - centre).max()), 5.0))
    axes.set_ylim(centre - reach, centre + reach)


def _percent(values: Floats, one: _Series) -> Floats:
    """Shares in per cent; where they stand for differences, those in points."""
    return 100 * (2 * values - 1) if one.is_difference else 100 * values


def _series(findings: RunResults) -> list[_Series]:
    if findings.baseline is not None and findings.contenders:
        return [_Series(test.contender, test.live, not test.is_duel) for test in run_tests(findings, 0, 10)]
    return [_Series(name, _by_opening(findings, name), False) for name in findings.measured]


def _by_opening(findings: RunResults, name: str) -> ConfidenceSequence:
    """The share of games won from each opening, in the order in which openings came up."""
    record = record_of(findings.pairs, name)
    _, first, unit = np.unique(record.opening, return_index=True, return_inverse=True)
    shares = np.bincount(unit, record.wins) / np.maximum(2 * np.bincount(unit), 1)
    return confidence_sequence(shares[np.argsort(first)])
