"""How plots look: a colour-blind safe palette, plain axes, names as they are, and the same file every time."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, cast

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

# Okabe and Ito (2008): told apart by people of every colour vision, and in grey
BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, BLACK, GREY = "#CC79A7", "#56B4E9", "#222222", "#767676"
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
SEQUENTIAL = "cividis"
DIVERGING = "PuOr"

WIDTH = 7.5
ROW = 0.27
LONGEST_NAME = 44

_STYLE: dict[str, Any] = {
    "font.size": 9,
    "font.family": ["DejaVu Sans"],
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.labelcolor": BLACK,
    "axes.edgecolor": GREY,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": BLACK,
    "ytick.labelcolor": BLACK,
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "isolation",
}

P = ParamSpec("P")


@contextmanager
def style() -> Iterator[None]:
    """The look of all plots; names are not read as formulas, and may hold letters the font lacks."""
    with mpl.rc_context(cast(Any, _STYLE)), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        yield


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """A drawing function that draws in this style."""

    @wraps(draw)
    def in_style(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with style():
            return draw(*args, **kwargs)

    return in_style


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """An empty figure, in inches."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def no_data(title: str, reason: str = "No complete pairs yet.") -> Figure:
    """What is drawn where there is nothing to draw."""
    figure = new_figure(1.4)
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set_title(title)
    axes.text(0, 0.5, reason, color=GREY, fontsize=10, transform=axes.transAxes)
    return figure


def short(name: str, longest: int = LONGEST_NAME) -> str:
    """A name that fits; the middle of a longer one is left out, as ends tell more."""
    if len(name) <= longest:
        return name
    head = longest // 2
    return f"{name[: head - 1]}…{name[-(longest - head) :]}"


def label_rows(axes: Axes, names: Sequence[str]) -> None:
    """Names at the left, the first on top."""
    axes.set_yticks(range(len(names)), [short(name) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)


def to_svg(figure: Figure) -> str:
    """The figure as SVG text, the same for the same data."""
    text = io.StringIO()
    with style():
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


def check_plot(path: Path) -> None:
    """Refuse a file that no plot can be written to.

    Raises:
        ValueError: its suffix is neither .svg nor .png, or there is no such directory.
    """
    if path.suffix not in (".svg", ".png"):
        raise ValueError(f"plots are written as .svg or .png, not {path.name!r}")
    if not path.parent.is_dir():
        raise ValueError(f"{path.parent}: no such directory to write the plot to")


def save(figure: Figure, path: Path) -> Path:
    """Write a figure as SVG or PNG, by the file's suffix.

    Raises:
        ValueError: see `check_plot`.
    """
    check_plot(path)
    if path.suffix == ".svg":
        path.write_text(to_svg(figure), encoding="utf-8")
        return path
    with style():
        figure.savefig(path, format="png", dpi=160, metadata={"Software": None})
    return path
