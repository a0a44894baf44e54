"""Plots of the report, as plain values that a template draws: rows with intervals, coloured tables, boards, scatter.

They follow the page's colours, by night as well, and its width; `plots` draws the same kinds into files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from experiments.inference.contenders.baseline_comparison import Comparison
from experiments.inference.contenders.head_to_head import HeadToHead
from experiments.inference.game_pairs import record_of
from experiments.inference.sequential.confidence_sequence import confidence_sequence
from experiments.inference.standings import matchups
from experiments.statistics.calibration import BANDS, FEWEST_SCORES, band_auc, scores_of
from experiments.statistics.first_placements import FEWEST, Placement
from experiments.statistics.move_statistics import Distribution
from experiments.statistics.run_results import RunResults
from experiments.verdicts.contender_verdicts import Verdicts
from experiments.verdicts.sprt_tests import run_tests
from isolation.checks.search_cost import Cost
from isolation.rules.notation import cell_name, column_name
from reports.text.cell_values import Elo, Points, Ratio, Share, estimate_of, pluralise
from reports.text.sections import Section

_TICKS = 6
_NEAR = 6
"""Panels of the running estimates: so many agents nearest to a decision."""
_POINTS = 60
_MOST = 0.12
"""The lead over the baseline whose colour is the strongest."""
_LETTER, _LINE = 9.2, 18.0
"""Width of a letter and height of a line in the scatter plot, as large as they are on a phone."""


@dataclass(frozen=True)
class Row:
    """A line of a chart: places in per cent of its width. `wide` is a fainter interval behind the other.

    `open_at` are the edges that `ends` run out of, 0 or 100: nothing bounds the interval there.
    """

    name: str
    kind: str
    at: float
    ends: tuple[float, float]
    wide: tuple[float, float] | None
    text: str
    open_at: tuple[int, ...] = ()


@dataclass(frozen=True)
class RowChart:
    """Rows over one axis; `ticks` are places with their labels, `zero` the place of the line that matters."""

    rows: tuple[Row, ...]
    ticks: tuple[tuple[float, str], ...]
    zero: float | None
    axis: str


@dataclass(frozen=True)
class Cell:
    """A coloured cell: its text, how strong its colour is (−100 to 100), more to be said of it, and where it leads."""

    text: str
    strength: int
    more: str = ""
    link: str = ""


@dataclass(frozen=True)
class Grid:
    """A coloured table."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    corner: str = "agent"


@dataclass(frozen=True)
class Panel:
    """A running estimate: its line and its band as points of a box of 100 by 100, which is `reach` points high each way
    from no difference."""

    name: str
    line: str
    band: str
    reach: float


@dataclass(frozen=True)
class Dot:
    """A point of a scatter plot in a box of 600 by 340; its label's place and anchor, if it has one."""

    name: str
    kind: str
    x: float
    y: float
    text: str
    label: tuple[float, float, str] | None


