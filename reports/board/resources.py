"""Runs, heuristics and agents that the analysis board offers."""

from __future__ import annotations

import re
from collections import UserDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knights_isolation import heuristics
from knights_isolation.experiments.exact.labels import has_labels
from knights_isolation.experiments.exchange.queries import find_games, with_mistakes
from knights_isolation.experiments.record.run_directory import FACTS, runs_in
from knights_isolation.isolation.files.received import strange_entry
from knights_isolation.isolation.processes.child import from_bytes, one_line, to_bytes
from knights_isolation.isolation.suggestions import command

from ..replay import as_json, replay_of_run
from .request_models import GameQuestion, GamesQuestion

if TYPE_CHECKING:
    from knights_isolation.isolation.search.agents import Agent

MOST_GAMES = 200
_SHOWN = ("game_id", "agent_1", "agent_2", "winner", "reason", "plies")

Heuristic = Callable[[Any, Any], float]


@dataclass(frozen=True)
class Resources:
    """Resources that the pages can choose from, by name.

    `runs` are offered besides those that are in the folder `home` at the time; `heuristics` and `agents` are those
    added to the toolkit's own.
    """

    runs: tuple[Path, ...] = ()
    heuristics: Mapping[str, Heuristic] = field(default_factory=dict)
    agents: Mapping[str, Agent] = field(default_factory=dict)
    home: Path | None = None

    def named_runs(self) -> dict[str, Path]:
        """Return the runs by name, the latest first; of runs with the same name, the second is called NAME~2.

        Those that contain links, pipes or devices are left out, as nothing in them may be opened; see `strange_runs`.
        """
        found, strange = [*self.runs, *(runs_in(self.home) if self.home else ())], self.strange_runs()
        named: dict[str, Path] = {}
        for run in sorted((run for run in dict.fromkeys(found) if run not in strange), key=_begun, reverse=True):
            name = run.resolve().name
            numbered = (f"{name}~{number}" for number in count(2))
            named[next(key for key in chain([name], numbered) if key not in named)] = run
        return named

    def strange_runs(self) -> dict[Path, str]:
        """Return the runs that may not be opened, each with the entry that is a link, a pipe or a device."""
        strange = {run: strange_entry(run) for run in self.runs}
        for run in runs_in(self.home) if self.home else ():
            strange[run] = run.name if run != self.home and run.is_symlink() else strange_entry(run)
        return {run: entry for run, entry in strange.items() if entry}

    def heuristic(self, name: str) -> Heuristic:
        """Return a heuristic that was added, or one of the registry; the ValueError for an unknown one lists all."""
        known = [*heuristics.names(), *self.heuristics]
        if name not in known:
            raise ValueError(f"no heuristic {name!r}; choose one of {', '.join(known)}")
        return self.heuristics[name] if name in self.heuristics else heuristics.get(name)


def packed(shelf: Resources) -> Resources:
    """Return the shelf for another process: added objects are pickled, and restored there on demand.

    Raises:
        ValueError: an added object depends on this process, for example through an open file.
    """
    added = _Packed(_bytes_of(shelf.heuristics)), _Packed(_bytes_of(shelf.agents))
    return Resources(shelf.runs, *added, home=shelf.home)


class _Packed(UserDict[str, Any]):
    """Values by name, each restored on demand: one whose file has changed does not block the others."""

    def __getitem__(self, name: str) -> Any:
        value = self.data[name]
        if isinstance(value, bytes):
            try:
                value = self.data[name] = from_bytes(value)
            except Exception as error:
                raise ValueError(f"{name}: {one_line(error)}; restart the board to use it") from None
        return value


def _bytes_of(values: Mapping[str, object]) -> dict[str, bytes]:
    data = {}
    for name, value in values.items():
        try:
            data[name] = to_bytes(value)
        except Exception as error:
            raise ValueError(
                f"the board cannot use {name}, because it cannot run in another process: {one_line(error)}"
            ) from None
    return data


def games(question: GamesQuestion, shelf: Resources) -> dict[str, Any]:
    """Return the first games of a run by kind and agent (default: all), their total number, and all agents.

    `advice` explains how to get the games' mistakes counted, if that has not been done.
    """
    run = run_of(shelf, question.run)
    found = find_games(run, question.kind)  # type: ignore[arg-type]
    agents = sorted({*found["agent_1"].astype(str), *found["agent_2"].astype(str)})
    if agent := question.agent:
        found = found[(found["agent_1"].astype(str) == agent) | (found["agent_2"].astype(str) == agent)]
    rows = with_mistakes(run, found.head(MOST_GAMES), _SHOWN)
    advice = "" if has_labels(run) else command("perfect", "label", run)
    return {"agents": agents, "total": len(found), "games": rows, "advice": advice}


def game(question: GameQuestion, shelf: Resources) -> dict[str, Any]:
    """Return a game of a run with all its data."""
    return as_json(replay_of_run(run_of(shelf, question.run), number_of(question.game)))


def number_of(text: str) -> int:
    """Parse the number of a game in a request.

    Raises:
        ValueError: it is not a number.
    """
    if not re.fullmatch("[0-9]{1,18}", text):
        raise ValueError("game ids must be whole numbers of at most 18 digits")
    return int(text)


def run_of(shelf: Resources, name: str) -> Path:
    """Return the run with a requested name.

    Raises:
        ValueError: there is none.
    """
    runs = shelf.named_runs()
    if name not in runs:
        raise ValueError(f"no run {name!r} among the {len(runs)} here")
    return runs[name]


def _begun(run: Path) -> float:
    """Return when a run was planned, in seconds; a run that has not begun is the latest."""
    try:
        return (run / FACTS).stat().st_mtime
    except OSError:
        return float("inf")
