"""Tables, plots, pages and replays of results.

The public names are loaded on first use, so that importing this package stays quick.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from knights_isolation_packages import LazyPackage, refuse_hidden

if TYPE_CHECKING:
    from reports.pages.board_images import to_image
    from reports.pages.report_page import write_report
    from reports.plots import draw_plot
    from reports.replay.replay import replay_of_run
    from reports.replay.replay_page import replay_page
    from reports.tables.compare import compare_sections
    from reports.tables.ratings import rating_sections
    from reports.tables.summary import summarize
    from reports.text.sections import render_sections

__version__: str

__all__ = [
    "compare_sections",
    "draw_plot",
    "rating_sections",
    "render_sections",
    "replay_of_run",
    "replay_page",
    "summarize",
    "to_image",
    "write_report",
]

_HOMES = {
    "compare_sections": "reports.tables.compare",
    "draw_plot": "reports.plots",
    "rating_sections": "reports.tables.ratings",
    "render_sections": "reports.text.sections",
    "replay_of_run": "reports.replay.replay",
    "replay_page": "reports.replay.replay_page",
    "summarize": "reports.tables.summary",
    "to_image": "reports.pages.board_images",
    "write_report": "reports.pages.report_page",
}

refuse_hidden("isolation", "heuristics", "experiments")
sys.modules[__name__].__class__ = LazyPackage