@dataclass(frozen=True)
class Scatter:
    """Points over two axes with their ticks; `zero` is the height of no difference."""

    dots: tuple[Dot, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    zero: float


def forest(findings: RunResults, verdicts: Verdicts) -> RowChart | None:
    """Every contender's lead, with the interval of all contenders together."""
    claims: list[Comparison | HeadToHead] = [*verdicts.comparisons, *verdicts.duels]
    found = {claim.contender: claim for claim in claims if not claim.is_empty}
    if not found:
        return None
    rows = []
    for name in findings.in_order(found):
        one, is_control = found[name], name in verdicts.controls
        at, low, high = (100 * value for value in (one.estimate, *one.lead))
        kind = "control" if is_control else one.verdict
        rows.append((name, kind, at, (low, high), None, Points(at / 100).shown))
    return _row_chart(rows, 0.0, "difference to the baseline in percentage points", _signed)


def ladder(ratings: Section, zero: str | None) -> RowChart | None:
    """Ratings with their intervals; one without bound runs out of the chart, with an arrow."""
    rows = []
    ends_of = [(float(row["rating"].low), float(row["rating"].high)) for row in ratings.rows]
    finite = [end for ends in ends_of for end in ends if math.isfinite(end)]
    if not finite:
        return None
    for row in ratings.rows:
        rating = row["rating"]
        ends = float(rating.low), float(rating.high)
        kind = "control" if row["agent"] == zero else ""
        rows.append((row["agent"], kind, float(rating.value), ends, None, Elo(rating.value).shown))
    is_open = len(finite) < 2 * len(rows)
    arrows = "; an arrow: nothing bounds the rating on that side" if is_open else ""
    return _row_chart(rows, 0.0, f"Elo, with 95 % intervals{arrows}", _signed)


def spread(found: Distribution, order: Sequence[str], axis: str, is_log: bool = False) -> RowChart | None:
    """Of each agent the middle nine tenths, the middle half, and the median."""
    quantiles = dict(zip(found.names, found.quantiles((0.05, 0.25, 0.5, 0.75, 0.95)), strict=True))
    rows = []
    for name in order:
        if name in quantiles and not np.isnan(quantiles[name]).any():
            least, lower, median, upper, most = (float(value) for value in quantiles[name])
            rows.append((name, "", median, (lower, upper), (least, most), f"{median:,.0f}"))
    return _row_chart(rows, None, axis, lambda value: f"{value:,.0f}", is_log) if rows else None


def _row_chart(
    rows: Sequence[tuple[str, str, float, tuple[float, float], tuple[float, float] | None, str]],
    zero: float | None,
    axis: str,
    label: Callable[[float], str],
    is_log: bool = False,
) -> RowChart:
    ends = [value for _, _, at, inner, wide, _ in rows for value in (at, *inner, *(wide or inner))]
    values = [*filter(math.isfinite, ends), *([] if zero is None else [zero])]
    scale: Callable[[float], float] = (lambda value: math.log10(max(value, 1))) if is_log else (lambda value: value)
    low, high = min(map(scale, values)), max(map(scale, values))
    margin = 0.03 * (high - low) or 1.0
    low, high = low - margin, high + margin

    def place(value: float) -> float:
        if math.isinf(value):
            return 0.0 if value < 0 else 100.0
        return round(100 * (scale(value) - low) / (high - low), 1)

    marks = [10.0**power for power in range(math.ceil(low), math.floor(high) + 1)] if is_log else round_ticks(low, high)
    drawn = [
        Row(
            name,
            kind,
            place(at),
            (place(inner[0]), place(inner[1])),
            wide and (place(wide[0]), place(wide[1])),
            text,
            tuple(edge for edge, end in zip((0, 100), inner, strict=True) if math.isinf(end)),
        )
        for name, kind, at, inner, wide, text in rows
    ]
    ticks = tuple((place(mark), label(mark)) for mark in marks)
    return RowChart(tuple(drawn), ticks, None if zero is None else place(zero), axis)


def _signed(value: float) -> str:
    return f"{value:+g}".replace("-", "−") if value else "0"


def round_ticks(low: float, high: float) -> list[float]:
    """At most six round numbers between two others.

    >>> round_ticks(-7.2, 9.1)
    [-5.0, 0.0, 5.0]
    """
    raw = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)
    first = math.ceil(low / step)
    return [round(step * number, 10) for number in range(first, math.floor(high / step) + 1)]


@dataclass(frozen=True)
class Lead:
    """A win rate against an opponent, and how far it is above the baseline's, or above one half without a baseline."""

    rate: float
    lead: float


def leads(findings: RunResults, verdicts: Verdicts | None) -> dict[tuple[str, str], Lead]:
    """Each measured agent's lead against each opponent it met, as compared where it was; the baseline's own is 0."""
    agents = findings.in_order(findings.measured)
    rates = {
        name: {matchup.opponent: matchup.rate.estimate for matchup in matchups(findings.pairs, name)} for name in agents
    }
    if findings.baseline in rates:
        pooled = matchups(findings.pooled_pairs, findings.baseline)
        rates[findings.baseline] = {one.opponent: one.rate.estimate for one in pooled}
    base = rates.get(findings.baseline or "", {})
    compared = {
        (one.contender, effect.opponent): effect.difference.estimate
        for one in (verdicts.comparisons if verdicts else ())
        for effect in one.effects
    }
    return {
        (name, other): Lead(rate, compared.get((name, other), rate - (base.get(other, math.nan) if base else 0.5)))
        for name, row in rates.items()
        for other, rate in row.items()
    }


def differences(
    findings: RunResults, found: Mapping[tuple[str, str], Lead], links: Mapping[tuple[str, str], str]
) -> Grid | None:
    """Leads as a table of agents by opponents, each linked with a game; the baseline's row has its win rates."""
    opponents = findings.in_order({other for _, other in found})
    if not opponents:
        return None
    rows = []
    for name in findings.in_order(findings.measured):
        cells = []
        for other in opponents:
            one = found.get((name, other), Lead(math.nan, math.nan))
            is_rate = name == findings.baseline or math.isnan(one.lead)
            text = f"{100 * one.rate:.1f}" if is_rate else Points(one.lead).shown
            text = "–" if math.isnan(one.rate) else text
            strength = 0 if is_rate else _strength(one.lead, _MOST if findings.baseline else 0.5)
            more = f"{Share(one.rate).shown} won" if not math.isnan(one.rate) else ""
            cells.append(Cell(text, strength, more, links.get((name, other), "")))
        rows.append((name, tuple(cells)))
    return Grid(tuple(opponents), tuple(rows))


