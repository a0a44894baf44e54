"""What there is in a project: runs, tries, and runs in progress."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from knights_isolation.reports.answers import Result, drawn
from knights_isolation.reports.text.rendering import Section

from ..parameters import About, command

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from knights_isolation.experiments.record.run_directory import RunSummary
    from knights_isolation.experiments.record.tries import Try


@command("rows")
def runs(home: str | Path | None = None, *, verify: bool = False) -> Result[list[RunSummary]]:
    """List the runs in a directory (runs/ by default), oldest first: date, design, games, status.

    Args:
        verify: verify all files that verdicts rest on instead; exit code 1 if one is damaged.

    Examples:
        isolation runs
        isolation runs experiments --format json

    Raises:
        ValueError: there is no such directory.
    """
    from knights_isolation.experiments.record.log_validation import verify as verified_files
    from knights_isolation.experiments.record.run_directory import HOME, list_runs
    from knights_isolation.reports.tables.summary import run_row

    folder = Path(home or HOME)
    if verify:
        files = verified_files(folder)
        rows = tuple({"file": each.file, "what": each.what, "state": each.state} for each in files)
        section = Section("files", f"Files of {folder}/", rows, keep=("state",))
        return cast(
            "Result[list[RunSummary]]", Result(files, (section,), passes=not any(each.is_damaged for each in files))
        )
    if home and not folder.is_dir():
        raise ValueError(f"{folder}: no such directory")
    summaries = list_runs(folder)
    title = f"Runs in {folder}/" if summaries else f"There are no runs in {folder}/."
    section = Section("runs", title, tuple(map(run_row, summaries)), keep=("games", "finished"))
    return Result(summaries, (section,), text="" if summaries else title)


@command("tables", "plot")
def tried(
    home: str | Path | None = None,
    *,
    agent: str = "",
    command: str = "",
    diff: Annotated[tuple[int, int], About(metavar="N M", count=2)] | None = None,
) -> Result[dict[int, Try]]:
    """Show what was tried in this project, with estimates, p-values and costs.

    screen, try, fit, features, evaluate, match and tournament note each comparison in runs/tries.jsonl;
    ISOLATION_TRIES=off turns this off.

    Args:
        home: directory of the log, by default runs/.
        agent: only agents whose name contains this.
        command: only tries of this command.
        diff: show how the sources of two tries differ.

    Examples:
        isolation tried
        isolation tried --diff 3 7

    Raises:
        ValueError: there is no such try, or its code is shipped.
    """
    from knights_isolation.experiments.record.run_directory import HOME
    from knights_isolation.experiments.record.tries import read_tries, source_diff
    from knights_isolation.reports.studies.research import tries_section

    known = read_tries(Path(home or HOME))
    chosen = {
        number: each
        for number, each in enumerate(known, start=1)
        if agent in each.agent and command in ("", each.command)
    }
    text = source_diff(known, *diff, Path(home or HOME)).rstrip("\n") if diff else ""
    return Result(chosen, (tries_section(chosen, known),), partial(_figure_of, chosen), text=text)


def _figure_of(chosen: dict[int, Try]) -> Figure:
    from knights_isolation.reports.charts.interval_charts import tries_chart

    return drawn(tries_chart(chosen), "Nothing was tried here yet.")
