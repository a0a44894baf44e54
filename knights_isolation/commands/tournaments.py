"""Play runs: tournaments, matches, and comparisons of agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, Unpack, cast

from knights_isolation.reports.answers import Result

from ..inputs import (
    Agent,
    AgentLike,
    Cluster,
    EqualCost,
    Jobs,
    Run,
    RunLike,
    agent_spec,
    is_run_like,
    run_path,
)
from ..parameters import About, command
from ..surface import COMMAND, play
from .results import results

if TYPE_CHECKING:
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
    board: Annotated[str, About(help="Board size, ROWSxCOLUMNS (default 7x7).")]
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

    Raises:
        ValueError: an argument is invalid; one line says what is expected.
        KeyboardInterrupt: it was interrupted before its first game.
    """
    from knights_isolation.reports.lab.played_runs import write_example

    if init:
        return write_example()
    given = {"file": file, "format": format, "contenders": contenders, "baseline": baseline, "extend": extend}
    return _play({**given, **settings})


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

    Raises:
        ValueError: an argument is invalid.
    """
    from knights_isolation.experiments.play.run_request import naming_agents

    if agent is None and settings.get("resume"):
        return _play(settings)
    for word, each in (("A", agent), ("B", other)):
        if each is None:
            raise ValueError(f"agent {word} is missing: a match needs two")
    given = {"format": "head-to-head", "contenders": (agent,), "baseline": other, "openings": "random:4"}
    with naming_agents():
        return _play({**given, **settings})


def _play(given: Mapping[str, Any]) -> Result[RunResults]:
    """Play what was asked for, and return its results; with `dry_run`, what would be played."""
    from knights_isolation.experiments.play.run_request import run_request
    from knights_isolation.reports.lab.played_runs import play_request

    request = run_request(given, run_path, agent_spec, is_kept=not COMMAND.get())
    return play_request(request, play, COMMAND.get())


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

    Raises:
        ValueError: an argument is invalid.
    """
    if any(not is_run_like(part) for part in what):
        return tournament(*cast("list[AgentLike]", what), baseline=baseline, **settings)
    if settings:
        raise ValueError(f"{next(iter(settings))} does not apply to runs, which have been played")
    runs = cast("list[RunLike]", what)
    return results(*runs, baseline=cast("str | None", baseline), mixed=mixed, worth=worth)
