"""What a worker process does: play a few games of the schedule and send them back as columns."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from experiments.play.crash import GAME, PID, Notes, open_notes
from experiments.play.parallel import end_with
from experiments.roster import make_agent, parse_spec, settings_text
from experiments.schedule import Ids, Schedule, groups
from isolation.geometry import parse_size
from isolation.outcome import Reason

if TYPE_CHECKING:
    from isolation.agents import Agent


MOST_COMPILED_CELLS = 128


@dataclass(frozen=True)
class Played:
    """Finished games as columns; the per-ply ones are flat, and game i has plies offsets[i] to offsets[i + 1].

    `started_us` is when the game's batch began, in microseconds since 1970 (UTC); `detail` has the games that need one.
    """

    ids: Ids
    winner: NDArray[np.int8]
    reason: NDArray[np.int8]
    detail: dict[int, str]
    started_us: NDArray[np.int64]
    offsets: NDArray[np.int64]
    moves: NDArray[np.int16]
    score: NDArray[np.float64]
    depth: NDArray[np.int16]
    nodes: NDArray[np.int64]
    time_us: NDArray[np.int64]
    exact: NDArray[np.bool_]


@dataclass(frozen=True)
class Task:
    """What a worker must know before it can play: the games, and the agents by spec and expected settings."""

    schedule: Schedule
    specs: tuple[str, ...]
    settings: tuple[str, ...]
    hard_cap: float | None


@dataclass(frozen=True)
class Batch:
    """A finished batch, and how many seconds a game of each match took in it."""

    played: Played
    matches: Ids
    seconds: NDArray[np.float64]


@dataclass
class _State:
    """What a worker keeps between batches."""

    task: Task
    agents: list[Agent]
    notes: Notes
    error: ValueError | None = None


_state: _State


def start(task: Task, notes: Path, slots: int, parent: int) -> None:
    """Make this process a worker: silent, deaf to Ctrl-C, gone when its parent is."""
    global _state
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _silence()
    threading.Thread(target=end_with, args=(parent,), daemon=True).start()
    _state = _State(task, [], open_notes(notes, slots))
    try:
        _state.agents = [_make_unchanged(*pair) for pair in zip(task.specs, task.settings, strict=True)]
    except ValueError as error:
        _state.error = error


def compile_agents(places: tuple[int, ...]) -> dict[int, str]:
    """Compile or load these agents, or for no place what plays games of compiled agents.

    Says of those that run interpreted why.

    Raises:
        ValueError: a user's file cannot be loaded any more or has changed, or compiled code cannot be kept.
    """
    if _state.error:
        raise _state.error
    size = parse_size(_state.task.schedule.size)
    try:
        if not places and is_compiled_size(size):
            from isolation.match import load_compiled_games

            load_compiled_games(size)
        agents = {place: _state.agents[place] for place in places}
        for agent in agents.values():
            agent.compiled(size)
        return {place: why for place, agent in agents.items() if (why := agent.why_interpreted(size))}
    except OSError as error:
        from isolation.compiling import library

        raise ValueError(f"{library.folder()}: cannot keep compiled code there: {error.strerror or error}") from error


def measure_speed(name: str) -> float:
    """Nodes per second of an agent of this worker.

    Raises:
        ValueError: a user's file cannot be loaded any more, or has changed.
        Exception: whatever the agent's code raises.
    """
    from isolation.speed import agent_nodes_per_second

    if _state.error:
        raise _state.error
    (agent,) = (agent for agent in _state.agents if agent.name == name)
    return agent_nodes_per_second(agent, _state.task.schedule.size)


def is_compiled_size(size: tuple[int, int]) -> bool:
    """Whether compiled code serves boards of (rows, columns)."""
    return size[0] * size[1] <= MOST_COMPILED_CELLS


def play_batch(ids: Ids, slot: int, interpreted: bool = False) -> Batch:
    """Play these games of the schedule, noting in `slot` of the shared notes which one is on.

    Raises:
        ValueError: a user's file cannot be loaded any more, or has changed since the run began.
    """
    if _state.error:
        raise _state.error
    note = _state.notes[slot]
    played, matches, seconds = [], [], []
    for place, group in enumerate(groups(_state.task.schedule, ids)):
        note[:] = (os.getpid(), place, 0, 0)
        began = time.time()
        played.append(_play_group(group, note[GAME:], interpreted))
        matches.append(_state.task.schedule.match_of(group[:1]))
        seconds.append((time.time() - began) / len(group))
    note[PID] = 0
    return Batch(joined(played), np.concatenate(matches), np.array(seconds))


def lost_by_error(schedule: Schedule, game_id: int, mover: int, detail: str) -> Played:
    """The record of a game that could not be played: lost by the player (1 or 2) who was to move."""
    (opening,) = schedule.openings(np.array([game_id]))
    plies = len(opening)
    return Played(
        ids=np.array([game_id]),
        winner=np.array([3 - mover], np.int8),
        reason=np.array([Reason.ERROR], np.int8),
        detail={0: detail},
        started_us=np.array([int(time.time() * 1e6)]),
        offsets=np.array([0, plies]),
        moves=np.array(opening, np.int16),
        score=np.full(plies, np.nan),
        depth=np.zeros(plies, np.int16),
        nodes=np.zeros(plies, np.int64),
        time_us=np.zeros(plies, np.int64),
        exact=np.zeros(plies, bool),
    )


def joined(parts: Sequence[Played]) -> Played:
    """Several sets of games as one."""
    starts = np.append(0, np.cumsum([len(part.ids) for part in parts]))
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    details = {
        int(start) + place: text
        for start, part in zip(starts, parts, strict=False)
        for place, text in part.detail.items()
    }
    columns = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts])
        for field in fields(Played)
        if field.name not in ("offsets", "detail")
    }
    return Played(**columns, offsets=np.append(0, lengths.cumsum()), detail=details)


def _play_group(ids: Ids, note: NDArray[np.int64], interpreted: bool) -> Played:
    """Play games of the same two agents on the same sides."""
    from isolation.match import play_games

    schedule = _state.task.schedule
    first, second = schedule.players(ids[:1])[0]
    now = int(time.time() * 1e6)
    games = play_games(
        _state.agents[first],
        _state.agents[second],
        schedule.openings(ids),
        schedule.seeds(ids).tolist(),
        size=schedule.size,
        hard_cap=_state.task.hard_cap,
        note=note,
        interpreted=interpreted,
    )
    return Played(
        ids=ids,
        winner=games.winner,
        reason=games.reason,
        detail={place: text for place, text in enumerate(games.detail) if text},
        started_us=np.full(len(ids), now),
        offsets=games.offsets,
        moves=games.moves,
        score=games.score,
        depth=games.depth,
        nodes=games.nodes,
        time_us=games.time_us,
        exact=games.exact,
    )


def _make_unchanged(text: str, settings: str) -> Agent:
    spec = parse_spec(text)
    agent = make_agent(spec)
    if settings_text(spec, agent) != settings:
        raise ValueError(f"the code of {agent.name} has changed since the run began")
    return agent


def _silence() -> None:
    """Send what agents print nowhere: the terminal belongs to the parent's display."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)
