"""Keep runs: create, lock, write, resume and finish their directories.

Functions raise ValueError if a directory cannot be written.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from knights_isolation.isolation.files.atomic_write import (
    check_output,
    leftovers,
    make_folder,
    sweep,
    write_text,
    writing_to,
)
from knights_isolation.isolation.files.received import DamagedFileError
from knights_isolation.isolation.loading.load_user_code import expand_path
from knights_isolation.isolation.rules.game import Cost

from ..record import log, log_parts
from ..record.checked_json import write_json
from ..record.run_directory import (
    CONFIG,
    END,
    FACTS,
    HOME,
    LEAGUE,
    LOCK,
    SUBMITTED,
    is_imported,
    is_run,
    load_run,
    resume_advice,
)
from ..record.schema import RUN_VERSION, AgentEntry, RunInfo
from .agent_kinds import KINDS
from .config import Config, load_config, to_toml
from .function_files import FOLDER, keep_function_files, restore_function_files
from .tournament_plan import Entrant, Plan, make_plan


class RunLockedError(ValueError):
    """Another process is writing to the run."""


@contextmanager
def locked(run: Path) -> Iterator[None]:
    """Keep other processes from writing to a run within the context. The lock ends with the process.

    Raises:
        RunLockedError: another process holds it.
    """
    import fcntl  # here, so that reading runs also works on systems without it

    with (run / LOCK).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            raise RunLockedError(f"{run}: process {file.read().strip() or '?'} is writing to this run") from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


_FREE = ("jobs", "cluster", "out")
"""Keys that may differ when a run is resumed, since they do not change which games are played."""


def new_directory(config: Config) -> Path:
    """Return the directory for a run of this configuration, without creating it, if it contains nothing else."""
    if config.out is None:
        stamp = datetime.now().strftime("%Y-%m-%d-%H%M%S")
        return unused(HOME / f"{stamp}-{config.format}")
    path = expand_path(config.out)
    if is_run(path):
        if is_imported(load_run(path)):
            raise ValueError(f"{path} already holds games that were imported: choose another --out")
        raise ValueError(f"{path} already holds a run: resume with {resume_advice(path)}, or choose another --out")
    half_written = (leftover.name for name in (CONFIG, FACTS, LEAGUE) for leftover in leftovers(path / name))
    ours = {log.GAMES, LOCK, CONFIG, FOLDER, LEAGUE, SUBMITTED, *half_written}
    if path.exists() and not (path.is_dir() and {child.name for child in path.iterdir()} <= ours):
        raise ValueError(f"{path} already exists and is not a run: choose another --out")
    check_output(path, makes_folders=True)
    return path


def digest_of(question: object) -> str:
    """Return a name for the run that answers a question: equal for equal questions, so that it is found again."""
    return hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()[:6]


def kept_config(
    name: str, keys: Mapping[str, Any], facts: object, out: Path | None, where: Mapping[str, Any]
) -> Config:
    """Return the configuration of a run that a command keeps for its question.

    Without `out`, its directory is named by the `name`, the `keys` of the configuration, and the `facts`, such as
    hashes of code. `where` has the keys that change no game.
    """
    return load_config(None, {**keys, **where, "out": str(out or HOME / f"{name}-{digest_of([keys, facts])}")})


@contextmanager
def lock_directory(path: Path) -> Iterator[None]:
    """Create the directory and keep other processes from writing to it, unless one has created a run in it."""
    with writing_to(path):
        make_folder(path)
        (path / LOCK).touch()
    with locked(path):
        if is_run(path):
            raise ValueError(f"{path} already holds a run: resume with {resume_advice(path)}")
        clear_up(path)
        yield


def clear_up(path: Path) -> None:
    """Remove leftovers of killed processes in the directory; its lock must be held."""
    for name in (CONFIG, FACTS, END):
        sweep(path / name)


def create(path: Path, plan: Plan, requested: Config, costs: Mapping[str, Cost] | None = None) -> None:
    """Create the directory of a run, ready for its first game."""
    info = RunInfo(
        path=path,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        requested=identity(requested),
        agents={entrant.agent.name: _entry_of(entrant) for entrant in plan.entrants},
        games=len(plan.schedule),
        openings=len(plan.schedule.cells),
        population=plan.population,
        is_census=plan.is_census,
        notes=list(plan.notes),
        fingerprint=plan.schedule.fingerprint,
        versions=log_parts.versions(),
        seeds_by=plan.schedule.seeds_by,
        pools_control=plan.pools_control,
        meets_baseline=plan.meets_baseline,
        processor_costs=dict(costs or {}),
        looks=list(plan.looks),
        configuration=digest_of(to_toml(plan.config)),
    )
    with writing_to(path):
        make_folder(log.games_folder(path))
        keep_function_files(path, (entrant.spec.path for entrant in plan.entrants if entrant.spec.is_file))
        write_text(path / CONFIG, to_toml(plan.config))
    write_info(info)


def _entry_of(entrant: Entrant) -> AgentEntry:
    spec, kind = entrant.spec, KINDS[entrant.spec.kind]
    facts = (entrant.agent.is_deterministic, kind.is_program, kind.is_restricted, False)
    return AgentEntry(str(spec), list(entrant.roles), entrant.settings, *facts)


def write_info(info: RunInfo) -> None:
    """Write the facts about a run, which makes its directory a run."""
    facts = {key: value for key, value in asdict(info).items() if key != "path"}
    with writing_to(info.path):
        make_folder(log.games_folder(info.path))
        write_json(info.path / FACTS, {"version": RUN_VERSION, **facts})


def with_files(texts: Iterable[str], files: Mapping[Path, Path]) -> list[str]:
    """Return the specs of agents with other files in place of those that `files` maps to them."""
    specs = list(texts)
    for before, after in files.items():
        specs = [text.replace(f":{before}:", f":{after}:") for text in specs]
    return specs


def move_files(info: RunInfo, files: Mapping[Path, Path]) -> None:
    """Let the contenders of a run play from other files of the same content."""
    config = written_config(info)
    text = to_toml(config.model_copy(update={"contenders": tuple(with_files(config.contenders, files))}))
    write_text(info.path / CONFIG, text)
    requested = {**info.requested, "contenders": with_files(info.requested["contenders"], files)}
    agents = {name: replace(entry, spec=with_files([entry.spec], files)[0]) for name, entry in info.agents.items()}
    write_info(replace(info, requested=requested, agents=agents, configuration=digest_of(text)))


def written_config(info: RunInfo, overrides: Mapping[str, object] | None = None) -> Config:
    """Return the configuration that a run is played by, with the specs and limits of all agents.

    Raises ValueError if `config.toml` is missing, or differs from what was written.
    """
    path = info.path / CONFIG
    if info.configuration and path.is_file() and digest_of(path.read_text(encoding="utf-8")) != info.configuration:
        raise DamagedFileError(f"{path}: damaged or edited by hand: restore it, or play a new run with it")
    return load_config(path, overrides)


def note_unranked(path: Path, names: Iterable[str]) -> None:
    """Save which players of a league never made a legal move, so that all results of the run leave them out."""
    info, unranked = load_run(path), sorted(names)
    if info.unranked != unranked:
        write_info(replace(info, unranked=unranked))


def check_played_here(info: RunInfo) -> None:
    """Raise a ValueError if the games of a run were played elsewhere, so that it cannot be resumed."""
    if is_imported(info):
        raise ValueError(f"{info.path} was imported; cannot resume")


def requested_config(info: RunInfo, jobs: int = 0, changes: Mapping[str, Any] | None = None) -> Config:
    """Return the configuration a run was requested with, pointing at its directory, as needed to resume it.

    `changes` replaces keys: if any of them makes it another run, `check_resumable` names only that one.
    """
    given = {key: value for key, value in info.requested.items() if value is not None}
    return load_config(None, {**given, **(changes or {}), "jobs": jobs, "out": str(info.path)})


def finish(path: Path, games: int, ended_by_clock: int, *, reproducible: bool) -> None:
    """Mark a run as complete, and record whether it can be reproduced move by move.

    `ended_by_clock` counts games that a time limit or the hard cap ended: if there are any, another machine may play
    different games.
    """
    facts = {"games": games, "ended_by_clock": ended_by_clock, "reproducible": reproducible}
    write_json(path / END, {"finished_at": datetime.now(UTC).isoformat(timespec="seconds"), **facts})


def reopen(path: Path) -> None:
    """Remove the mark that a run is complete."""
    (path / END).unlink(missing_ok=True)


def planned_like(info: RunInfo, config: Config) -> Plan:
    """Make the plan of a configuration, by the rules with which the run was planned; see `make_plan`."""
    restore_function_files(info.path, (entry.spec for entry in info.agents.values()))
    return make_plan(config, info.seeds_by, info.pools_control, info.meets_baseline)


def identity(config: Config) -> dict[str, Any]:
    """Return the values that are equal for two configurations of the same run."""
    return {key: value for key, value in config.model_dump(mode="json").items() if key not in _FREE}


def check_resumable(info: RunInfo, requested: Config, plan: Plan) -> None:
    """Raise a ValueError that names the difference if a run has another configuration, or code has changed since."""
    asked = identity(requested)
    for key in asked:
        if asked[key] != info.requested.get(key):
            was, now = json.dumps(info.requested.get(key)), json.dumps(asked[key])
            raise ValueError(f"{info.path} is a run with {key} = {was}, not {now}: choose another --out")
    check_unchanged(info, plan)
    if plan.schedule.fingerprint != info.fingerprint:
        raise ValueError(f"{info.path}: the schedule has changed since the run began (was an opening file edited?)")


def check_unchanged(info: RunInfo, plan: Plan) -> None:
    """Raise a ValueError that names all agents of the plan that have other code than when the run began."""
    known = {name: entry.settings for name, entry in info.agents.items()}
    changed = [other for other in plan.entrants if known.get(other.agent.name, other.settings) != other.settings]
    if changed:
        names = ", ".join(entrant.agent.name for entrant in changed)
        remedy = f"start a new run, or restore {', '.join(entrant.spec.target for entrant in changed)}"
        raise ValueError(f"{info.path}: the code of {names} has changed since the run began: {remedy}")


def unused(path: Path) -> Path:
    """Return a path, or the first of PATH-2, PATH-3, … if it exists."""
    candidates = (path.with_name(f"{path.name}-{number}") if number > 1 else path for number in count(1))
    return next(candidate for candidate in candidates if not candidate.exists())
