"""Run directories: create, list, lock and resume.

`config.toml` is the configuration, every agent spelt out; `run.json` what the run was planned to be; `games/` the log;
`finished.json` appears when the run has come to its end; `lock` keeps a second writer out; `engines/` has what engines
have written to standard error and said of their searches, if any play.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from experiments.plan.agent_facts import read_facts
from experiments.plan.config import Config, load_config, to_toml
from experiments.plan.schedule import SeedsBy
from experiments.plan.tournament_plan import Plan, make_plan
from experiments.record import log
from experiments.record.checked_json import read_json, write_json
from isolation.checks.search_cost import Cost
from isolation.files.atomic_write import leftovers, make_folder, sweep, write_text
from isolation.loading.load_user_code import expand_path
from isolation.rules.geometry import parse_size
from isolation.shell import command
from isolation.suggestions import did_you_mean

LOCK = "lock"


class RunLockedError(ValueError):
    """Another process is writing to the run."""


def lock_file(run: Path) -> tuple[int, int] | None:
    """Which file the lock of a run is, whatever its path; None if there is none. Another run has another one."""
    try:
        status = (run / LOCK).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


@contextmanager
def locked(run: Path) -> Iterator[None]:
    """Keep other processes from writing to a run meanwhile. The lock dies with the process.

    Raises:
        RunLockedError: another process holds it.
    """
    import fcntl  # here, so that what only reads runs works where there is none

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
IMPORTED = "imported"
"""The kind of players whose games were played elsewhere."""


@dataclass(frozen=True)
class _Agent:
    """What `run.json` says of an agent; runs from before do not say whether it is deterministic."""

    spec: str
    roles: list[str]
    settings: str
    deterministic: bool | None = None


_AGENT = TypeAdapter(_Agent)
_SEED = TypeAdapter(int)
_GAMES: TypeAdapter[int | None] = TypeAdapter(int | None)
_FREE = ("jobs", "cluster", "out")
"""Keys that may differ when a run is resumed: they do not change what is played."""


@dataclass(frozen=True)
class RunInfo:
    """What `run.json` says of a run.

    `requested` is the configuration as it was given, without what may change when resuming. `agents` maps each name to
    its `spec`, `roles` (baseline, contender, control, opponent), `settings`, as JSON text like in the log, and whether
    it is `deterministic`, unless the run is from before that was written; `facts.run_facts` reads these.
    `processor_costs` is what their searches cost by name, over the baseline's if there is one; see
    `isolation.checks.search_cost`. `games` is how many there are to play, `openings` and `population` how many
    different openings are played and exist. `seeds_by` is the rule of `schedule.game_seeds`; runs from before there was
    more than one do not name it. `pools_control` is that of the plan; runs from before do not.
    """

    path: Path
    created_at: str
    requested: dict[str, Any]
    agents: dict[str, dict[str, Any]]
    games: int
    openings: int
    population: int
    is_census: bool
    notes: list[str]
    fingerprint: str
    versions: dict[str, str]
    seeds_by: SeedsBy = "agents"
    pools_control: bool = False
    processor_costs: dict[str, Cost] = field(default_factory=dict)


@dataclass(frozen=True)
class RunSummary:
    """One line about a run: how many of its games are in the log, and whether it ran to its end."""

    info: RunInfo
    played: int
    finished: bool


def new_directory(config: Config) -> Path:
    """The directory a run of this configuration goes to; it is not made yet.

    Raises:
        ValueError: there is something else at that place already.
    """
    if config.out is None:
        stamp = datetime.now().strftime("%Y-%m-%d-%H%M%S")
        return _unused(HOME / f"{stamp}-{config.format}")
    path = expand_path(config.out)
    if is_run(path):
        if is_imported(load_run(path)):
            raise ValueError(f"{path} already holds games that were imported: choose another --out")
        raise ValueError(
            f"{path} already holds a run: resume with {command('tournament', '--resume', path)}, "
            "or choose another --out"
        )
    half_written = (leftover.name for name in (CONFIG, FACTS) for leftover in leftovers(path / name))
    ours = {log.GAMES, LOCK, CONFIG, *half_written}
    if path.exists() and not (path.is_dir() and {child.name for child in path.iterdir()} <= ours):
        raise ValueError(f"{path} already exists and is not a run: choose another --out")
    return path


@contextmanager
def lock_directory(path: Path) -> Iterator[None]:
    """Make the directory and keep other processes from writing to it.

    Raises:
        ValueError: it cannot be made, or another process is writing to it or has made a run of it meanwhile.
    """
    try:
        make_folder(path)
        (path / LOCK).touch()
    except OSError as error:
        raise ValueError(f"{path}: cannot write there: {error.strerror}") from None
    with locked(path):
        if is_run(path):
            raise ValueError(f"{path} already holds a run: resume with {command('tournament', '--resume', path)}")
        clear_up(path)
        yield


def clear_up(path: Path) -> None:
    """Remove what processes that were killed left behind in the directory; its lock must be held."""
    for name in (CONFIG, FACTS, END):
        sweep(path / name)


def create(path: Path, plan: Plan, requested: Config, costs: Mapping[str, Cost] | None = None) -> None:
    """Make the directory of a run, ready for its first game.

    Raises:
        ValueError: it cannot be written.
    """
    info = RunInfo(
        path=path,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        requested=identity(requested),
        agents={
            entrant.agent.name: {
                "spec": str(entrant.spec),
                "roles": entrant.roles,
                "settings": entrant.settings,
                "deterministic": entrant.agent.is_deterministic,
            }
            for entrant in plan.entrants
        },
        games=len(plan.schedule),
        openings=len(plan.schedule.cells),
        population=plan.population,
        is_census=plan.is_census,
        notes=list(plan.notes),
        fingerprint=plan.schedule.fingerprint,
        versions=log.versions(),
        seeds_by=plan.schedule.seeds_by,
        pools_control=plan.pools_control,
        processor_costs=dict(costs or {}),
    )
    try:
        make_folder(log.games_folder(path))
        write_text(path / CONFIG, to_toml(plan.config))
    except OSError as error:
        raise ValueError(f"{path}: cannot write there: {error.strerror}") from None
    write_info(info)


def write_info(info: RunInfo) -> None:
    """Write down what is known of a run, which makes its directory one.

    Raises:
        ValueError: it cannot be written.
    """
    facts = {key: value for key, value in asdict(info).items() if key != "path"}
    try:
        make_folder(log.games_folder(info.path))
        write_json(info.path / FACTS, facts)
    except OSError as error:
        raise ValueError(f"{info.path}: cannot write there: {error.strerror}") from None


def note_costs(path: Path, costs: Mapping[str, Cost]) -> None:
    """Write down what the searches of a run's agents cost.

    Raises:
        ValueError: it cannot be written.
    """
    write_info(replace(load_run(path), processor_costs=dict(costs)))


def is_run(path: Path) -> bool:
    """Whether a run lies there."""
    return (path / FACTS).exists()


def load_run(path: str | Path) -> RunInfo:
    """What is known of a run.

    Raises:
        ValueError: there is no run there, or its `run.json` is damaged.
    """
    path = Path(path)
    try:
        info = TypeAdapter(RunInfo).validate_python({**read_json(path / FACTS), "path": path})
        parse_size(info.requested["board"])
        _SEED.validate_python(info.requested["seed"])
        for entry in info.agents.values():
            _AGENT.validate_python(entry)
            read_facts(entry["settings"])
    except (FileNotFoundError, NotADirectoryError):
        runs = [*HOME.glob(f"*/{FACTS}")]
        names = {name: run.parent for run in runs for name in (str(run.parent), run.parent.name)}
        hint = did_you_mean(str(path), names).strip()
        raise ValueError(f"{path}: not a run directory (no {FACTS}){'; ' * bool(hint)}{hint}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        reason = f"{'.'.join(map(str, first['loc']))}: {first['msg'][:1].lower()}{first['msg'][1:]}"
        raise ValueError(f"{path / FACTS}: cannot be read: {reason}") from None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{path / FACTS}: cannot be read: {reason}") from None
    return info


def is_imported(info: RunInfo) -> bool:
    """Whether the games of a run were played elsewhere, by players of whom only the names are known."""
    return any(read_facts(entry["settings"]).settings.get("kind") == IMPORTED for entry in info.agents.values())


def check_played_here(info: RunInfo) -> None:
    """Refuse to go on with a run whose games were played elsewhere.

    Raises:
        ValueError: saying so.
    """
    if is_imported(info):
        raise ValueError(f"{info.path} was imported; cannot resume")


def requested_config(info: RunInfo, jobs: int = 0, changes: Mapping[str, Any] | None = None) -> Config:
    """The configuration a run was asked for with, pointing at its directory: what resuming it needs.

    `changes` replaces keys: if any of them makes it another run, `check_resumable` names that one and no other.
    """
    given = {key: value for key, value in info.requested.items() if value is not None}
    return load_config(None, {**given, **(changes or {}), "jobs": jobs, "out": str(info.path)})


def asked_for(file: Path | None, keys: Mapping[str, Any], resume: str | None) -> Config:
    """The configuration that a TOML file, keys that replace its own, and the run to go on with come to.

    The file that lies in a run says where that one went; a run by the same settings gets a directory of its own.

    Raises:
        ValueError: one of them cannot be read, or there is no run to go on with.
    """
    if resume and is_run(Path(resume)):
        check_played_here(load_run(resume))
    if resume and file is None:
        changes = {key: value for key, value in keys.items() if key != "jobs"}
        return requested_config(load_run(resume), keys.get("jobs", 0), changes)
    config = load_config(file, {**keys, **({"out": resume} if resume else {})})
    is_of_a_run = file is not None and file.name == CONFIG and is_run(file.parent)
    return config.model_copy(update={"out": None}) if is_of_a_run and not (resume or "out" in keys) else config


def list_runs(home: Path = HOME) -> list[RunSummary]:
    """The runs below a directory, oldest first, or the run that it is itself; a warning tells of damaged ones."""
    runs = []
    for path in [home] if is_run(home) else [facts.parent for facts in home.glob(f"*/{FACTS}")]:
        try:
            runs.append(RunSummary(load_run(path), log.count_games(path), is_finished(path)))
        except (ValueError, OSError) as error:
            warnings.warn(f"{path} skipped: {error}", stacklevel=2)
    return sorted(runs, key=lambda run: (run.info.created_at, run.info.path.name))


def latest_run(home: Path = HOME) -> tuple[Path, tuple[Path, ...]]:
    """The run below a directory that was started last of those with games, and later ones that have none yet.

    Raises:
        ValueError: there is none.
    """
    try:
        runs = [load_run(facts.parent) for facts in home.glob(f"*/{FACTS}")]
    except ValueError as error:
        raise ValueError(f"cannot determine the latest run; name one: {error}") from None
    if not runs:
        raise ValueError(f"no run in {home}/: name one, or play one with isolation tournament")
    newest_first = [info.path for info in sorted(runs, key=lambda info: (info.created_at, info.path.name))][::-1]
    count = next((number for number, path in enumerate(newest_first) if has_games(path)), 0)
    return newest_first[count], tuple(newest_first[:count])


def has_games(path: Path) -> bool:
    """Whether the log of a run holds any game; of a damaged log, that it does, so that its reader names the damage."""
    try:
        return log.count_games(path) > 0
    except (ValueError, OSError):
        return True


def run_called(name: str | Path) -> Path:
    """The run of a path, or of a name below `HOME`: `t1` is `runs/t1` unless there is something else at `t1`."""
    path = Path(name)
    return HOME / path if not path.exists() and is_run(HOME / path) else path


def is_finished(path: Path) -> bool:
    """Whether a run came to its end: all games played, or its stop rule decided, and the log's parts merged."""
    return (path / END).exists()


