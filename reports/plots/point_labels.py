"""Names of points in a plot: placed without overlap, with a leader line where a name is away from its point."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..charts.chart import Series
from .style import COLOURS, short

_POINT = 5.0
_NEAR = 7.0
_DISTANCES = (_NEAR, 12.0, 18.0, 25.0, 33.0, 42.0, 52.0, 63.0, 75.0, 90.0, 110.0, 135.0)
_ANGLES = sorted((math.pi * turn / 12 for turn in range(24)), key=lambda angle: abs(math.sin(angle)))
"""Directions of a label from its point, right and left before others."""
_CROSSING = 18.0
"""Points of distance that a place costs for each line its label covers, and for each point or name its line crosses."""
_LONGEST = 28

Box = tuple[float, float, float, float]
"""Left, bottom, right and top in pixels."""


def name_points(axes: Axes, points: Sequence[Series], stairs: Sequence[Series] = ()) -> None:
    """Write the names of single points; what has no room stays without a name.

    Names overlap neither each other nor points. They cover intervals, `stairs` and leader lines, and their own lines
    cross points and names, only where a free place would be far away.
    """
    if not points:
        return
    axes.figure.draw_without_rendering()  # type: ignore[union-attr]
    unit = axes.figure.dpi / 72
    places = [axes.transData.transform((point.x[0], point.y[0])) for point in points]
    taken = [_around(place, _POINT * unit) for place in places]
    lines = [bar for point in points for bar in _bars(axes, point, unit)]
    lines += [edge for line in stairs for edge in _edges(axes, line, unit)]
    for point, place, dot in zip(points, places, taken[:], strict=True):
        label = axes.annotate(short(point.name, _LONGEST), (point.x[0], point.y[0]), (0, 0),
                              textcoords="offset points", ha="center", va="center")  # fmt: skip
        best, least = None, math.inf
        for distance, box in _candidates(place, label.get_window_extent().size, unit):
            if distance >= least:
                break
            if _is_inside(box, axes.bbox.extents) and not any(_overlap(box, other) for other in taken):
                leader = _leader(box, place, unit)
                crossed = sum(_overlap(box, line) for line in lines)
                crossed += sum(any(_overlap(other, part) for part in leader) for other in taken if other != dot)
                if distance + _CROSSING * crossed < least:
                    best, least = box, distance + _CROSSING * crossed
        if best is None:
            label.remove()
            continue
        leader = _leader(best, place, unit)
        taken.append(best)
        lines += leader
        label.set_position((np.add(best[:2], best[2:]) / 2 - place) / unit)
        if leader:
            arrow = {"arrowstyle": "-", "color": COLOURS["soft"], "linewidth": 0.7, "shrinkA": 0, "shrinkB": 4}
            end = (np.clip(place, best[:2], best[2:]) - place) / unit
            axes.annotate("", label.xy, end, textcoords="offset points", arrowprops=arrow)


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _is_inside(box: Box, frame: Any) -> bool:
    return bool(frame[0] <= box[0] and frame[1] <= box[1] and box[2] <= frame[2] and box[3] <= frame[3])


def _around(place: Any, size: float) -> Box:
    x, y = map(float, place)
    return x - size, y - size, x + size, y + size


def _bars(axes: Axes, point: Series, unit: float) -> Iterator[Box]:
    for ends in zip(point.low, point.high, strict=True):
        (x, bottom), (_, top) = axes.transData.transform([(point.x[0], end) for end in ends]).tolist()
        yield x - unit, bottom, x + unit, top


def _edges(axes: Axes, stairs: Series, unit: float) -> Iterator[Box]:
    """Yield the edges of a staircase that turns at its points."""
    corners = axes.transData.transform(list(zip(stairs.x, stairs.y, strict=True))).tolist()
    for (left, height), (right, next_height) in pairwise(corners):
        yield left, height - unit, right, height + unit
        yield right - unit, min(height, next_height), right + unit, max(height, next_height)


def _candidates(place: Any, size: Any, unit: float) -> Iterator[tuple[float, Box]]:
    """Yield boxes for a label around its point with their distance, the nearest first."""
    x, y = map(float, place)
    width, height = map(float, size)
    for distance in _DISTANCES:
        for angle in _ANGLES:
            middle_x = x + math.cos(angle) * (distance * unit + width / 2)
            middle_y = y + math.sin(angle) * (distance * unit + height / 2)
            yield distance, (middle_x - width / 2, middle_y - height / 2, middle_x + width / 2, middle_y + height / 2)


def _leader(box: Box, place: Any, unit: float) -> list[Box]:
    """Return small boxes along the leader line from a label to its point; none where the label is near."""
    end = np.clip(place, box[:2], box[2:])
    length = math.dist(end, place)
    if length <= 1.2 * _NEAR * unit:
        return []
    steps = math.ceil(length / (2 * unit))
    return [_around(end + step / steps * (place - end), unit) for step in range(1, steps)]
