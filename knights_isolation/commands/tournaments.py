"""Play runs: tournaments, matches, and comparisons of agents."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from ..surface import COMMAND, Stopped, keeping, play
from .results import results

if TYPE_CHECKING:
    from knights_isolation.experiments.plan.config import Config
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
    if init:
        from knights_isolation.experiments.plan.config import example_toml
        from knights_isolation.isolation.files.atomic_write import write_new

        write_new(Path("tournament.toml"), example_toml())
        done = "Wrote tournament.toml. Play it with: isolation tournament tournament.toml"
        return cast("Result[RunResults]", Result(None, (), text=done))
    keys: dict[str, Any] = {"format": format, "contenders": tuple(map(agent_spec, contenders)) or None}
    keys["baseline"] = agent_spec(baseline) if baseline else None
    return _play(file, keys, settings, extend)


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
    if agent is None and settings.get("resume"):
        return _play(None, {}, settings)
    for word, each in (("A", agent), ("B", other)):
        if each is None:
            raise ValueError(f"agent {word} is missing: a match needs two")
    setup = {"format": "head-to-head", "contenders": (agent_spec(agent),), "baseline": agent_spec(other)}  # type: ignore[arg-type]
    words = {"contenders[0]": "first agent (A)", "contenders": "agents A and B", "baseline": "second agent (B)"}
    try:
        return _play(None, setup, {"openings": "random:4", **settings})
    except ValueError as error:
        key, colon, message = str(error).partition(": ")
        if not colon or key not in words:
            raise
        raise ValueError(f"{words[key]}: {message}") from error


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


@dataclass(frozen=True)
class _Request:
    """A request to play: a file and keys that override it, or a run to resume, or one to extend."""

    file: Path | None
    keys: Mapping[str, Any]
    resume: Path | None
    extend: Path | None
    retry: bool

    def config(self) -> Config:
        """Return the configuration of the request."""
        from knights_isolation.experiments.play.run_extension import extended_config
        from knights_isolation.experiments.record.run_directory import asked_for

        if self.extend:
            return extended_config(str(self.extend), self.keys)
        if self.resume or COMMAND.get() or self.keys.get("out"):
            return asked_for(self.file, self.keys, str(self.resume) if self.resume else None)
        return _kept_config(self.file, self.keys)


def _play(
    file: str | Path | None, setup: Mapping[str, Any], settings: Settings, extend: RunLike | None = None
) -> Result[Any]:
    """Play what was asked for, and return its results; with `dry_run`, what would be played."""
    given = cast("dict[str, Any]", dict(settings))
    resume = given.pop("resume", None)
    is_dry, is_watched, retry = (given.pop(key, False) for key in ("dry_run", "watch", "retry_forfeits"))
    if retry and not resume:
        raise ValueError("--retry-forfeits needs --resume RUN")
    if resume and extend:
        raise ValueError("--resume and --extend exclude each other: use one of them")
    if file and extend:
        raise ValueError(f"--extend keeps the settings of {extend}: omit {file}")
    keys = {key: value for key, value in {**setup, **given}.items() if value not in (None, ())}
    keys |= {"opponents": tuple(map(agent_spec, given["opponents"]))} if given.get("opponents") else {}
    keys |= {"out": str(keys["out"])} if "out" in keys else {}
    if isinstance(keys.get("sprt"), str):
        keys["sprt"] = tuple(_number("sprt", word) for word in keys["sprt"].split(","))
    resumed, extended = (run_path(run) if run else None for run in (resume, extend))
    request = _Request(Path(file) if file else None, keys, resumed, extended, retry)
    if is_dry:
        return _dry_run(request)
    return _watched(request) if is_watched else _played(request)


def _number(key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{key}: {text!r} is not a number") from None


def _played(request: _Request) -> Result[Any]:
    """Play a request, and return its verdicts and standings; on the command line also how it went."""
    from knights_isolation.experiments.noting import note_run
    from knights_isolation.experiments.record.run_directory import is_run, resume_advice
    from knights_isolation.isolation.suggestions import command as shown_command
    from knights_isolation.reports.watch.run_progress import end_message, outcome_text, what_is_kept

    with keeping(f"{request.resume} is unchanged" if request.resume else ""):
        config = request.config()
        is_kept = not COMMAND.get() and not request.extend and is_run(Path(str(config.out)))
        outcome = play(
            config, resume=bool(request.resume) or is_kept, retry_forfeits=request.retry, extends=request.extend
        )
    if not (outcome.logged or outcome.finished or COMMAND.get()):
        raise Stopped()
    kept = what_is_kept(outcome)
    goes_on = shown_command("results", outcome.path) if outcome.finished else resume_advice(outcome.path)
    with keeping(kept, goes_on=goes_on):
        if not outcome.finished and COMMAND.get():
            if outcome.logged:
                print(outcome_text(outcome))
            raise Stopped(kept, goes_on)
        if not outcome.finished:
            warnings.warn(f"interrupted: {kept}; the same call resumes", stacklevel=4)
        elif outcome.played:
            note_run(COMMAND.get() or ("match" if config.format == "head-to-head" else "tournament"), outcome.path)
        if not outcome.logged:
            return Result(None, (), text=end_message(outcome))
        answer = results(outcome.path)
        return replace(answer, text=f"{outcome_text(outcome, answer.sections[0])}\n{end_message(outcome)}")


def _watched(request: _Request) -> Result[Any]:
    """Play a request while serving the page of the run, and keep serving it until Ctrl-C."""
    from knights_isolation.experiments.play.pools.interrupts import until_interrupted
    from knights_isolation.experiments.record.run_directory import new_directory
    from knights_isolation.reports.board.resources import Resources
    from knights_isolation.reports.lab.server import page_of_run, serve_in_background

    path = request.resume or new_directory(request.config())
    shelf = Resources((path,))
    with serve_in_background(shelf, page_of_run(path), lambda address: print(f"Live page: {address}")) as stay:
        request = request if request.resume else replace(request, keys={**request.keys, "out": str(path)})
        answer = _played(request)
        print(f"{answer.text}\nPress Ctrl-C to close the page.")
        with until_interrupted():
            stay()
    return replace(answer, text=" ")


def _dry_run(request: _Request) -> Result[Any]:
    """Return the agents, the number of games, and the estimated time of a request."""
    from knights_isolation.experiments.plan.tournament_plan import make_plan
    from knights_isolation.experiments.play.pools.preparation import check_scalable
    from knights_isolation.experiments.play.run_extension import extend
    from knights_isolation.experiments.record.log import count_games
    from knights_isolation.experiments.record.run_directory import load_run, planned_like
    from knights_isolation.reports.studies.planning import dry_run_section
    from knights_isolation.reports.text.rendering import render_sections

    if request.extend:
        extension = extend(request.extend, request.config())
        plan, played = extension.plan, extension.games
    elif request.resume:
        plan, played = planned_like(load_run(request.resume), request.config()), count_games(request.resume)
    else:
        plan, played = make_plan(request.config()), 0
        if plan.config.equal_cost:
            check_scalable(plan)
    section = dry_run_section(plan, played)
    return Result(plan, (section,), text=render_sections([section], "table"))


def _kept_config(file: str | Path | None, keys: Mapping[str, Any]) -> Config:
    """Return the configuration of a run whose directory is named by its question and by its agents' code."""
    from knights_isolation.experiments.plan.config import load_config
    from knights_isolation.experiments.plan.tournament_plan import make_entrants
    from knights_isolation.experiments.record.run_directory import identity, kept_config

    config = load_config(file, keys)
    if config.out:
        return config
    question = {key: value for key, value in identity(config).items() if value is not None}
    facts = [entrant.settings for entrant in make_entrants(config)[0]]
    where = {key: getattr(config, key) for key in ("jobs", "cluster")}
    return kept_config(config.format, question, facts, None, where)
