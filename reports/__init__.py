"""Findings for people: tables, plots, pages, replays.

The public names are loaded on first use, so that importing this stays quick; `docs/python.md` shows them at work.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from isolation.lazy import LazyPackage

if TYPE_CHECKING:
    from reports.compare import compare_sections
    from reports.page import write_report
    from reports.plots import draw_plot
    from reports.ratings import rating_sections
    from reports.replay import replay_of_run
    from reports.replay_page import replay_page
    from reports.sections import render_sections
    from reports.summary import summarize

__version__: str

__all__ = [
    "compare_sections",
    "draw_plot",
    "rating_sections",
    "render_sections",
    "replay_of_run",
    "replay_page",
    "summarize",
    "write_report",
]

_HOMES = {
    "compare_sections": "reports.compare",
    "draw_plot": "reports.plots",
    "rating_sections": "reports.ratings",
    "render_sections": "reports.sections",
    "replay_of_run": "reports.replay",
    "replay_page": "reports.replay_page",
    "summarize": "reports.summary",
    "write_report": "reports.page",
}

sys.modules[__name__].__class__ = LazyPackage
