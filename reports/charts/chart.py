"""Chart specifications: rows over an axis, coloured tables, boards, plots over two axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from knights_isolation.isolation.rules.game import Size
from knights_isolation.isolation.rules.geometry import column_name

from ..text.cell_values import Points
from ..text.cell_values import signed as signed

Form = Literal["line", "band", "points", "steps"]
COLOURS = 6
"""Number of lines of a plot with colours of their own; the others are grey."""
_FEWEST_TICKS, _MOST_TICKS = 4, 7
_STEPS = (1.0, 0.5, 0.2, 2.0, 0.25)
"""Distances of ticks, as multiples of the power of ten below the length of the axis, the roundest first."""


@dataclass(frozen=True)
class Axis:
    """A scale from `low` to `high` with labelled ticks, and the name of its quantity."""

    label: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    is_log: bool = False

    def percent(self, value: float) -> float:
        """Return the position of a value in per cent of the axis; an infinite value is at an edge."""
        if math.isinf(value):
            return 0.0 if value < 0 else 100.0
        low, high, at = (math.log(end) if self.is_log else end for end in (self.low, self.high, value))
        return round(100 * (at - low) / (high - low), 1)

    def within(self, value: float) -> float:
        """Return the same for a value that may lie outside: then an edge."""
        return min(max(self.percent(value), 0.0), 100.0)


@dataclass(frozen=True)
class Row:
    """A value with its interval (infinite ends are open); with `inner`, a bolder one inside it."""

    name: str
    role: str
    value: float
    low: float
    high: float
    text: str
    inner: tuple[float, float] | None = None


@dataclass(frozen=True)
class RowChart:
    """Rows over one axis; `zero` is the reference value."""

    title: str
    rows: tuple[Row, ...]
    axis: Axis
    zero: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Cell:
    """A coloured cell: text, strength of its colour (−100 to 100), tooltip and link.

    Differences are blue above 0 and orange below; amounts (`is_amount`) have one sequential blue.
    """

    text: str
    strength: int
    tooltip: str = ""
    link: str = ""
    is_amount: bool = False

    @property
    def sign(self) -> str:
        """The kind of its colour: + and - for differences, = for amounts, 0 for none."""
        return "=" if self.is_amount else "+" if self.strength > 0 else "-" if self.strength < 0 else "0"


@dataclass(frozen=True)
class Grid:
    """A coloured table, or a board.

    With `ranks`, columns and rows are the same agents by rank: columns are headed by it, and rows begin with it.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    corner: str = "agent"
    note: str = ""
    ranks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Boards:
    """Boards side by side; `details` are small ones below them, explained by `legend`."""

    title: str
    boards: tuple[Grid, ...]
    note: str = ""
    details: tuple[Grid, ...] = ()
    legend: str = ""


@dataclass(frozen=True)
class Series:
    """Points over two axes: a line with intervals, a line in a band, separate points, or a dashed staircase.

    `role` determines the colour: a number, baseline, chance, other or a verdict. Names of points are written at them.
    """

    name: str
    role: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    form: Form = "line"
    tooltip: str = ""
    link: str = ""


@dataclass(frozen=True)
class Panel:
    """Series over the same axes; `level` is the reference height."""

    title: str
    series: tuple[Series, ...]
    x: Axis
    y: Axis
    level: float | None = None

    @property
    def legend(self) -> list[tuple[str, str]]:
        """Role and name of every coloured line, and the number of other ones."""
        lines = [series for series in self.series if series.form in ("line", "band") and series.name]
        named = [(line.role, line.name) for line in lines if line.role != "other"]
        others = len(lines) - len(named)
        return named + ([("other", f"{others} other{'s' if others > 1 else ''}")] if others else [])


@dataclass(frozen=True)
class Plot:
    """One or more panels, with an explanation of lines and bands."""

    title: str
    panels: tuple[Panel, ...]
    note: str = ""


