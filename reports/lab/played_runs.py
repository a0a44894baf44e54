"""What playing runs answers: their verdicts and standings, meanwhile live on a page if asked for, or their plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from knights_isolation.experiments.plan import AgentLike, run_keeping, spec_of
from knights_isolation.experiments.plan.config import Config, example_toml, load_config
from knights_isolation.experiments.plan.tournament_plan import Plan, make_entrants, make_plan
from knights_isolation.experiments.play.equal_cost import check_scalable
from knights_isolation.experiments.play.pools.interrupts import keeping, until_interrupted
from knights_isolation.experiments.play.run_extension import extend, extended_config
from knights_isolation.experiments.play.runner import RunOutcome
from knights_isolation.experiments.record import run_directory
from knights_isolation.experiments.record.log import count_games
from knights_isolation.experiments.studies.noted_tries import note_run
from knights_isolation.isolation.files.atomic_write import write_new
from knights_isolation.isolation.suggestions import COMMAND
from knights_isolation.isolation.suggestions import command as shown_command

from ..answers import Result, run_path
from ..kept_answers import results_of
from ..studies.planning import dry_run
from ..watch import end_message, judging, outcome_text, play


def write_example() -> Result[Any]:
    """Write a commented tournament.toml."""
    write_new(Path("tournament.toml"), example_toml())
    return Result(None, (), text="Wrote tournament.toml. Play it with: isolation tournament tournament.toml")


def match_answer(agent: AgentLike | None, other: AgentLike | None, settings: Mapping[str, Any]) -> Result[Any]:
    """Play two agents head to head, or resume their run without naming them, and return the result.

    Raises:
        ValueError: as for `tournament_answer`, or one of the agents is missing or none.
    """
    if agent is None and settings.get("resume"):
        return tournament_answer(settings)
    for word, each in (("A", agent), ("B", other)):
        if each is None:
            raise ValueError(f"agent {word} is missing: a match needs two")
    given = {"format": "head-to-head", "contenders": (agent,), "baseline": other, "openings": "random:4"}
    words = {"contenders[0]": "first agent (A)", "contenders": "agents A and B", "baseline": "second agent (B)"}
    try:
        return tournament_answer({**given, **settings})
    except ValueError as error:
        key, colon, message = str(error).partition(": ")
        if not colon or key not in words:
            raise
        raise ValueError(f"{words[key]}: {message}") from error


def tournament_answer(given: Mapping[str, Any]) -> Result[Any]:
    """Play a run, and return its verdicts and standings; with `dry_run`, what would be played.

    `given` are keys of a configuration, its `file`, a run to `resume`, with `retry_forfeits`, or to `extend`, and
    whether to `watch` it. What is None or () was not given.

    Raises:
        ValueError: two of them exclude each other, or one is invalid.
        Stopped: it was interrupted; in Python only before its first game.
    """
    keys = {key: value for key, value in given.items() if value is not None and value != ()}
    file, resumed, extended = (keys.pop(key, None) for key in ("file", "resume", "extend"))
    retry_forfeits, is_dry, is_watched = (keys.pop(key, False) for key in ("retry_forfeits", "dry_run", "watch"))
    if retry_forfeits and not resumed:
        raise ValueError("--retry-forfeits needs --resume RUN")
    if resumed and extended:
        raise ValueError("--resume and --extend exclude each other: use one of them")
    if file and extended:
        raise ValueError(f"--extend keeps the settings of {extended}: omit {file}")
    keys |= {key: tuple(map(spec_of, keys[key])) for key in ("contenders", "opponents") if key in keys}
    keys |= {"baseline": spec_of(keys["baseline"])} if "baseline" in keys else {}
    keys |= {"out": str(keys["out"])} if "out" in keys else {}
    if isinstance(keys.get("sprt"), str):
        keys["sprt"] = tuple(map(_number, keys["sprt"].split(",")))
    resume, extends = (run_path(run) if run else None for run in (resumed, extended))
    request = _Request(Path(file) if file else None, keys, resume, extends, retry_forfeits)
    if is_dry:
        return dry_run(*request.plan())
    return _watched(request) if is_watched else _played(request)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"sprt: {text!r} is not a number") from None


@dataclass(frozen=True)
class _Request:
    """A request to play a run: a file and keys that override it, or a run to resume, or one to extend."""

    file: Path | None
    keys: Mapping[str, Any]
    resume: Path | None
    extends: Path | None
    retry_forfeits: bool

    def config(self) -> Config:
        """Return the configuration. In Python the directory is named by the question and by the agents' code."""
        if self.extends:
            return extended_config(self.extends, self.keys)
        if self.resume:
            info = run_directory.load_run(self.resume)
            run_keeping.check_played_here(info)
            if self.file:
                return load_config(self.file, {**self.keys, "out": str(self.resume)})
            changes = {key: value for key, value in self.keys.items() if key != "jobs"}
            return run_keeping.requested_config(info, self.keys.get("jobs", 0), changes)
        config = load_config(self.file, self.keys)
        if "out" in self.keys or (config.out and not COMMAND.get()):
            return config
        if COMMAND.get():  # the file in a run names that run's directory, but a new run gets one of its own
            is_of_a_run = (
                self.file and self.file.name == run_directory.CONFIG and run_directory.is_run(self.file.parent)
            )
            return config.model_copy(update={"out": None}) if is_of_a_run else config
        question = {key: value for key, value in run_keeping.identity(config).items() if value is not None}
        facts = [entrant.settings for entrant in make_entrants(config)[0]]
        where = {"jobs": config.jobs, "cluster": config.cluster}
        return run_keeping.kept_config(config.format, question, facts, None, where)

    def plan(self) -> tuple[Plan, int]:
        """Return what would be played, and how many games of it there are already."""
        config = self.config()
        if self.extends:
            extension = extend(self.extends, config)
            return extension.plan, extension.games
        if self.resume:
            return run_keeping.planned_like(run_directory.load_run(self.resume), config), count_games(self.resume)
        plan = make_plan(config)
        if config.equal_cost:
            check_scalable(plan)
        return plan, 0

    def play(self) -> RunOutcome:
        """Play the run, or what is missing of it; in Python also of one that was begun by the same request."""
        config = self.config()
        is_begun = not COMMAND.get() and not self.extends and run_directory.is_run(Path(str(config.out)))
        resume = bool(self.resume) or is_begun
        return play(config, resume=resume, retry_forfeits=self.retry_forfeits, extends=self.extends)


