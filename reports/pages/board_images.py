"""Positions as PNG, games as animated GIF."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import BinaryIO

from PIL import Image, ImageColor, ImageDraw, ImageFont

from knights_isolation.isolation.rules import drawing
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.drawing import LIGHT, Annotations, Theme
from knights_isolation.isolation.rules.game import Size

_FINER = 3  # scale factor for drawing; reducing the image afterwards smooths the edges
_STEPS = 12  # number of straight segments per curve
_STROKE = 1.5

Point = tuple[float, float]


def to_image(board: Board, theme: Theme = LIGHT, marks: Annotations | None = None, scale: float = 2) -> Image.Image:
    """Draw the picture of `isolation.rules.drawing.to_svg` in pixels; `scale` is the number of pixels per SVG unit."""
    marks = marks or Annotations()
    width, height = drawing.extent(board, marks)
    fine = scale * _FINER
    image = Image.new("RGB", (round(width * fine), round(height * fine)))
    # In mode RGBA, drawing blends half-transparent colours into the picture.
    brush = ImageDraw.Draw(image, "RGBA")
    for shape in drawing.draw(board, theme, marks):
        _paint(brush, shape, fine)
    return image.resize((round(width * scale), round(height * scale)), Image.Resampling.BOX)


def write_png(file: Path | BinaryIO, board: Board) -> None:
    """Write a position as a PNG file."""
    to_image(board).save(file, format="PNG", optimize=True)


def write_gif(
    file: Path | BinaryIO,
    moves: Sequence[int],
    size: Size,
    captions: Sequence[str],
    players: tuple[str, ...] = (),
    seconds: float = 1.0,
) -> None:
    """Write a game as an animated GIF; the last position is shown three times as long as the others.

    `captions` has one line for every position, starting with the empty board; `players` are the names of the legend.
    """
    frames = [
        to_image(Board.from_moves(moves[:ply], size), marks=Annotations(caption=caption, players=players), scale=1.5)
        for ply, caption in enumerate(captions)
    ]
    # One palette for all frames keeps the colours of unchanged parts and the file small.
    palette = frames[len(frames) // 2].quantize(128)
    durations = [round(1000 * seconds)] * (len(frames) - 1) + [round(3000 * seconds)]
    first, *further_frames = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    first.save(
        file, format="GIF", save_all=True, append_images=further_frames, duration=durations, loop=0, optimize=True
    )


def _paint(brush: ImageDraw.ImageDraw, shape: drawing.Shape, scale: float) -> None:
    match shape:
        case drawing.Rect(x, y, width, height, fill, opacity):
            # Pillow's rectangles include their last pixel.
            box = (x * scale, y * scale, (x + width) * scale - 1, (y + height) * scale - 1)
            brush.rectangle(box, fill=_colour(fill, opacity))
        case drawing.Line(x1, y1, x2, y2, stroke):
            brush.line((x1 * scale, y1 * scale, x2 * scale, y2 * scale), fill=stroke, width=round(scale))
        case drawing.Circle(x, y, radius, fill):
            brush.circle((x * scale, y * scale), radius * scale, fill=fill)
        case drawing.Text(x, y, text, size, fill):
            brush.text((x * scale, y * scale), text, fill=fill, font=_font(round(size * scale)), anchor="mm")
        case drawing.Outline(x, y, path, fill, stroke, opacity):
            points = [((x + px) * scale, (y + py) * scale) for px, py in flatten(path)]
            brush.polygon(points, fill=_colour(fill, opacity))
            if stroke:
                brush.line([*points, *points[:2]], fill=stroke, width=round(_STROKE * scale), joint="curve")


def flatten(path: str) -> Iterator[Point]:
    """Yield the corners of a closed path of absolute M, L, C and Z, with curves as short straight lines.

    >>> list(flatten("M0 0 L3 1 Z"))
    [(0.0, 0.0), (3.0, 1.0)]
    """
    here: Point = (0.0, 0.0)
    for command, numbers in re.findall(r"([MLCZ])([^MLCZ]*)", path):
        values = [float(number) for number in numbers.split()]
        points = list(zip(values[::2], values[1::2], strict=True))
        if command == "C":
            yield from (_on_curve((here, *points), step / _STEPS) for step in range(1, _STEPS + 1))
        else:
            yield from points
        here = points[-1] if points else here


def _on_curve(control: tuple[Point, ...], share: float) -> Point:
    complement = 1 - share
    weights = (complement**3, 3 * complement**2 * share, 3 * complement * share**2, share**3)
    x, y = (sum(w * point[axis] for w, point in zip(weights, control, strict=True)) for axis in (0, 1))
    return x, y


def _colour(fill: str, opacity: float) -> tuple[int, ...]:
    return (*ImageColor.getrgb(fill)[:3], round(255 * opacity))


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    # a font that is always available, since matplotlib contains it
    import matplotlib

    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"), size)
