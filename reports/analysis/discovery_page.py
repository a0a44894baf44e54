"""The page of a search for evaluation functions: it grows with the search, and ends with the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from experiments.discovery.campaign import Campaign
from experiments.discovery.finals import Finalist
from isolation.files.atomic_write import write_text
from reports.analysis.kept_pages import PAGE
from reports.pages.report_page import draw_plot
from reports.pages.templates import page_template
from reports.studies.discovery import (
    Verdict,
    archive_chart,
    discovery_sections,
    growth_chart,
    verdict_chart,
    verdict_title,
)


def write_discovery_page(
    campaign: Campaign, folder: Path, size: str, finalists: Sequence[Finalist] = (), verdicts: Sequence[Verdict] = ()
) -> Path:
    """Write the page of a campaign into its folder, where the lab finds it; return its path.

    Args:
        size: of the board.
        finalists, verdicts: none while it is searched.
    """
    last = campaign.growth[-1] if campaign.growth else None
    plots = [growth_chart(campaign), archive_chart(campaign)]
    page = page_template("discovery.html").render(
        title=f"Discovery on {size}: {folder.name}",
        heading=f"{last.candidates:,} candidates in {last.seconds / 60:.1f} processor minutes." if last else "",
        verdict=verdict_title(finalists, verdicts) if verdicts else "The search goes on." if last else "",
        chart=verdict_chart(verdicts) if verdicts else None,
        plots=[draw_plot(plot, f"plot-{number}") for number, plot in enumerate(plots) if plot],
        source=finalists[0].file.read_text(encoding="utf-8") if verdicts else "",
        sections=[
            replace(section, title="In figures") if section.key == "discover" else section
            for section in discovery_sections(campaign, finalists, verdicts)
        ],
    )
    write_text(folder / PAGE, page)
    return folder / PAGE
