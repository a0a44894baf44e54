"""Run directories: create, list, lock and resume.

`config.toml` is the configuration, with every agent in full; `run.json` has facts about the planned run; `games/` is
the log; `finished.json` is written when the run is complete; `lock` excludes a second writer; `engines/` has the
standard error of engines and their search information, if any play; `functions/` has the source of agents that were
given as functions; a league's also has `league.json` and, in `submitted/`, copies of the submissions that it plays.

Functions that write raise ValueError if they cannot, functions that read if a file is damaged.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import count, takewhile
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from knights_isolation.isolation.files.atomic_write import check_output, leftovers, make_folder, sweep, write_text
from knights_isolation.isolation.loading.load_user_code import expand_path
from knights_isolation.isolation.rules.geometry import parse_size
from knights_isolation.isolation.rules.limits import Cost
from knights_isolation.isolation.suggestions import advice, command, did_you_mean
from knights_isolation.isolation.usercode.output_capture import tell

from ..plan.config import Config, load_config, to_toml
from ..plan.tournament_plan import Entrant, Plan, make_plan
from ..roster.agent_kinds import KINDS
from ..roster.function_files import FOLDER, keep_function_files, restore_function_files
from . import log
from .checked_lines import DamagedFileError, read_json, write_json, writing_to
from .schema import RUN_VERSION, AgentEntry, RunInfo, lifted, read_settings

LOCK = "lock"

State = Literal["running", "stopped", "finished"]


class RunLockedError(ValueError):
    """Another process is writing to the run."""


def lock_file(run: Path) -> tuple[int, int] | None:
    """Return device and inode of a run's lock file, to identify the run whatever its path; None if there is none."""
    try:
        status = (run / LOCK).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


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


HOME = Path("runs")
CONFIG = "config.toml"
FACTS = "run.json"
END = "finished.json"
ENGINES = "engines"
LEAGUE = "league.json"
SUBMITTED = "submitted"


_SEED = TypeAdapter(int)
_GAMES: TypeAdapter[int | None] = TypeAdapter(int | None)
_FREE = ("jobs", "cluster", "out")
"""Keys that may differ when a run is resumed, since they do not change which games are played."""


_INFO = TypeAdapter(RunInfo)


@dataclass(frozen=True)
class RunSummary:
    """Summary of a run in one line: how many of its games are in the log, and whether it is complete."""

    info: RunInfo
    played: int
    finished: bool


def new_directory(config: Config) -> Path:
    """Return the directory for a run of this configuration, without creating it.

    Raises:
        ValueError: the path already contains something else.
    """
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

    Args:
        name: first word of the directory's name, if there is no `out`.
        keys: of the configuration; with the `facts`, such as hashes of code, they decide the directory.
        where: keys that change no game.
    """
    return load_config(None, {**keys, **where, "out": str(out or HOME / f"{name}-{digest_of([keys, facts])}")})


@contextmanager
def lock_directory(path: Path) -> Iterator[None]:
    """Create the directory and keep other processes from writing to it.

    Raises:
        ValueError: it cannot be created, or another process is writing to it or has created a run in it meanwhile.
    """
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
        versions=log.versions(),
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
    kind = KINDS[entrant.spec.kind]
    return AgentEntry(
        spec=str(entrant.spec),
        roles=list(entrant.roles),
        settings=entrant.settings,
        deterministic=entrant.agent.is_deterministic,
        unknown=kind.is_program,
        restricted=kind.is_restricted,
        imported=False,
    )


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
    specs = with_files([entry.spec for entry in info.agents.values()], files)
    agents = {name: replace(info.agents[name], spec=spec) for name, spec in zip(info.agents, specs, strict=True)}
    write_info(replace(info, requested=requested, agents=agents, configuration=digest_of(text)))


def written_config(info: RunInfo, overrides: Mapping[str, object] | None = None) -> Config:
    """Return the configuration that a run is played by, with the specs and limits of all agents.

    Raises:
        ValueError: `config.toml` is missing, or differs from what was written.
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


def is_run(path: Path) -> bool:
    """Return whether a path is a run directory."""
    return (path / FACTS).exists()


def check_run(path: Path) -> Path:
    """Return the path if it has a log; otherwise raise a ValueError."""
    log.existing_folder(path)
    return path


def load_run(path: str | Path) -> RunInfo:
    """Read the facts about a run.

    Raises:
        ValueError: there is no run there, or its `run.json` is damaged.
    """
    path = Path(path)
    try:
        info = _INFO.validate_python({**lifted(read_json(path / FACTS)), "path": path})
        parse_size(info.requested["board"])
        _SEED.validate_python(info.requested["seed"])
        for entry in info.agents.values():
            read_settings(entry.settings)
    except (FileNotFoundError, NotADirectoryError):
        runs = [*HOME.glob(f"*/{FACTS}")]
        names = {name: run.parent for run in runs for name in (str(run.parent), run.parent.name)}
        hint = did_you_mean(str(path), names).strip()
        raise ValueError(f"{path}: not a run directory (no {FACTS}){'; ' * bool(hint)}{hint}") from None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        reason = str(error).partition("\n")[0]
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False)[0]
            reason = f"{'.'.join(map(str, first['loc']))}: {first['msg'][:1].lower()}{first['msg'][1:]}"
        raise ValueError(f"{path / FACTS}: cannot be read: {reason}") from None
    return info


def resume_advice(path: Path) -> str:
    """Return how to resume a run: by the command that plays runs of its kind."""
    name = "tournament"
    with suppress(ValueError):
        name = "match" if load_run(path).requested.get("format") == "head-to-head" else name
    return advice(command(name, "--resume", path), f"the call that began it, out={str(path)!r}")


