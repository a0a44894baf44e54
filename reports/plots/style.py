"""Plot style: the report's colours, plain axes, reproducible files."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from knights_isolation.isolation.files.atomic_write import check_output

from ..text.rendering import in_the_middle

_CSS = (Path(__file__).parents[1] / "templates" / "lab.css").read_text(encoding="utf-8")
COLOURS = dict(re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}),", _CSS.partition("}")[0]))
"""The pages' colours in the light theme."""

WIDTH = 7.5
ROW = 0.27
LONGEST_NAME = 44

_STYLE: dict[str, Any] = {
    "font.size": 9,
    "font.family": ["DejaVu Sans"],
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "text.color": COLOURS["ink"],
    "axes.labelcolor": COLOURS["ink"],
    "axes.edgecolor": COLOURS["soft"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": COLOURS["line"],
    "xtick.color": COLOURS["soft"],
    "ytick.color": COLOURS["soft"],
    "xtick.labelcolor": COLOURS["ink"],
    "ytick.labelcolor": COLOURS["ink"],
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "isolation",
}


@contextmanager
def style(changes: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Apply the style of all plots, to a block or by decoration.

    Names are not parsed as formulas, and may contain letters the font lacks.
    """
    with mpl.rc_context(cast(Any, {**_STYLE, **(changes or {})})), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        yield


class CellFigure(Figure):
    """A figure that a notebook shows as SVG."""

    def _repr_svg_(self) -> str:
        return to_svg(self)


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """Return an empty figure; sizes are in inches."""
    figure = CellFigure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def no_data(reason: str) -> Figure:
    """Return a figure with the reason why there is nothing to draw."""
    figure = new_figure(0.6)
    figure.text(0.02, 0.4, reason, fontsize=10)
    return figure


def short(name: str, longest: int = LONGEST_NAME) -> str:
    """Shorten a name; the middle of a long one is left out, since its ends are more informative."""
    return in_the_middle(name, longest, longest - longest // 2)


def to_svg(figure: Figure) -> str:
    """Return the figure as SVG text, the same for the same data."""
    text = io.StringIO()
    with style():
        figure.savefig(text, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return text.getvalue()


def save(figure: Figure, path: Path) -> Path:
    """Write a figure as SVG or PNG, by the file's suffix.

    Raises:
        ValueError: its suffix is neither .svg nor .png, or it cannot be written.
    """
    check_output(path, (".svg", ".png"))
    if path.suffix == ".svg":
        path.write_text(to_svg(figure), encoding="utf-8")
        return path
    with style():
        figure.savefig(path, format="png", dpi=160, metadata={"Software": None})
    return path
