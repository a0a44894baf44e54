"""Leagues: everyone of a class plays everyone else."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..inputs import Count, Jobs, Run, run_path
from ..parameters import command
from ..surface import COMMAND, counting, keeping, play, tell

if TYPE_CHECKING:
    from knights_isolation.experiments.league.league_results import Results
    from knights_isolation.reports.answers import Result


@command("tables", "plot")
def league(
    submissions: str | Path,
    *,
    pairs: Count | None = None,
    limit: str | None = None,
    hard_cap: float | None = None,
    board: str | None = None,
    schedule: Literal["round-robin", "classic"] | None = None,
    jobs: Jobs = 0,
    out: str | Path | None = None,
    resume: Run | None = None,
    check_only: bool = False,
    dry_run: bool = False,
) -> Result[Results]:
    """Play a league: one folder or archive per submission, everyone meets everyone; writes result pages.

    Submissions run only in sandboxed processes; docs/how-to/run-a-class.md says what that protects against. In Python
    warnings are its notes; the last one of an interrupted league says how to resume it.

    Args:
        pairs: openings per pairing, each played with sides swapped (default 10).
        limit: limit per move (default cpu_ms=150); ms=N is wall time; near 10 ms, players with such a reserve forfeit.
        hard_cap: seconds per move before a player forfeits (default 2).
        board: board size (default 7x7; 9x11 if most are of the third edition, made for it).
        schedule: classic: the seven classic agents also play.
        out: directory of the run.
        resume: resume a league and add late submissions.
        check_only: check all submissions, print a table, play nothing. Exit code 1 if any is refused.
        dry_run: check, then print the planned games and the estimated time; play nothing.

    Examples:
        isolation league submissions --check-only
        isolation league submissions --pairs 20 --limit cpu_ms=300 --out runs/class
    """
    from knights_isolation.experiments.league.league_run import league_of
    from knights_isolation.reports.league.league_pages import check_answer, league_answer
    from knights_isolation.reports.studies.planning import dry_run as planned

    settings = {"pairs": pairs, "limit": limit, "hard_cap": hard_cap, "board": board, "schedule": schedule}
    say = tell if COMMAND.get() else warnings.warn
    league = league_of(Path(submissions), settings, resume, run_path, jobs=jobs, out=out, say=say, counting=counting)
    if check_only and dry_run:
        raise ValueError("--check-only and --dry-run exclude each other: use one of them")
    if check_only:
        return check_answer(league)
    with keeping(f"{league.resumes} is unchanged" if league.resumes else ""):
        if dry_run:
            return planned(*league.plan())
        book, outcome = league.play(play)
    return league_answer(league, book, outcome, COMMAND.get())