def games_in(path: Path) -> str:
    """How many of its games a run has, such as 120 of 400 games; damaged logs are said to be so."""
    try:
        return f"{log.count_games(path):,} of {load_run(path).games:,} games"
    except (ValueError, OSError):
        return "its log is damaged"


def games_at_end(path: Path) -> int | None:
    """How many games were in the log of a run when it came to its end; None if it has not, or does not say.

    Raises:
        ValueError: `finished.json` is damaged.
    """
    try:
        return _GAMES.validate_python(read_json(path / END).get("games"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        why = str(error).partition("\n")[0]
        raise ValueError(f"{path / END}: cannot be read: {why}") from None


def missing_sentence(path: Path) -> str:
    """That games are missing from the log of a finished run, as after the loss of a part; empty if none are.

    Raises:
        ValueError: `finished.json` or a part of the log is damaged.
    """
    missing = (games_at_end(path) or 0) - log.count_games(path)
    if missing <= 0:
        return ""
    return (
        f"{missing:,} of the {games_at_end(path):,} games of {path} are missing from its log. Replay them with "
        f"{command('tournament', '--resume', path)}"
    )


def finish(path: Path, games: int, ended_by_clock: int, *, reproducible: bool) -> None:
    """Write down that a run has come to its end, and whether it can be had again move by move.

    `ended_by_clock` counts games that a time limit or the hard cap ended: with any, another machine may play others.
    """
    facts = {
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "games": games,
        "ended_by_clock": ended_by_clock,
        "reproducible": reproducible,
    }
    write_json(path / END, facts)


def reopen(path: Path) -> None:
    """Take back that a run has come to its end."""
    (path / END).unlink(missing_ok=True)


def planned_like(info: RunInfo, config: Config) -> Plan:
    """The plan of a configuration, by the rules by which the run was planned.

    Raises:
        ValueError: see `design.make_plan`.
    """
    return make_plan(config, info.seeds_by, info.pools_control)


def identity(config: Config) -> dict[str, Any]:
    """What makes two configurations the same run."""
    return {key: value for key, value in config.model_dump(mode="json").items() if key not in _FREE}


def check_resumable(info: RunInfo, requested: Config, plan: Plan) -> None:
    """Refuse to go on with a run of another configuration, or of code that has changed since.

    Raises:
        ValueError: and what differs.
    """
    asked = identity(requested)
    for key in asked:
        if asked[key] != info.requested.get(key):
            was, now = json.dumps(info.requested.get(key)), json.dumps(asked[key])
            raise ValueError(f"{info.path} is a run with {key} = {was}, not {now}: choose another --out")
    check_unchanged(info, plan)
    if plan.schedule.fingerprint != info.fingerprint:
        raise ValueError(f"{info.path}: the schedule has changed since the run began (was an opening file edited?)")


def check_unchanged(info: RunInfo, plan: Plan) -> None:
    """Refuse a plan in which an agent of the run has other code than when the run began.

    Raises:
        ValueError: naming the agent.
    """
    for entrant in plan.entrants:
        settings = info.agents.get(entrant.agent.name, {}).get("settings")
        if settings is not None and settings != entrant.settings:
            raise ValueError(
                f"{info.path}: the code of {entrant.agent.name} has changed since the run began: start a new run, or "
                f"restore {entrant.spec.target}"
            )


def _unused(path: Path) -> Path:
    """The path, with a number behind it if it is taken."""
    candidates = (path.with_name(f"{path.name}-{number}") if number > 1 else path for number in count(1))
    return next(candidate for candidate in candidates if not candidate.exists())
