"""Worker: play batches of a schedule, and mark the game that is being played, in case it is fatal."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.compiling import code_cache
from knights_isolation.isolation.games.match import GameBatch, load_compiled_games, play_games, play_many
from knights_isolation.isolation.loading.integrity import ChangedError, unchanged
from knights_isolation.isolation.processes.subprocess_player import patience
from knights_isolation.isolation.rules.game import MOST_COMPILED_CELLS
from knights_isolation.isolation.search.agents import Agent, RandomAgent, code_hash

from ...plan import make_agent, parse_spec, settings_text, with_program
from ...plan.schedule import Ids, Schedule
from ..finished_games import FinishedGames

if TYPE_CHECKING:
    from knights_isolation.isolation.engines.protocol import Program
    from knights_isolation.isolation.native.workspaces import MoveCache
    from knights_isolation.isolation.rules.game import Cost

    from ...plan.tournament_plan import Plan

GAME, MOVER, PLY, COMPILED = range(4)
"""Fields of a worker's marker: game id, side to move (0, 1), ply, and whether compiled code plays."""
MARKER = 4
"""Number of fields."""

_PLY_US = 2
"""Microseconds per ply besides thinking."""


Sharers = tuple[int, ...]
"""Agents, by their indices in the plan, that share compiled code: two processes must not both compile it."""


@dataclass(frozen=True)
class Task:
    """Everything a worker needs to play: the games, and the agents by spec and expected settings.

    `sharers` has the code to compile; in front an empty group for the loop that plays games of compiled agents, if
    there may be any. `users` are the agents that run code that does not ship with the toolkit. `patience` has, for
    each agent, the seconds without a sign of life after which its worker is killed. `programs` are the engines by name,
    and `errors` is the folder for their standard error, if there is one.
    """

    schedule: Schedule
    specs: tuple[str, ...]
    settings: tuple[str, ...]
    hard_cap: float | None
    patience: tuple[float, ...]
    sharers: tuple[Sharers, ...]
    users: frozenset[int]
    programs: tuple[tuple[str, Program], ...] = ()
    errors: str = ""


def task_of(plan: Plan, errors: str = "") -> Task:
    """Make the task of a plan."""
    cap, agents = plan.config.hard_cap, [entrant.agent for entrant in plan.entrants]
    return Task(
        schedule=plan.schedule,
        specs=tuple(str(entrant.spec) for entrant in plan.entrants),
        settings=tuple(entrant.settings for entrant in plan.entrants),
        hard_cap=math.inf if cap == 0 else cap,
        patience=tuple(math.inf if cap == 0 else patience(agent) for agent in agents),
        sharers=_sharers(plan),
        users=frozenset(index for index, agent in enumerate(agents) if agent.is_user_code),
        programs=tuple(plan.config.programs.items()),
        errors=errors,
    )


def _sharers(plan: Plan) -> tuple[Sharers, ...]:
    by_code: dict[str, list[int]] = {}
    for index, entrant in enumerate(plan.entrants):
        heuristic = entrant.agent.heuristic
        by_code.setdefault(code_hash(heuristic) if heuristic else entrant.settings, []).append(index)
    loop = [()] if any(entrant.agent.is_compilable for entrant in plan.entrants) else []
    return (*loop, *map(tuple, by_code.values()))


@dataclass(frozen=True)
class PlayedBatch:
    """A finished batch, and the mean duration of a game by match."""

    played: FinishedGames
    matches: Ids
    seconds: NDArray[np.float64]


