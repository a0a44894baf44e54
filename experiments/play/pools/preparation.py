"""Compile a plan's agents and measure their costs in the workers that will play."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from knights_isolation.isolation.players.agents import code_hash
from knights_isolation.isolation.usercode.user_exceptions import format_exception

from .equal_cost_limits import Costs
from .game_worker import GameWorker
from .interrupts import Interrupted
from .pool import TICK, Answered, Died, Failed, Pool

if TYPE_CHECKING:
    from knights_isolation.isolation.players.agents import Agent

Sharers = tuple[int, ...]
"""Agents, by their indices in the plan, that share compiled code: two processes must not both compile it."""

_DIED = "its process died during compilation and checks"


@dataclass(frozen=True)
class Kit:
    """Code to compile for a plan: groups of agents that share code, and the agents' names."""

    sharers: tuple[Sharers, ...]
    names: tuple[str, ...]


def kit_of(agents: Sequence[Agent], settings: Sequence[str]) -> Kit:
    """Return the code to compile for some agents with their settings."""
    agents_by_code: dict[str, list[int]] = {}
    for index, (agent, text) in enumerate(zip(agents, settings, strict=True)):
        agents_by_code.setdefault(code_hash(agent.heuristic) if agent.heuristic else text, []).append(index)
    # The empty group stands for the loop that plays games of compiled agents.
    games = [()] if any(agent.is_compilable for agent in agents) else []
    return Kit((*games, *map(tuple, agents_by_code.values())), tuple(agent.name for agent in agents))


def kit_in(worker: GameWorker) -> Kit:
    """Return the code to compile for a worker's task."""
    return kit_of(worker.agents, worker.task.settings)


def prepare(
    pool: Pool, kit: Kit, jobs: int, interrupted: Interrupted, report: Callable[[str, dict[int, str]], None]
) -> dict[int, str]:
    """Compile or load every agent, `jobs` at a time; return the reasons of those that run interpreted, by index.

    `report` is called with the names of the agents in progress, and the reasons so far.

    Raises:
        ValueError: compiled code cannot be kept, or a user's file has changed since the plan was made.
    """
    interpreted: dict[int, str] = {}
    suspects = _compile(pool, kit, kit.sharers, jobs, interrupted, report, interpreted)
    for sharers in suspects:
        if _compile(pool, kit, [sharers], 1, interrupted, report, interpreted):
            interpreted |= _refuse(pool, sharers, interrupted)
    return dict(sorted(interpreted.items()))


def measure_in(pool: Pool, names: Sequence[str], interrupted: Interrupted) -> Costs:
    """Measure the costs of the agents of the pool's plan, relative to the first, in one of its workers.

    None once `interrupted`.
    """
    pool.call(GameWorker.measure_costs, tuple(names))
    while not interrupted():
        for event in pool.finished(TICK):
            match event:
                case Answered(_, costs):
                    return dict(costs)
                case Failed(error):
                    return dict.fromkeys(names, format_exception(error))
                case Died():
                    return dict.fromkeys(names, "the process measuring the agents died")
    return {}


def _compile(
    pool: Pool,
    kit: Kit,
    waiting: Sequence[Sharers],
    jobs: int,
    interrupted: Interrupted,
    report: Callable[[str, dict[int, str]], None],
    reasons: dict[int, str],
) -> list[Sharers]:
    """Compile agents, adding to `reasons`; return those that were being compiled when a worker died."""
    left, lost = list(waiting), []
    out: dict[int, Sharers] = {}
    while (left or out) and not interrupted():
        while left and len(out) < jobs:
            sharers = left.pop(0)
            out[pool.call(GameWorker.compile_agents, sharers)] = sharers
        report(_names(kit, out.values()), reasons)
        for event in pool.finished(TICK):
            match event:
                case Answered(call, interpreted):
                    del out[call]
                    reasons |= interpreted
                case Failed(error):
                    raise error
                case Died(calls=calls):
                    lost += [out.pop(call) for call in calls]
    return lost


def _names(kit: Kit, under_way: Iterable[Sharers]) -> str:
    return ", ".join(kit.names[sharers[0]] if sharers else "games" for sharers in under_way)


def _refuse(pool: Pool, sharers: Sharers, interrupted: Interrupted) -> dict[int, str]:
    pool.call(GameWorker.refuse_to_compile, sharers, _DIED)
    while pool.is_busy and not interrupted():
        for event in pool.finished(TICK):
            if isinstance(event, Failed):
                raise event.error
    return dict.fromkeys(sharers, _DIED)
