"""The page of a search for evaluation functions: it grows with the search, and ends with the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from knights_isolation.experiments.discovery.campaign import Campaign
from knights_isolation.experiments.discovery.finals import Finalist, Strength
from knights_isolation.isolation.files.atomic_write import write_text
from knights_isolation.reports.analysis.kept_pages import PAGE
from knights_isolation.reports.pages.study_page import Source, parts_of, study_page
from knights_isolation.reports.studies.discovery import (
    Verdict,
    archive_chart,
    discovery_sections,
    growth_chart,
    strength_chart,
    verdict_chart,
    verdict_title,
)


def write_discovery_page(
    campaign: Campaign,
    folder: Path,
    size: str,
    finalists: Sequence[Finalist] = (),
    verdicts: Sequence[Verdict] = (),
    strengths: Sequence[Strength] = (),
) -> Path:
    """Write the page of a campaign into its folder, where the lab finds it; return its path.

    Args:
        size: of the board.
        finalists, verdicts, strengths: none while it is searched.
    """
    last = campaign.growth[-1] if campaign.growth else None
    sections = [
        replace(section, title="In figures") if section.key == "discover" else section
        for section in discovery_sections(campaign, finalists, verdicts, strengths)
    ]
    page = study_page(
        f"Discovery on {size}: {folder.name}",
        f"{last.candidates:,} candidates in {last.seconds / 60:.1f} processor minutes." if last else "",
        verdict_title(finalists, verdicts) if verdicts else "The search goes on." if last else "",
        parts_of(sections),
        charts=[verdict_chart(verdicts)] if verdicts else [],
        plots=[plot for plot in (strength_chart(strengths), growth_chart(campaign), archive_chart(campaign)) if plot],
        source=Source("The champion", finalists[0].file.read_text(encoding="utf-8")) if verdicts else None,
    )
    write_text(folder / PAGE, page)
    return folder / PAGE