def _strength(value: float, most: float) -> int:
    return round(100 * max(-1.0, min(1.0, value / most)))


def running(findings: RunResults, verdicts: Verdicts | None) -> tuple[Panel, ...]:
    """How estimates settled, with the band that holds at any time: of the agents nearest to a decision."""
    if verdicts is not None and findings.contenders:
        tests = {test.contender: test for test in run_tests(findings, 0, 10) if test.observations}
        claims: list[Comparison | HeadToHead] = [*verdicts.claims, *verdicts.duels]
        near = sorted((claim for claim in claims if claim.contender in tests), key=_from_decision)[:_NEAR]
        chosen = {one.contender: (tests[one.contender].live, not tests[one.contender].is_duel) for one in near}
    else:
        chosen = {}
        for name in findings.measured[:_NEAR]:
            record = record_of(findings.pairs, name)
            if record.opening.size:
                _, first, unit = np.unique(record.opening, return_index=True, return_inverse=True)
                shares = np.bincount(unit, record.wins) / np.maximum(2 * np.bincount(unit), 1)
                chosen[name] = (confidence_sequence(shares[np.argsort(first)]), False)
    if not chosen:
        return ()
    last = np.concatenate([np.array(sequence.last) for sequence, _ in chosen.values()])
    reach = min(0.5, max(1.1 * float(np.abs(last - 0.5).max()), 0.01))
    panels = []
    for name in findings.in_order(chosen):
        sequence, is_difference = chosen[name]
        shown = np.unique(np.linspace(0, sequence.values.size - 1, _POINTS).astype(np.int64))
        x = 100 * (shown + 1) / sequence.values.size
        mean, low, high = (
            np.clip(50 - 50 * (values[shown] - 0.5) / reach, 0, 100)
            for values in (sequence.mean, sequence.low, sequence.high)
        )
        band = _points(np.concatenate([x, x[::-1]]), np.concatenate([low, high[::-1]]))
        panels.append(Panel(name, _points(x, mean), band, 100 * reach * (2 if is_difference else 1)))
    return tuple(panels)


def _from_decision(one: Comparison | HeadToHead) -> float:
    """How far the joint interval is from just excluding no difference, in its own half-widths."""
    low, high = one.lead
    half = (high - low) / 2
    return abs(abs((low + high) / 2) / half - 1) if half else math.inf


def _points(x: np.ndarray, y: np.ndarray) -> str:
    return " ".join(f"{one:.1f},{other:.1f}" for one, other in zip(x, y, strict=True))


def strength_by_cost(findings: RunResults, verdicts: Verdicts, costs: Mapping[str, Cost]) -> Scatter | None:
    """Each contender's difference to the baseline over what a node costs it, on a scale of doublings."""
    known: list[tuple[str, str, float, float]] = []
    for one in verdicts.comparisons:
        if one.contender in costs and not (one.is_empty or one.contender in verdicts.controls):
            cost = costs[one.contender].times
            known.append((one.contender, one.verdict, cost, 100 * one.difference.estimate))
    if len(known) < 2:
        return None
    doublings = [math.log2(cost) for *_, cost, _ in known]
    least, most = min(*doublings, 0) - 0.15, max(*doublings, 0) + 0.15
    low, high = min(*(lead for *_, lead in known), 0) - 1, max(*(lead for *_, lead in known), 0) + 1

    def x(cost: float) -> float:
        return round(45 + 535 * (math.log2(cost) - least) / (most - least), 1)

    def y(lead: float) -> float:
        return round(300 - 285 * (lead - low) / (high - low), 1)

    dots: list[Dot] = []
    taken = [(x(cost) - 5, y(lead) - 5, x(cost) + 5, y(lead) + 5) for *_, cost, lead in known]
    for name, kind, cost, lead in sorted(known, key=lambda one: -one[3]):
        is_beaten = any(other_cost < cost and other_lead > lead for *_, other_cost, other_lead in known)
        label = None if is_beaten else place_label(name, x(cost), y(lead), taken)
        text = f"{name}: {Points(lead / 100).shown} points, {Ratio(cost).shown} the processor time"
        dots.append(Dot(name, kind, x(cost), y(lead), text, label))
    powers = range(math.ceil(2 * least), math.floor(2 * most) + 1)
    x_ticks = tuple((x(2 ** (power / 2)), f"{2 ** (power / 2):.2g} ×") for power in powers if power % 2 == 0)
    y_ticks = tuple((y(mark), _signed(mark)) for mark in round_ticks(low, high))
    return Scatter(tuple(dots), x_ticks, y_ticks, y(0))


