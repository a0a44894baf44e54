"""Play and list runs: tournaments, matches, leagues, comparisons of agents and of commits, and what was tried."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict, Unpack, cast

from knights_isolation.reports.answers import Result, is_run_like

from ..inputs import Agent, AgentLike, Cluster, Count, EqualCost, HeuristicFile, Jobs, Run, RunLike
from ..parameters import About, command
from . import rooms

if TYPE_CHECKING:
    from knights_isolation.experiments.analysis.commit_check import Checked
    from knights_isolation.experiments.league.league_run import Results
    from knights_isolation.experiments.record.run_directory import RunSummary
    from knights_isolation.experiments.record.tries import Try
    from knights_isolation.experiments.statistics.run_results import RunResults


class Settings(TypedDict, total=False):
    """Settings of a tournament; docs/reference/tournaments.md explains them. Those left out have the defaults there.

    `out` is the run's directory: in Python by default one below `runs/` named by a hash of the question, so that the
    same call finds it again; on the command line a new one.
    """

    opponents: Annotated[Sequence[AgentLike], About(help="An opponent.", metavar="SPEC", complete="agent")]
    pairs: Annotated[
        int | Literal["all"],
        About(help="Openings per match, each played with sides swapped; or 'all' (default 180).", low=1),
    ]
    openings: Annotated[
        str, About(help="random:PLIES, placements or file:PATH, optionally with ,same ,other ,fit or ,screen.")
    ]
    limit: Annotated[
        str, About(help="Limit of agents without one: nodes=N, depth=N, ms=N or cpu_ms=N (default nodes=10000).")
    ]
    control: Annotated[bool, About(place="python")]
    equal_cost: EqualCost
    board: Annotated[str, About(help="Board size, ROWSxCOLUMNS (default 7x7).", metavar="SIZE")]
    seed: Annotated[int, About(help="Random seed of the openings and of every game (default 1).")]
    jobs: Jobs
    cluster: Cluster
    hard_cap: Annotated[float, About(help="Seconds per move before a user agent forfeits (default 60; 0: never).")]
    sprt: Annotated[
        str | tuple[float, ...],
        About(help="Stop as soon as this sequential test decides.", metavar="ELO0,ELO1[,ERROR]"),
    ]
    elo_model: Annotated[Literal["logistic", "normalized"], About(help="Elo model of --sprt.")]
    out: Annotated[str | Path, About(help="Directory of the run (default: a new one in runs/).")]
    resume: Annotated[RunLike, About(help="Resume an interrupted run.", metavar="RUN", complete="run")]
    retry_forfeits: Annotated[bool, About(help="With --resume: replay games lost by a dead process.")]
    watch: Annotated[bool, About(help="Also show a live page in the browser.")]
    dry_run: Annotated[bool, About(help="Print the planned games and the estimated time without playing.")]


@command()
def tournament(
    *contenders: Annotated[AgentLike, About(place="option", metavar="SPEC", complete="agent", help="A contender.")],
    file: Annotated[str | Path, About(place="argument")] | None = None,
    format: Annotated[Literal["gauntlet", "round-robin", "head-to-head", "best-of"], About(place="python")]
    | None = None,
    baseline: Agent | None = None,
    extend: Run | None = None,
    init: bool = False,
    **settings: Unpack[Settings],
) -> Result[RunResults]:
    """Play a tournament: the classic evaluation, or the one a TOML FILE describes.

    Every game is logged; agents are named like ID:improved@nodes=2000, ID:path/to/my.py:score or
    path/to/game_agent.py:CustomPlayer; docs/reference/agents.md has them all. In Python an agent may be a function of
    (game, player), too, and the same call finds the same run again: it resumes after Ctrl-C, or repeats the answer.

    Args:
        file: a TOML file whose keys the other arguments replace.
        baseline: baseline that contenders are compared with.
        extend: add contenders to a finished run, or openings by --pairs.
        init: write a commented tournament.toml and stop.

    Examples:
        isolation tournament --contender ID:my_heuristic.py:score
        isolation tournament tournament.toml --equal-cost
    """
    given = {"file": file, "format": format, "contenders": contenders, "baseline": baseline or None, "extend": extend}
    return rooms.write_example() if init else rooms.tournament_answer({**given, **settings})


@command()
def match(
    agent: Annotated[AgentLike, About(metavar="A", complete="agent")] | None = None,
    other: Annotated[AgentLike, About(metavar="B", complete="agent")] | None = None,
    **settings: Unpack[Settings],
) -> Result[RunResults]:
    """Play agents A and B head to head from random four-ply openings.

    Each opening is played twice, with sides swapped. With --resume RUN, A and B may be omitted. In Python the same call
    resumes after Ctrl-C, or repeats the answer.

    Examples:
        isolation match ID:my_heuristic.py:score ID:improved
        isolation match ID:territory ID:improved --sprt 0,20
    """
    return rooms.match_answer(agent, other, settings)


def compare(
    *what: AgentLike | RunLike,
    baseline: AgentLike | None = None,
    worth: float = 2.0,
    mixed: bool = False,
    **settings: Unpack[Settings],
) -> Result[RunResults]:
    """Compare contenders with a baseline: difference, interval and significance.

    Of runs, their contenders are compared, as by `results`. Of agents, a tournament is played first: each of them and
    the baseline (`improved`) against the seven classic opponents; see `tournament` for the settings.

    Args:
        what: runs, or agents.
        worth: smallest difference that matters, in percentage points.
        mixed: pool runs even if limits, boards or openings differ.
    """
    if any(not is_run_like(part) for part in what):
        return tournament(*cast("list[AgentLike]", what), baseline=baseline, **settings)
    if settings:
        raise ValueError(f"{next(iter(settings))} does not apply to runs, which have been played")
    from .results import results

    runs = cast("list[RunLike]", what)
    return results(*runs, baseline=cast("str | None", baseline), mixed=mixed, worth=worth)


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
    settings = {"pairs": pairs, "limit": limit, "hard_cap": hard_cap, "board": board, "schedule": schedule}
    return rooms.league_answer(
        Path(submissions), settings, resume, jobs=jobs, out=out, check_only=check_only, dry_run=dry_run
    )


@command("tables")
def ci(
    *heuristics: Annotated[HeuristicFile, About(is_needed=True)],
    base: Annotated[str, About(help="Compare with this commit.", metavar="COMMIT")] = "main",
    limit: str = "nodes=1000",
    sprt: Annotated[str, About(help="Fail if this test accepts ELO0.", metavar="ELO0,ELO1")] = "-20,0",
    pairs: Count = 10_000,
    jobs: Jobs = 0,
    summary: Annotated[str | Path, About(metavar="PATH", variable="GITHUB_STEP_SUMMARY", suffixes=("",))] | None = None,
) -> Result[list[Checked]]:
    """Check that no heuristic of a file is weaker than in another commit; exit code 1 if one is.

    Those that differ are screened on solved positions, then play the other version at equal cost until a sequential
    test is decided. The log of tries, runs/tries.jsonl, keeps its error rate over all commits: keep this file.

    Args:
        limit: limit of a move: nodes=N.
        pairs: most openings to play, each with sides swapped.
        summary: append the table to this file, in Markdown.

    Examples:
        isolation ci my_heuristic.py
        isolation ci my_heuristic.py --base HEAD~1 --summary summary.md
    """
    return rooms.commit_answer(heuristics, base, rooms.Terms.of(limit, sprt, pairs, jobs), summary)


@command("rows")
def runs(home: str | Path | None = None, *, verify: bool = False) -> Result[list[RunSummary]]:
    """List the runs in a directory (runs/ by default), oldest first: date, design, games, status.

    Args:
        verify: verify all files that verdicts rest on instead; exit code 1 if one is damaged.

    Examples:
        isolation runs
        isolation runs experiments --format json
    """
    return rooms.runs_answer(home, verify=verify)


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
    """
    return rooms.tried_answer(home, agent, command, diff)