def _played(request: _Request) -> Result[Any]:
    """Play a request, and return its verdicts and standings; on the command line also how it went."""
    with keeping(f"{request.resume} is unchanged" if request.resume else ""):
        outcome = request.play()
    if COMMAND.get() and outcome.logged and not outcome.finished:
        print(outcome_text(outcome))
    advice = run_directory.resume_advice(outcome.path)
    with judging(outcome, shown_command("results", outcome.path) if outcome.finished else advice):
        if outcome.finished and outcome.played:
            kind = "match" if outcome.plan.config.format == "head-to-head" else "tournament"
            note_run(COMMAND.get() or kind, outcome.path)
        if not outcome.logged:
            return Result(None, (), text=end_message(outcome))
        answer = results_of([outcome.path])
        return replace(answer, text=f"{outcome_text(outcome, answer.sections[0])}\n{end_message(outcome)}")


def _watched(request: _Request) -> Result[Any]:
    """Play a request while serving the page of the run, and keep serving it until Ctrl-C."""
    from ..board.resources import Resources
    from .server import page_of_run, serve_in_background

    path = request.resume or run_keeping.new_directory(request.config())
    resources = Resources((path,))
    with serve_in_background(resources, page_of_run(path), lambda address: print(f"Live page: {address}")) as stay:
        answer = _played(request if request.resume else replace(request, keys={**request.keys, "out": str(path)}))
        print(f"{answer.text}\nPress Ctrl-C to close the page.")
        with until_interrupted():
            stay()
    return replace(answer, text=" ")