def place_label(
    name: str, x: float, y: float, taken: list[tuple[float, float, float, float]]
) -> tuple[float, float, str] | None:
    """Where a dot's name overlaps nothing that is there, which it then is itself; None if there is no such place."""
    width = _LETTER * len(name)
    places = (
        (x + 9, y + 4, "start", x + 9), (x - 9, y + 4, "end", x - 9 - width),
        (x, y - 9, "middle", x - width / 2), (x, y + 18, "middle", x - width / 2),
    )  # fmt: skip
    for at, base, anchor, left in places:
        box = (left, base - _LINE + 3, left + width, base + 3)
        is_inside = box[0] > 45 and box[2] < 590 and box[1] > 5 and box[3] < 300
        if is_inside and not any(
            box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3] for other in taken
        ):
            taken.append(box)
            return round(at, 1), round(base, 1), anchor
    return None


@dataclass(frozen=True)
class BoardMap:
    """A board as coloured cells, row by row; `columns` are letters."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def placement_maps(
    found: Sequence[Placement], size: tuple[int, int] | None, links: Mapping[tuple[int, bool], str]
) -> tuple[BoardMap, ...]:
    """For both players, games won by the first placement, linked with one of them.

    Alike cells are shown alike, those of too few openings blank.
    """
    if size is None:
        return ()
    maps = []
    for is_first, title in ((True, "by who placed first"), (False, "by who placed second")):
        cells: dict[int, Cell] = {}
        for one in found:
            if one.placed_first == is_first and one.openings >= FEWEST:
                text = f"{100 * one.rate.estimate:.0f}"
                more = f"{estimate_of(one.rate).shown} of {one.games:,} games, {pluralise(one.openings, 'opening')}"
                strength = _strength(one.rate.estimate - 0.5, 0.5)
                link = links.get((one.cell, is_first), "")
                cells |= {cell: Cell(text, strength, f"{cell_name(cell, size[1])}: {more}", link) for cell in one.cells}
        maps.append(_board_map(title, size, cells))
    return tuple(maps)


def placement_section(found: Sequence[Placement], size: tuple[int, int] | None) -> Section:
    """First placements up to symmetry, best of each player first."""
    width = size[1] if size else 1
    ranked = sorted(found, key=lambda one: (not one.placed_first, -one.rate.estimate))
    rows = tuple(
        {
            "cell": cell_name(one.cell, width),
            "placed": "first" if one.placed_first else "second",
            "alike": len(one.cells),
            "openings": one.openings,
            "games": one.games,
            "won": estimate_of(one.rate),
        }
        for one in ranked
    )
    notes = (
        "Cells that rotation or reflection turns into each other are one. Openings alike by symmetry are one; games of "
        "one opening hang together, and the 95 % intervals, each by itself, are over openings. Who plays whom differs "
        f"from cell to cell by luck. Cells of fewer than {FEWEST} openings are blank on the map.",
    )
    return Section("placements", "First placements", rows, notes if rows else ())


def visit_map(visits: npt.NDArray[np.float64] | None, size: tuple[int, int] | None) -> BoardMap | None:
    """The share of games in which somebody stood on a cell."""
    if visits is None or size is None:
        return None
    cells = {cell: Cell(f"{100 * share:.0f}", -_strength(share, 1.0)) for cell, share in enumerate(visits)}
    return _board_map("in per cent of games", size, cells)


def _board_map(title: str, size: tuple[int, int], cells: Mapping[int, Cell]) -> BoardMap:
    rows, columns = size
    blank = Cell("", 0)
    drawn = tuple(tuple(cells.get(row * columns + column, blank) for column in range(columns)) for row in range(rows))
    return BoardMap(title, tuple(column_name(column) for column in range(columns)), drawn)


def calibration(findings: RunResults) -> Grid | None:
    """The AUC of every measured agent's scores, overall and by stage of the game; plies are counted from 1."""
    found = scores_of(findings, findings.measured)
    order = [name for name in findings.in_order(findings.measured) if not math.isnan(found[name].auc)]
    bands = [band for band in BANDS if any(found[name].between(*band).positions >= FEWEST_SCORES for name in order)]
    if not order:
        return None
    rows = []
    for name in order:
        values = [found[name].auc, *(band_auc(found[name], band) for band in bands)]
        cells = (
            Cell("–" if math.isnan(v) else f"{v:.2f}", 0 if math.isnan(v) else _strength(v - 0.5, 0.5)) for v in values
        )
        rows.append((name, tuple(cells)))
    return Grid(("all", *(f"{first + 1}–{last + 1}" for first, last in bands)), tuple(rows))
