"""Requests to play a run: a configuration, a run to resume, or one to extend."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..plan.config import Config, load_config
from ..plan.tournament_plan import Plan, make_entrants, make_plan
from ..record import run_directory
from ..record.log import count_games
from .pools.preparation import check_scalable
from .run_extension import extend, extended_config
from .runner import RunOutcome


@dataclass(frozen=True)
class RunRequest:
    """A request to play a run.

    Attributes:
        file: a TOML file of the configuration, if there is one.
        keys: keys that override it.
        resume: the run to resume.
        extend: the finished run to extend.
        retry_forfeits: replay games of the resumed run that were lost by a dead process.
        is_kept: without `out`, the directory is named by the question and by the agents' code, so that the same request
            finds its run again, and resumes it.
        dry_run: only plan it.
        watch: show a live page meanwhile.
    """

    file: Path | None
    keys: Mapping[str, Any]
    resume: Path | None
    extend: Path | None
    retry_forfeits: bool
    is_kept: bool
    dry_run: bool
    watch: bool

    def config(self) -> Config:
        """Return the configuration. The file in a run names that run's directory, but a new run gets one of its own.

        Raises:
            ValueError: it is invalid, or there is no run to resume or to extend.
        """
        if self.extend:
            return extended_config(self.extend, self.keys)
        if self.resume:
            info = run_directory.load_run(self.resume)
            run_directory.check_played_here(info)
            if self.file:
                return load_config(self.file, {**self.keys, "out": str(self.resume)})
            changes = {key: value for key, value in self.keys.items() if key != "jobs"}
            return run_directory.requested_config(info, self.keys.get("jobs", 0), changes)
        config = load_config(self.file, self.keys)
        if self.is_kept and not config.out:
            question = {key: value for key, value in run_directory.identity(config).items() if value is not None}
            facts = [entrant.settings for entrant in make_entrants(config)[0]]
            where = {"jobs": config.jobs, "cluster": config.cluster}
            return run_directory.kept_config(config.format, question, facts, None, where)
        is_of_a_run = self.file and self.file.name == run_directory.CONFIG and run_directory.is_run(self.file.parent)
        is_new = is_of_a_run and "out" not in self.keys and not self.is_kept
        return config.model_copy(update={"out": None}) if is_new else config

    def plan(self) -> tuple[Plan, int]:
        """Return what would be played, and how many games of it there are already.

        Raises:
            ValueError: as for `config`, or it cannot be played.
        """
        config = self.config()
        if self.extend:
            extension = extend(self.extend, config)
            return extension.plan, extension.games
        if self.resume:
            return run_directory.planned_like(run_directory.load_run(self.resume), config), count_games(self.resume)
        plan = make_plan(config)
        if config.equal_cost:
            check_scalable(plan)
        return plan, 0

    def play(self, play: Callable[..., RunOutcome]) -> RunOutcome:
        """Play the run, by a function that does so as `runner.play_tournament`."""
        config = self.config()
        is_begun = self.is_kept and not self.extend and run_directory.is_run(Path(str(config.out)))
        return play(
            config, resume=bool(self.resume) or is_begun, retry_forfeits=self.retry_forfeits, extends=self.extend
        )


def run_request(
    given: Mapping[str, Any], path_of: Callable[[Any], Path], spec_of: Callable[[Any], str], *, is_kept: bool
) -> RunRequest:
    """Return the request that keys of a configuration and fields of `RunRequest` make; None and () are not given.

    `path_of` returns the directory of a run, `spec_of` the spec of an agent.

    Raises:
        ValueError: two of them exclude each other, or one is invalid.
    """
    keys = {key: value for key, value in given.items() if value is not None and value != ()}
    file, resumed, extended = (keys.pop(key, None) for key in ("file", "resume", "extend"))
    flags = {key: keys.pop(key, False) for key in ("retry_forfeits", "dry_run", "watch")}
    if flags["retry_forfeits"] and not resumed:
        raise ValueError("--retry-forfeits needs --resume RUN")
    if resumed and extended:
        raise ValueError("--resume and --extend exclude each other: use one of them")
    if file and extended:
        raise ValueError(f"--extend keeps the settings of {extended}: omit {file}")
    keys |= {key: tuple(map(spec_of, keys[key])) for key in ("contenders", "opponents") if key in keys}
    keys |= {"baseline": spec_of(keys["baseline"])} if "baseline" in keys else {}
    keys |= {"out": str(keys["out"])} if "out" in keys else {}
    if isinstance(keys.get("sprt"), str):
        keys["sprt"] = tuple(_number(word) for word in keys["sprt"].split(","))
    resume, extend = (path_of(run) if run else None for run in (resumed, extended))
    return RunRequest(Path(file) if file else None, keys, resume, extend, is_kept=is_kept, **flags)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"sprt: {text!r} is not a number") from None


@contextmanager
def naming_agents() -> Iterator[None]:
    """Have errors about the agents of a match call them A and B, instead of by the key of the configuration."""
    words = {"contenders[0]": "first agent (A)", "contenders": "agents A and B", "baseline": "second agent (B)"}
    try:
        yield
    except ValueError as error:
        key, colon, message = str(error).partition(": ")
        if not colon or key not in words:
            raise
        raise ValueError(f"{words[key]}: {message}") from error
