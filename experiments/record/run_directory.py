"""Run directories: find, read and list runs.

`config.toml` is the configuration, with every agent in full; `run.json` has facts about the planned run; `games/` is
the log; `finished.json` is written when the run is complete; `lock` excludes a second writer; `engines/` has the
standard error of engines and their search information, if any play; `functions/` has the source of agents that were
given as functions; a league's also has `league.json` and, in `submitted/`, copies of the submissions that it plays.
`plan.run_keeping` writes them.

Functions raise ValueError if a file is damaged.
"""

from __future__ import annotations

import os
import warnings
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from knights_isolation.isolation.rules.game import parse_size
from knights_isolation.isolation.suggestions import advice, command, did_you_mean, tell

from . import log
from .checked_json import read_json
from .schema import RunInfo, lifted, read_settings

HOME = Path("runs")
CONFIG = "config.toml"
FACTS = "run.json"
END = "finished.json"
ENGINES = "engines"
LABELS_FILE = "labels.parquet"
LEAGUE = "league.json"
LOCK = "lock"
SUBMITTED = "submitted"
TRIES = "tries.jsonl"
TRIES_SETTING = "ISOLATION_TRIES"

State = Literal["running", "stopped", "finished"]

_INFO = TypeAdapter(RunInfo)
_SEED = TypeAdapter(int)
_GAMES: TypeAdapter[int | None] = TypeAdapter(int | None)


def keeps_tries() -> bool:
    """Return whether looks at comparisons are logged in `HOME`, as `tries` does."""
    return os.environ.get(TRIES_SETTING, "").lower() not in ("off", "0", "no")


def lock_file(run: Path) -> tuple[int, int] | None:
    """Return device and inode of a run's lock file, to identify the run whatever its path; None if there is none."""
    try:
        status = (run / LOCK).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


@dataclass(frozen=True)
class RunSummary:
    """Summary of a run in one line: how many of its games are in the log, and whether it is complete."""

    info: RunInfo
    played: int
    finished: bool


def is_run(path: Path) -> bool:
    """Return whether a path is a run directory."""
    return (path / FACTS).exists()


def check_run(path: Path) -> Path:
    """Return the path if it has a log; otherwise raise a ValueError."""
    log.existing_folder(path)
    return path


def load_run(path: str | Path) -> RunInfo:
    """Read the facts about a run; ValueError if there is none, or its `run.json` is damaged."""
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


def runs_in(home: Path) -> list[Path]:
    """Return the directories of the runs below a directory, or the run that it is itself."""
    return [home] if is_run(home) else [facts.parent for facts in home.glob(f"*/{FACTS}")]


def state_of(path: Path) -> State:
    """Return whether a run is being played on this machine, has stopped before its end, or has all of its games."""
    if is_finished(path):
        return "finished"
    if is_played_now(path):
        return "running"
    with suppress(ValueError, OSError):
        return "finished" if log.count_games(path) >= load_run(path).games else "stopped"
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

    If no run has games, it is the last one, provided that it is played now. Raises ValueError if there is none.
    """
    try:
        runs = [load_run(facts.parent) for facts in home.glob(f"*/{FACTS}")]
    except ValueError as error:
        raise ValueError(f"cannot determine the latest run; name one: {error}") from None
    if not runs:
        playing = advice("isolation tournament", "ki.tournament()")
        raise ValueError(f"no run in {home}/: name one, or play one with {playing}")
    newest_first = sorted(runs, key=lambda info: (info.created_at, info.path.name), reverse=True)
    without = [str(info.path) for info in takewhile(lambda info: _games_in(info.path) == 0, newest_first)]
    is_empty = len(without) == len(newest_first)
    info = newest_first[0 if is_empty else len(without)]
    latest, games = info.path, _games_in(info.path)
    if is_empty and not is_played_now(latest):
        raise ValueError(f"no run in {home}/ has games: name one, or play {latest} with {resume_advice(latest)}")
    count = "its log is damaged" if games is None else f"{games:,} of {info.games:,} games"
    state = "" if is_finished(latest) else f", which is not finished ({count})"
    skipped = f"; no games yet in {', '.join(without)}" if without and not is_empty else ""
    kind = "the latest" if is_empty else "the latest with games"
    tell(f"No run named: using {kind}, {latest}{state}{skipped}.")
    return latest


def _games_in(path: Path) -> int | None:
    """Return the number of games in the log of a run; None if it is damaged, as reading it will report."""
    with suppress(ValueError, OSError):
        return log.count_games(path)
    return None


def run_called(name: str | Path) -> Path:
    """Return the run with a path, or with a name below `HOME`: `t1` is `runs/t1` unless `t1` itself exists."""
    path = Path(name)
    return HOME / path if not path.exists() and is_run(HOME / path) else path


def is_finished(path: Path) -> bool:
    """Return whether a run is complete: all games played, or its stop rule decided, and the log's parts merged."""
    return (path / END).exists()


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
    games = games_at_end(path) or 0
    missing = games - log.count_games(path)
    if missing <= 0:
        return ""
    where = f"{missing:,} of the {games:,} games of {path} are missing from its log"
    return f"{where}. Replay them with {resume_advice(path)}"