def is_imported(info: RunInfo) -> bool:
    """Return whether the games of a run were played elsewhere, by players of whom only the names are known."""
    return any(entry.imported for entry in info.agents.values())


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


def runs_in(home: Path) -> list[Path]:
    """Return the directories of the runs below a directory, or the run that it is itself."""
    return [home] if is_run(home) else [facts.parent for facts in home.glob(f"*/{FACTS}")]


def state_of(path: Path) -> State:
    """Return whether a run is being played on this machine, has stopped before its end, or has all of its games."""
    if is_finished(path):
        return "finished"
    if is_played_now(path):
        return "running"
    try:
        return "finished" if log.count_games(path) >= load_run(path).games else "stopped"
    except (ValueError, OSError):
        return "stopped"


def is_played_now(path: Path) -> bool:
    """Return whether the process that last wrote to an unfinished run is still alive on this machine."""
    try:
        writer = int((path / LOCK).read_text(encoding="ascii") or 0)
        os.kill(writer, 0)
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return writer > 0 and not is_finished(path)


def list_runs(home: Path = HOME) -> list[RunSummary]:
    """Return the runs below a directory, oldest first, or the run that it is itself; warn about damaged ones."""
    runs = []
    for path in runs_in(home):
        try:
            runs.append(RunSummary(load_run(path), log.count_games(path), is_finished(path)))
        except (ValueError, OSError) as error:
            warnings.warn(f"{path} skipped: {error}", stacklevel=2)
    return sorted(runs, key=lambda run: (run.info.created_at, run.info.path.name))


def latest_run(home: Path = HOME) -> Path:
    """Return the most recently started run with games below a directory; the command line prints which it is.

    If no run has games, it is the last one, provided that it is played now.

    Raises:
        ValueError: there is none.
    """
    try:
        runs = [load_run(facts.parent) for facts in home.glob(f"*/{FACTS}")]
    except ValueError as error:
        raise ValueError(f"cannot determine the latest run; name one: {error}") from None
    if not runs:
        playing = advice("isolation tournament", "ki.tournament()")
        raise ValueError(f"no run in {home}/: name one, or play one with {playing}")
    newest_first = [info.path for info in sorted(runs, key=lambda info: (info.created_at, info.path.name))][::-1]
    without = [*takewhile(lambda path: not _has_games(path), newest_first)]
    if without == newest_first:
        last = newest_first[0]
        if not is_played_now(last):
            raise ValueError(f"no run in {home}/ has games: name one, or play {last} with {resume_advice(last)}")
        without = []
    latest = newest_first[len(without)]
    state = "" if is_finished(latest) else f", which is not finished ({_games_in(latest)})"
    skipped = f"; no games yet in {', '.join(map(str, without))}" if without else ""
    kind = "the latest with games" if _has_games(latest) else "the latest"
    tell(f"No run named: using {kind}, {latest}{state}{skipped}.")
    return latest


def _has_games(path: Path) -> bool:
    """Return whether the log of a run has any game; true for a damaged log, so that reading it reports the damage."""
    try:
        return log.count_games(path) > 0
    except (ValueError, OSError):
        return True


def run_called(name: str | Path) -> Path:
    """Return the run with a path, or with a name below `HOME`: `t1` is `runs/t1` unless `t1` itself exists."""
    path = Path(name)
    return HOME / path if not path.exists() and is_run(HOME / path) else path


def is_finished(path: Path) -> bool:
    """Return whether a run is complete: all games played, or its stop rule decided, and the log's parts merged."""
    return (path / END).exists()


def _games_in(path: Path) -> str:
    """Return how many of its games a run has, such as 120 of 400 games; damaged logs are reported as such."""
    try:
        return f"{log.count_games(path):,} of {load_run(path).games:,} games"
    except (ValueError, OSError):
        return "its log is damaged"


def games_at_end(path: Path) -> int | None:
    """Return the number of games in the log of a run when it was completed; None if it is incomplete or unrecorded."""
    try:
        return _GAMES.validate_python(read_json(path / END).get("games"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        why = str(error).partition("\n")[0]
        raise ValueError(f"{path / END}: cannot be read: {why}") from None


def missing_sentence(path: Path) -> str:
    """Return a warning if games are missing in the log of a complete run, for example a lost part; otherwise empty."""
    missing = (games_at_end(path) or 0) - log.count_games(path)
    if missing <= 0:
        return ""
    return (
        f"{missing:,} of the {games_at_end(path):,} games of {path} are missing from its log. Replay them with "
        f"{resume_advice(path)}"
    )


def finish(path: Path, games: int, ended_by_clock: int, *, reproducible: bool) -> None:
    """Mark a run as complete, and record whether it can be reproduced move by move.

    `ended_by_clock` counts games that a time limit or the hard cap ended: if there are any, another machine may play
    different games.
    """
    facts = {
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "games": games,
        "ended_by_clock": ended_by_clock,
        "reproducible": reproducible,
    }
    write_json(path / END, facts)


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
        targets = ", ".join(entrant.spec.target for entrant in changed)
        raise ValueError(
            f"{info.path}: the code of {names} has changed since the run began: start a new run, or restore {targets}"
        )


def unused(path: Path) -> Path:
    """Return a path, or the first of PATH-2, PATH-3, … if it exists."""
    candidates = (path.with_name(f"{path.name}-{number}") if number > 1 else path for number in count(1))
    return next(candidate for candidate in candidates if not candidate.exists())
