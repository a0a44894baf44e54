"""Lists of what there is: runs, tries, heuristics, published results; each function is the command of its name."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from knights_isolation.reports.text.sections import Section
from knights_isolation.result import Result, drawn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from knights_isolation.experiments.plan.catalogue import CatalogueEntry
    from knights_isolation.experiments.published.published_claims import PublishedAnalysis
    from knights_isolation.experiments.record.run_directory import RunSummary
    from knights_isolation.experiments.record.tries import Try


def runs(home: str | Path | None = None) -> Result[list[RunSummary]]:
    """List the runs in a directory, by default `runs/`, oldest first: date, design, games, status.

    Raises:
        ValueError: there is no such directory.
    """
    from knights_isolation.experiments.record.run_directory import HOME, list_runs
    from knights_isolation.reports.tables.summary import run_row

    folder = Path(home or HOME)
    if home and not folder.is_dir():
        raise ValueError(f"{folder}: no such directory")
    summaries = list_runs(folder)
    title = f"Runs in {folder}/" if summaries else f"There are no runs in {folder}/."
    return Result(summaries, (Section("runs", title, tuple(map(run_row, summaries)), keep=("games", "finished")),))


def tried(home: str | Path | None = None, *, agent: str = "", command: str = "") -> Result[dict[int, Try]]:
    """List what was tried in a project, by number: estimates, p-values and costs.

    Args:
        home: directory of the log, by default `runs/`.
        agent: only agents whose name contains this.
        command: only tries of this command.
    """
    from knights_isolation.experiments.record.run_directory import HOME
    from knights_isolation.experiments.record.tries import read_tries
    from knights_isolation.reports.studies.tries import tries_section

    known = read_tries(Path(home or HOME))
    chosen = {
        number: each
        for number, each in enumerate(known, start=1)
        if agent in each.agent and command in ("", each.command)
    }
    return Result(chosen, (tries_section(chosen, known),), partial(_figure_of, chosen))


def _figure_of(chosen: dict[int, Try]) -> Figure:
    from knights_isolation.reports.charts.interval_rows import tries_chart

    return drawn(tries_chart(chosen), "Nothing was tried here yet.")


def heuristics(file: str | Path | None = None) -> Result[list[CatalogueEntry]]:
    """List the shipped heuristics, or those of a file: name, meaning, parameters, and whether they compile.

    Raises:
        ValueError: the file cannot be loaded.
    """
    from knights_isolation.experiments.plan.catalogue import file_catalogue, registry_catalogue
    from knights_isolation.reports.watch.run_progress import counting

    with counting("heuristics") as show:
        listings = file_catalogue(file, show) if file else registry_catalogue(show)
    title = f"Heuristics of {file}" if file else "Shipped heuristics"
    return Result(listings, (Section("heuristics", title, tuple(map(asdict, listings))),))


def published(file: str | Path | None = None, *, baseline: str | None = None) -> Result[PublishedAnalysis]:
    """Re-analyse published results: CSV, or the classic scripts' output; by default those that ship with this.

    Args:
        baseline: its name in the file; ID_Improved by default.

    Raises:
        ValueError: the file cannot be read, or has no results or no such baseline.
    """
    from knights_isolation.experiments.published.published_claims import analyse_file
    from knights_isolation.reports.charts.study_charts import published_chart
    from knights_isolation.reports.tables.published import published_sections

    analysis = analyse_file(Path(file) if file else None, baseline)
    return Result(analysis, tuple(published_sections(analysis)), partial(drawn, published_chart(analysis)))
