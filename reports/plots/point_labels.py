"""Names of points in a plot: placed without overlap, with a leader line where a name is away from its point."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.text import Annotation

from reports.charts.chart import Series
from reports.plots.style import COLOURS, short

_POINT = 5.0
_NEAR = 7.0
_DISTANCES = (_NEAR, 12.0, 18.0, 25.0, 33.0, 42.0, 52.0, 63.0, 75.0, 90.0, 110.0, 135.0)
_DIRECTIONS = 24
_CROSSING = 18.0
"""Points of distance that a place costs for each line its label covers, and for each point or name its line crosses."""
_LONGEST = 28


@dataclass(frozen=True)
class _Box:
    left: float
    bottom: float
    right: float
    top: float

    def overlaps(self, other: _Box) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.bottom < other.top and other.bottom < self.top
        )

    def holds(self, other: _Box) -> bool:
        return (
            self.left <= other.left
            and self.bottom <= other.bottom
            and other.right <= self.right
            and other.top <= self.top
        )


def name_points(axes: Axes, points: Sequence[Series], stairs: Sequence[Series] = ()) -> None:
    """Write the names of single points; what has no room stays without a name.

    Names overlap neither each other nor points. They cover intervals, `stairs` and leader lines, and their own lines
    cross points and names, only where a free place would be far away.
    """
    if not points:
        return
    axes.figure.draw_without_rendering()  # type: ignore[union-attr]
    unit = axes.figure.dpi / 72
    places = [_at(axes, point.x[0], point.y[0]) for point in points]
    taken = [_around(x, y, _POINT * unit) for x, y in places]
    lines = [bar for point in points for bar in _bars(axes, point, unit)]
    lines += [edge for line in stairs for edge in _edges(axes, line, unit)]
    frame = _Box(*axes.bbox.extents)
    for number, point in enumerate(points):
        label = axes.annotate(short(point.name, _LONGEST), (point.x[0], point.y[0]), (0, 0),
                              textcoords="offset points", ha="center", va="center")  # fmt: skip
        extent = label.get_window_extent()
        best, least = None, math.inf
        for distance, box in _candidates(*places[number], extent.width, extent.height, unit):
            if distance >= least:
                break
            if frame.holds(box) and not any(map(box.overlaps, taken)):
                leader = _leader(box, places[number], unit)
                others = [other for other in taken if other != taken[number]]
                crossed = sum(map(box.overlaps, lines)) + sum(any(map(other.overlaps, leader)) for other in others)
                if distance + _CROSSING * crossed < least:
                    best, least = box, distance + _CROSSING * crossed
        if best is None:
            label.remove()
            continue
        taken.append(best)
        lines += _leader(best, places[number], unit)
        _move(axes, label, best, places[number], unit)


def _at(axes: Axes, x: float, y: float) -> tuple[float, float]:
    across, up = axes.transData.transform((x, y))
    return float(across), float(up)


def _around(x: float, y: float, size: float) -> _Box:
    return _Box(x - size, y - size, x + size, y + size)


def _bars(axes: Axes, point: Series, unit: float) -> Iterator[_Box]:
    for low, high in zip(point.low, point.high, strict=True):
        x, bottom = _at(axes, point.x[0], low)
        yield _Box(x - unit, bottom, x + unit, _at(axes, point.x[0], high)[1])


def _edges(axes: Axes, stairs: Series, unit: float) -> Iterator[_Box]:
    """Yield the edges of a staircase that turns at its points."""
    corners = [_at(axes, x, y) for x, y in zip(stairs.x, stairs.y, strict=True)]
    for (left, height), (right, next_height) in pairwise(corners):
        yield _Box(left, height - unit, right, height + unit)
        yield _Box(right - unit, min(height, next_height), right + unit, max(height, next_height))


def _candidates(x: float, y: float, width: float, height: float, unit: float) -> Iterator[tuple[float, _Box]]:
    """Yield places of a label around its point with their distance: the nearest first, right and left before others."""
    turns = sorted(range(_DIRECTIONS), key=lambda turn: abs(math.sin(2 * math.pi * turn / _DIRECTIONS)))
    for distance in _DISTANCES:
        for turn in turns:
            across, up = math.cos(2 * math.pi * turn / _DIRECTIONS), math.sin(2 * math.pi * turn / _DIRECTIONS)
            middle_x = x + across * (distance * unit + width / 2)
            middle_y = y + up * (distance * unit + height / 2)
            box = _Box(middle_x - width / 2, middle_y - height / 2, middle_x + width / 2, middle_y + height / 2)
            yield distance, box


def _nearest(box: _Box, point: tuple[float, float]) -> tuple[float, float]:
    return min(max(point[0], box.left), box.right), min(max(point[1], box.bottom), box.top)


def _leader(box: _Box, point: tuple[float, float], unit: float) -> list[_Box]:
    """Return small boxes along the leader line from a label to its point; none where the label is near."""
    end = _nearest(box, point)
    length = math.dist(end, point)
    if length <= 1.2 * _NEAR * unit:
        return []
    steps = math.ceil(length / (2 * unit))
    shares = (step / steps for step in range(1, steps))
    return [
        _around(end[0] + share * (point[0] - end[0]), end[1] + share * (point[1] - end[1]), unit) for share in shares
    ]


def _move(axes: Axes, label: Annotation, box: _Box, point: tuple[float, float], unit: float) -> None:
    middle = (box.left + box.right) / 2, (box.bottom + box.top) / 2
    label.set_position(((middle[0] - point[0]) / unit, (middle[1] - point[1]) / unit))
    if _leader(box, point, unit):
        end = _nearest(box, point)
        axes.annotate(
            "",
            label.xy,
            ((end[0] - point[0]) / unit, (end[1] - point[1]) / unit),
            textcoords="offset points",
            arrowprops={"arrowstyle": "-", "color": COLOURS["soft"], "linewidth": 0.7, "shrinkA": 0, "shrinkB": 4},
        )
