"""Lists of runs, of what is damaged of their files, and of tries."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knights_isolation.experiments.record.run_directory import HOME, RunSummary, list_runs

from ..answers import Result, drawn
from ..text.cell_values import CopiedName, Estimate, Points, PValue, Ratio
from ..text.rendering import Section

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from knights_isolation.experiments.record.tries import Try


def runs_answer(home: str | Path | None, *, verify: bool) -> Result[Any]:
    """Return the runs in a directory, by default `runs/`, or with `verify` what is damaged of their files.

    Raises:
        ValueError: there is no such directory.
    """
    folder = Path(home or HOME)
    if home and not folder.is_dir():
        raise ValueError(f"{folder}: no such directory")
    if verify:
        from knights_isolation.experiments.verification import verify as verify_files

        files = verify_files(folder)
        rows = tuple({"file": each.file, "what": each.what, "state": each.state} for each in files)
        section = Section("files", f"Files of {folder}/", rows, keep=("state",))
        return Result(files, (section,), passes=not any(each.is_damaged for each in files))
    summaries = list_runs(folder)
    title = f"Runs in {folder}/" if summaries else f"There are no runs in {folder}/."
    section = Section("runs", title, tuple(map(_run_row, summaries)), keep=("games", "finished"))
    return Result(summaries, (section,), text="" if summaries else title)


def _run_row(summary: RunSummary) -> dict[str, Any]:
    info = summary.info
    return {
        "run": CopiedName(info.path),
        "started": info.created_at[:19].replace("T", " "),
        "format": info.requested["format"],
        "board": info.requested["board"],
        "agents": len(info.agents),
        "games": summary.played,
        "of": info.games,
        "finished": summary.finished,
    }


def tried_answer(
    home: str | Path | None, agent: str, command: str, diff: tuple[int, int] | None
) -> Result[dict[int, Try]]:
    """Return the tries of a folder, by their numbers in its log; p-values are adjusted for all of them.

    Of agents whose names contain `agent`, and of one command if it is not empty; with `diff`, how the sources of two
    tries differ.

    Raises:
        ValueError: there is no such try, or its code is shipped.
    """
    from knights_isolation.experiments.record.tries import read_tries, source_diff
    from knights_isolation.experiments.statistics.account import adjusted_p_values

    folder = Path(home or HOME)
    known = read_tries(folder)
    numbered = enumerate(known, start=1)
    tries = {number: each for number, each in numbered if agent in each.agent and command in ("", each.command)}
    text = source_diff(known, *diff, folder).rstrip("\n") if diff else ""
    adjusted = adjusted_p_values(known)
    rows = tuple(
        {
            "number": number,
            "when": each.when[:16].replace("T", " "),
            "command": each.command,
            "agent": each.agent,
            "measure": each.measure,
            "baseline": each.baseline,
            "difference": Estimate(*(Points(points / 100) for points in each.difference)),
            "p": _cell(each.p_value),
            "adjusted_p": _cell(adjusted.get((each.family, each.question))),
            "cost": None if each.cost is None else Ratio(each.cost),
            "n": each.n,
            "judged_on": each.judged_on,
            "source": each.source,
        }
        for number, each in reversed(list(tries.items()))
    )
    notes = (
        "Difference to the baseline in percentage points, and p, of this look alone; n is the number of openings or "
        "positions. The adjusted p is today's: it pools the openings of all looks at the same agent, so it may be "
        "smaller than p, and is adjusted for everything that was tried with the same baseline, board, openings and "
        "limit, or on the same positions.",
    )
    section = Section("tries", "Tries, the latest first", rows, notes if rows else ("Nothing was tried here yet.",))
    return Result(tries, (section,), partial(_draw_tries, tries), text=text)


def _draw_tries(tries: Mapping[int, Try]) -> Figure:
    from ..charts.interval_charts import tries_chart

    return drawn(tries_chart(tries), "Nothing was tried here yet.")


def _cell(p_value: float | None) -> PValue | None:
    return None if p_value is None else PValue(p_value)