@dataclass(frozen=True)
class Picture:
    """The last position of a game, with a caption."""

    size: Size
    moves: tuple[int, ...]
    caption: str


@dataclass(frozen=True)
class Card:
    """A run at a glance: its finding, the forest, and some games."""

    title: str
    rows: RowChart
    pictures: tuple[Picture, ...]
    note: str = ""


Chart = RowChart | Grid | Boards | Plot | Card


def role_of(low: float, high: float, zero: float = 0.0) -> str:
    """Return the role of an interval: better or worse if it excludes `zero`, else none."""
    return "better" if low > zero else "worse" if high < zero else ""


def points_row(
    name: str, role: str, estimate: float, low: float, high: float, inner: tuple[float, float] | None = None
) -> Row:
    """Return a difference of shares and its interval as a row in percentage points."""
    return Row(name, role, 100 * estimate, 100 * low, 100 * high, Points(estimate).text, inner)


def row_chart(
    title: str, rows: Sequence[Row], label: str, note: str, zero: float = 0.0, is_signed: bool = True
) -> RowChart | None:
    """Return rows over an axis around them and `zero`; None without any."""
    if not rows:
        return None
    ends = [end for row in rows for end in (row.low, row.value, row.high)]
    return RowChart(title, tuple(rows), fit_axis(label, [zero, *ends], signed if is_signed else plain), zero, note)


def board_grid(title: str, size: Size, cells: Mapping[int, Cell]) -> Grid:
    """Return a board of (rows, columns) with the cells at some numbers; the others are blank."""
    rows, columns = size
    blank = Cell("", 0)
    drawn = (tuple(cells.get(row * columns + column, blank) for column in range(columns)) for row in range(rows))
    names = tuple(map(column_name, range(columns)))
    return Grid(title, names, tuple((str(row), cells) for row, cells in enumerate(drawn)), "")


def plain(value: float) -> str:
    """Format a tick's label, such as 1,000 or 0.5."""
    return f"{value:,g}".replace("-", "−")


def fit_axis(
    label: str,
    values: Iterable[float],
    text: Callable[[float], str] = plain,
    *,
    is_log: bool = False,
    is_whole: bool = False,
    marks: Sequence[float] | None = None,
) -> Axis:
    """Return an axis around all finite values, with ticks at round (or whole) numbers or at the given marks."""
    finite = [math.log10(value) if is_log else value for value in values if math.isfinite(value)]
    margin = 0.03 * (max(finite) - min(finite)) or (0.1 if is_log else 1.0)
    low, high = min(finite) - margin, max(finite) + margin
    if marks is None and is_log:
        marks = [10.0**power for power in range(math.ceil(low), math.floor(high) + 1)]
    elif marks is None:
        marks = [mark for mark in round_ticks(low, high) if not is_whole or mark == round(mark)]
    ends = (10**low, 10**high) if is_log else (low, high)
    return Axis(label, *ends, tuple((mark, text(mark)) for mark in marks if ends[0] <= mark <= ends[1]), is_log)


def round_ticks(low: float, high: float) -> list[float]:
    """Return four to seven round numbers between two others, or as nearly so many as there are.

    >>> round_ticks(-7.2, 9.1)
    [-5.0, -2.5, 0.0, 2.5, 5.0, 7.5]
    """
    power = 10.0 ** math.floor(math.log10(high - low))
    choices = [_multiples(low, high, factor * power) for factor in _STEPS]
    return min(choices, key=lambda ticks: max(_FEWEST_TICKS - len(ticks), len(ticks) - _MOST_TICKS, 0))


def _multiples(low: float, high: float, step: float) -> list[float]:
    return [round(step * number, 10) for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def strength(value: float, strongest: float) -> int:
    """Return the strength of a cell's colour; it saturates at the value `strongest`."""
    return round(100 * max(-1.0, min(1.0, value / strongest)))
