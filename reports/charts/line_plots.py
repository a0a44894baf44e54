"""Plots over two axes: win rates by limit or parameter, accuracy, strength by cost, scores, fits, tunings, plans."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from knights_isolation.experiments.exact.accuracy import Accuracy, accuracies, accuracy_lines, chance_by
from knights_isolation.experiments.statistics.contender_verdicts import Verdicts
from knights_isolation.experiments.statistics.move_statistics import (
    BANDS,
    FEWEST_SCORES,
    UNITS,
    Scores,
    by_limit,
    scores_of,
)
from knights_isolation.experiments.statistics.planning import FixedPlan, pairs_for_effect
from knights_isolation.experiments.statistics.proportions import Proportion, wilson
from knights_isolation.experiments.statistics.run_results import RunResults
from knights_isolation.isolation.rules.game import Cost, Limit

from ..text.cell_values import HasEnds, Points, Ratio
from .chart import COLOURS, Axis, Cell, Form, Grid, Panel, Plot, Series, fit_axis, plain, signed, strength

if TYPE_CHECKING:
    from knights_isolation.experiments.studies.pairwise_fit import Fit
    from knights_isolation.experiments.studies.parameter_sweep import Sweep
    from knights_isolation.experiments.studies.tuning import Tuning

_MAX_LIMIT_TICKS = 8
_BINS = 8
_CHANCE = 3.84
"""How much worse a value is, at most, within the 95 % interval."""
_CUT = 12.0
_EFFECTS = np.geomspace(0.5, 2.0, 13)
"""Effects of the curve of a plan, over the one that was asked for."""
_WITH_INTERVALS = "with individual 95 % intervals"


def limits_chart(runs: Sequence[RunResults]) -> Plot | None:
    """Plot win rates of measured agents by limit, for each run separately; None unless there are several limits."""
    lines = by_limit(runs)
    limits = sorted({point.limit for line in lines for point in line})
    if len(limits) < 2:
        return None
    best = [line for line in lines if not line[-1].is_baseline][:COLOURS]
    series = []
    for line in lines:
        role = "baseline" if line[-1].is_baseline else str(best.index(line)) if line in best else "other"
        limits_of_line = tuple(point.limit for point in line)
        series.append(_rates(line[-1].name, role, limits_of_line, [point.rate for point in line]))
    unit = lines[0][0].unit
    marks = limits[:: math.ceil(len(limits) / _MAX_LIMIT_TICKS)]
    x = fit_axis(UNITS[unit], limits, is_log=unit != "depth", marks=marks)
    note = f"Lines join agents that differ only in their limit, {_WITH_INTERVALS}."
    return _lines("Win rate by limit", series, x, "games won, per cent", note)


def accuracy_by_ply(decisions: pd.DataFrame) -> Plot | None:
    """Plot moves that kept the win by bands of four plies, the most accurate agents in colour; None without any."""
    x_of = lambda accuracy: (accuracy.first + accuracy.last) / 2 + 1  # noqa: E731
    note = (
        "Share of moves that kept the win where a mistake was possible, by ply (ply 1 is the first placement), "
        f"{_WITH_INTERVALS}."
    )
    return _accuracy("ply", accuracy_lines(decisions), x_of, note)


def accuracy_by_depth(decisions: pd.DataFrame) -> Plot | None:
    """Plot moves that kept the win by search depth, for each heuristic; None without any."""
    fixed = [accuracy for accuracy in accuracies(decisions) if accuracy.depth is not None and accuracy.eligible]
    lines: dict[str, list[Accuracy]] = {}
    for accuracy in sorted(fixed, key=lambda accuracy: accuracy.depth or 0):
        lines.setdefault(accuracy.heuristic, []).append(accuracy)
    ranked = dict(sorted(lines.items(), key=lambda line: -line[1][-1].kept.low))
    note = f"Share of moves that kept the win where a mistake was possible, {_WITH_INTERVALS}."
    return _accuracy("depth in plies", ranked, lambda accuracy: float(accuracy.depth or 0), note)


def _accuracy(
    label: str, lines: Mapping[str, Sequence[Accuracy]], x_of: Callable[[Accuracy], float], note: str
) -> Plot | None:
    if not lines:
        return None
    series = [
        _rates(
            name, str(rank) if rank < COLOURS else "other", tuple(map(x_of, line)), [accuracy.kept for accuracy in line]
        )
        for rank, (name, line) in enumerate(lines.items())
    ]
    chance = chance_by(lines.values(), x_of)
    series.append(Series("a random choice", "chance", tuple(chance), tuple(100 * share for share in chance.values())))
    x = fit_axis(label, chance, is_whole=True)
    return _lines(
        f"Moves that kept the win by {label.partition(' ')[0]}", series, x, "moves that kept the win, per cent", note
    )


def _rates(name: str, role: str, x: Sequence[float], rates: Sequence[HasEnds], form: Form = "line") -> Series:
    """Return rates in per cent with their intervals; grey lines have none."""
    y, low, high = (tuple(100 * getattr(rate, end) for rate in rates) for end in ("estimate", "low", "high"))
    bounds = ((), ()) if role == "other" else (low, high)
    return Series(name, role, tuple(x), y, *bounds, form)


def _lines(title: str, series: Sequence[Series], x: Axis, label: str, note: str = "", lowest: float = math.inf) -> Plot:
    """Return one panel, scaled to its series and the height `lowest`; grey lines are behind the others."""
    y = fit_axis(label, [lowest, *(end for line in series for end in (*line.y, *line.low, *line.high))])
    ordered = tuple(sorted(series, key=lambda line: line.role != "other"))
    return Plot(title, (Panel(title, ordered, x, y),), note)


def strength_by_cost(
    findings: RunResults, verdicts: Verdicts, costs: Mapping[str, Cost], links: Mapping[str, str]
) -> Plot | None:
    """Plot differences to the baseline with their intervals by cost per node, and the cost–strength frontier."""
    compared = [
        (comparison, costs[comparison.contender].times, 100 * comparison.difference.estimate)
        for comparison in verdicts.claims
        if comparison.contender in costs and not comparison.is_empty
    ]
    if len(compared) < 2:
        return None
    series = []
    for comparison, cost, lead in sorted(compared, key=lambda row: -row[2]):
        name = comparison.contender
        tooltip = f"{name}: {Points(lead / 100).text} points, {Ratio(cost).text} the processor time"
        link = links.get(name, "")
        low, high = ((100 * end,) for end in comparison.lead)
        series.append(Series(name, comparison.verdict, (cost,), (lead,), low, high, "points", tooltip, link))
    is_beaten = [any(other.x[0] < dot.x[0] and other.y[0] > dot.y[0] for other in series) for dot in series]
    frontier = sorted((dot for dot, beaten in zip(series, is_beaten, strict=True) if not beaten), key=lambda dot: dot.x)
    steps = Series("", "other", tuple(dot.x[0] for dot in frontier), tuple(dot.y[0] for dot in frontier), form="steps")
    ratios = [1.0, *(cost for _, cost, _ in compared)]
    marks = [2.0**power for power in range(math.floor(math.log2(min(ratios))), math.ceil(math.log2(max(ratios))) + 1)]
    x = fit_axis("time per node compared with the baseline", ratios, "{:.2g} ×".format, is_log=True, marks=marks)
    y = fit_axis(
        "difference in percentage points", [0.0, *(100 * end for row in compared for end in row[0].lead)], signed
    )
    note = (
        "Up: stronger at this limit. Right: higher cost per node. Dashed: the best for its cost. Bars: 95 % "
        "intervals for all contenders at once."
    )
    best = max(frontier, key=lambda dot: dot.y[0])
    title = f"Nothing stronger than {best.name}, at {Ratio(best.x[0]).text} the cost of a node"
    return Plot(title, (Panel("Strength and cost", (*series, steps), x, y, 0.0),), note)


def score_curves(findings: RunResults, agent: str) -> Plot | None:
    """Plot the share of games that an agent won by its score, by stage of the game; None with too few scores."""
    scores = scores_of(findings, (agent,))[agent]
    y = Axis("games won by the mover, per cent", 0, 100, tuple((mark, plain(mark)) for mark in range(0, 101, 25)))
    panels = []
    for band in BANDS:
        stage = scores.between(*band)
        if stage.positions >= FEWEST_SCORES:
            means, shares = _won_by_score(stage)
            title = f"plies {band[0] + 1}–{band[1] + 1}, AUC {stage.auc:.2f}"
            x = fit_axis("score from the mover's view", means)
            panels.append(Panel(title, (_rates("", "0", means, shares, "points"),), x, y, 50.0))
    note = f"Scores in up to {_BINS} groups, {_WITH_INTERVALS}."
    return Plot(f"{agent}: games won by score", tuple(panels), note) if panels else None


def _won_by_score(scores: Scores) -> tuple[list[float], list[Proportion]]:
    """Return mean score and share of games won in bins of similar numbers of positions."""
    times = scores.won + scores.lost
    edges = np.unique(np.quantile(np.repeat(scores.score, times), np.linspace(0, 1, _BINS + 1)))
    bins = np.clip(np.searchsorted(edges, scores.score, side="right") - 1, 0, max(edges.size - 2, 0))
    masks = [bins == number for number in np.unique(bins)]
    means = [float(np.average(scores.score[mask], weights=times[mask])) for mask in masks]
    return means, [wilson(int(scores.won[mask].sum()), int(times[mask].sum())) for mask in masks]


def fit_chart(fit: Fit) -> Plot | None:
    """Return how much worse other values of each parameter are than the fitted one; None without parameters."""
    y = fit_axis("worse by", [0.0, _CUT])
    panels = []
    for number, parameter in enumerate(fit.parameters):
        x, worse = (tuple(column) for column in zip(*parameter.profile, strict=True))
        cut = tuple(min(value, _CUT) for value in worse)
        series = Series("", str(number % COLOURS), x, cut)
        panels.append(Panel(parameter.name, (series,), fit_axis(parameter.name, x), y, _CHANCE))
    note = "All other parameters refitted. Above the line: outside the 95 % interval. Cut off at the top."
    return Plot(f"The parameters of {fit.heuristic}", tuple(panels), note) if panels else None


def tuning_chart(tuning: Tuning) -> Plot | None:
    """Return the path of each parameter through its range, round by round; None of a tuning that has none."""
    if tuning.vectors is not None or not tuning.parameters:
        return None
    rounds = list(map(float, range(len(tuning.path))))
    series = []
    for number, (parameter, path) in enumerate(zip(tuning.parameters, tuning.path.T, strict=True)):
        low, high = parameter.range
        series.append(_curve(parameter.name, number, rounds, 100 * (path - low) / (high - low)))
    title = f"{series[0].name if len(series) == 1 else 'Parameters'}, round by round"
    note = "The path of the search; the finals decide which values are taken."
    x = fit_axis("round", rounds, is_whole=True)
    return _lines(title, series, x, "value, per cent of the range", note)


def plan_chart(plans: Sequence[tuple[str, FixedPlan]]) -> Plot:
    """Return the pairs or openings needed by the effect to detect, for each of some plans."""
    series = []
    for number, (name, plan) in enumerate(plans):
        effects = [effect for effect in (abs(plan.effect) * _EFFECTS).tolist() if effect < 0.5]
        needed = [pairs_for_effect(effect, plan.power, plan.alpha, plan.variance).pairs for effect in effects]
        series.append(_curve(name, number, [100 * effect for effect in effects], needed))
    x = fit_axis("effect in percentage points", [at for line in series for at in line.x])
    return _lines("Games needed by effect", series, x, "pairs, or openings", lowest=0.0)


def _curve(name: str, number: int, x: Iterable[float], y: Iterable[float]) -> Series:
    height = tuple(map(float, y))
    return Series(name, str(number % COLOURS), tuple(x), height, height, height, "band")


def response_chart(sweep: Sweep, opponent: str) -> Plot | Grid:
    """Return a curve over the first axis for each combination of the others, with 95 % bands.

    Two axes with more values than there are colours make a coloured table.
    """
    (first, *others), every_rate = sweep.axes, list(sweep.rates.values())
    title = f"Games won against {opponent}, per cent"
    combinations = list(itertools.product(*(axis.values for axis in others)))
    if len(others) == 1 and len(combinations) > COLOURS:
        rows = [
            (value_text(value), tuple(map(_share_cell, every_rate[number :: len(combinations)])))
            for number, value in enumerate(others[0].values)
        ]
        columns = tuple(map(value_text, first.values))
        return Grid(
            title, columns, tuple(reversed(rows)), note=f"Horizontal: {first.name}. Vertical: {others[0].name}."
        )
    is_limit = isinstance(first.values[0], Limit)
    x = tuple(float(at if is_limit else value) for at, value in enumerate(first.values))  # type: ignore[arg-type]
    series = []
    for number, values in enumerate(combinations):
        label = ", ".join(f"{axis.name} {value_text(value)}" for axis, value in zip(others, values, strict=True))
        rates = every_rate[number :: len(combinations)]
        series.append(_rates(label, str(number % COLOURS), x, rates, "band"))
    ticks = {at: value_text(value) for at, value in enumerate(first.values)}
    x_axis = fit_axis(first.name, x, lambda at: ticks[int(at)], marks=x) if is_limit else fit_axis(first.name, x)
    return _lines(title, series, x_axis, "games won, per cent", "Bands: individual 95 % intervals.")


def _share_cell(rate: HasEnds) -> Cell:
    return Cell(f"{100 * rate.estimate:.0f}", strength(rate.estimate - 0.5, 0.5))


def value_text(value: Limit | float) -> str:
    """Format a value of a sweep's axis."""
    return str(value) if isinstance(value, Limit) else f"{value:.4g}"
