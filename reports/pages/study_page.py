"""Pages of studies: a verdict with its charts, plots side by side, a source, and tables that open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..charts.chart import Grid, Plot, RowChart
from ..text.rendering import Section
from .report_page import draw_plot
from .templates import page_template

StudyChart = RowChart | Grid | Plot


@dataclass(frozen=True)
class Part:
    """What opens under a heading: a chart, and tables; `key` is its address on the page."""

    key: str
    title: str
    sections: Sequence[Section] = ()
    chart: StudyChart | None = None
    is_open: bool = False


def parts_of(sections: Sequence[Section], *, is_first_open: bool = True) -> list[Part]:
    """Return a part for each table."""
    return [
        Part(section.key, section.title, (section,), is_open=is_first_open and not number)
        for number, section in enumerate(sections)
    ]


def study_page(
    title: str,
    heading: str,
    verdict: str,
    parts: Sequence[Part],
    *,
    charts: Sequence[StudyChart] = (),
    plots: Sequence[Plot] = (),
    champion: str = "",
    command: str = "",
) -> str:
    """Return a self-contained page.

    Args:
        heading: a line below the title.
        verdict: the answer in a sentence; "" if there is none yet.
        charts: below the verdict.
        plots: cards of their own.
        champion: the text of the program that the study has found.
        command: writes the page again.
    """
    drawn = [(part, _drawn(part.chart, part.key)) for part in parts]
    return page_template("study.html").render(
        title=title,
        heading=heading,
        verdict=verdict,
        charts=[_drawn(chart, f"chart-{number}") for number, chart in enumerate(charts)],
        plots=[draw_plot(plot, f"plot-{number}") for number, plot in enumerate(plots)],
        champion=champion,
        parts=drawn,
        command=command,
    )


def _drawn(chart: StudyChart | None, key: str) -> Any:
    return draw_plot(chart, key) if isinstance(chart, Plot) else chart