class GameWorker:
    """Plays games of one task. It holds the task's agents and what they have answered, and belongs to one thread."""

    def __init__(self, task: Task, marker: NDArray[np.int64] | None = None) -> None:
        """Make the agents.

        Args:
            marker: int64[4], updated to the current game; see `GAME`.

        Raises:
            ValueError: a user's file cannot be loaded any more, or has changed since the run began.
        """
        self.task = task
        self.agents = [_make_unchanged(*pair, task) for pair in zip(task.specs, task.settings, strict=True)]
        self._marker = np.zeros(MARKER, np.int64) if marker is None else marker
        self._memory: MoveCache | None = None

    def compile_agents(self, agent_indices: Sequence[int]) -> dict[int, str]:
        """Compile or load these agents; an empty sequence means the loop that plays games of compiled agents.

        Return the reasons of those that run interpreted.

        Raises:
            ValueError: compiled code cannot be kept.
        """
        size = self.task.schedule.size
        try:
            if not agent_indices and size.cells <= MOST_COMPILED_CELLS:
                load_compiled_games(size)
            agents = {index: self.agents[index] for index in agent_indices}
            for agent in agents.values():
                agent.compiled(size)
            return {index: why for index, agent in agents.items() if (why := agent.why_interpreted(size))}
        except OSError as error:
            raise ValueError(
                f"{code_cache.folder()}: cannot keep compiled code there: {error.strerror or error}"
            ) from error

    def refuse_to_compile(self, agent_indices: Sequence[int], why: str) -> dict[int, str]:
        """Let these agents run interpreted from now on, in every process of this machine: compiling them is harmful.

        Return the reasons, as `compile_agents` does.
        """
        from knights_isolation.isolation.compiling.compile_heuristic import mark_uncompilable

        for index in agent_indices:
            if heuristic := self.agents[index].heuristic:
                mark_uncompilable(heuristic, self.task.schedule.size, why)
        return dict.fromkeys(agent_indices, why)

    def measure_costs(self, names: Sequence[str]) -> dict[str, Cost | str]:
        """Measure the costs of these agents relative to the first; see `measure_costs`.

        User code that does not compile is not run in this process, and not measured.
        """
        from knights_isolation.isolation.checks.search_cost import measure_costs

        size = self.task.schedule.size
        by_name = {agent.name: agent for agent in self.agents}
        ours = [name for name in names if not by_name[name].is_user_code or by_name[name].compiled(size)]
        with _checked([by_name[name] for name in ours]):
            costs = measure_costs([by_name[name] for name in ours], size)
        return dict.fromkeys(names, "user code that does not compile") | dict(zip(ours, costs, strict=True))

    def play_batch(self, ids: Ids, interpreted: bool = False) -> PlayedBatch:
        """Play these games of the schedule, all in the interpreted loop if `interpreted`."""
        from knights_isolation.isolation.native.workspaces import MoveCache

        schedule = self.task.schedule
        self._memory = self._memory or MoveCache()
        self._marker[:] = (ids[0], 0, 0, 0)
        now, began = int(time.time() * 1e6), time.monotonic()
        with _checked(self.agents):
            games = play_many(
                self.agents,
                schedule.players(ids),
                schedule.openings(ids),
                schedule.seeds(ids).tolist(),
                schedule.size,
                self.task.hard_cap,
                marks=ids,
                marker=self._marker,
                memory=self._memory,
                interpreted=interpreted,
            )
        seconds = _shares(games, time.monotonic() - began)
        matches, match_indices = np.unique(schedule.match_of(ids), return_inverse=True)
        means = np.bincount(match_indices, seconds) / np.bincount(match_indices)
        return PlayedBatch(FinishedGames(ids, games, np.full(len(ids), now)), matches, means)

    def play_one_of_ours(self, game_id: int, player: int) -> None:
        """Let the player (1 or 2) of a game play the random player from its opening, to test whether that is fatal."""
        schedule, ids = self.task.schedule, np.array([game_id])
        sides: list[Agent] = [self.agents[index] for index in schedule.players(ids)[0]]
        sides[2 - player] = RandomAgent()
        seeds = schedule.seeds(ids).tolist()
        play_games(
            sides[0], sides[1], schedule.openings(ids), seeds, schedule.size, self.task.hard_cap, interpreted=True
        )


@contextmanager
def _checked(agents: Sequence[Agent]) -> Iterator[None]:
    """Check that heuristics from files, which this process has loaded, change nothing outside their own modules."""
    # Raises ValueError if some of them do; the message names all of them.
    names = [agent.name for agent in agents if agent.is_user_code and agent.heuristic]
    try:
        with unchanged() if names else nullcontext():
            yield
    except ChangedError as error:
        whose = "its file" if len(names) == 1 else "the file of one of them"
        raise ValueError(f"{', '.join(names)}: {whose} may not play here: {error}") from None


def _shares(games: GameBatch, seconds: float) -> NDArray[np.float64]:
    """Distribute a batch's duration over its games: by their plies' own times, plus a constant for each ply."""
    # A game that was lost before its first ply counts as one ply.
    sums = np.append(0, np.cumsum(games.time_us + _PLY_US))
    weights = np.maximum(np.diff(sums[games.offsets]), _PLY_US)
    shares: NDArray[np.float64] = weights * (seconds / weights.sum())
    return shares


def _make_unchanged(text: str, settings: str, task: Task) -> Agent:
    spec = with_program(parse_spec(text), dict(task.programs))
    agent = make_agent(spec)
    if settings_text(spec, agent) != settings:
        raise ValueError(f"the code of {agent.name} has changed since the run began")
    return agent.keeping_errors(Path(task.errors)) if task.errors else agent
