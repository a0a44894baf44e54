"""Before the games: compile a task's agents in the workers of a pool, and measure what their search nodes cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from knights_isolation.isolation.rules.game import Cost
from knights_isolation.isolation.usercode.user_exceptions import format_exception

from .game_worker import GameWorker, Sharers, Task
from .interrupts import Interrupted
from .pool import TICK, Answered, Died, Failed, Pool

Costs = Mapping[str, Cost | str]
"""Costs of agents by name, or the reasons why they have none."""
Report = Callable[[Sequence[Sharers], dict[int, str]], None]
"""Called with the code that is being compiled, and why agents run interpreted, by their indices in the plan."""

_DIED = "its process died during compilation and checks"


def prepare(pool: Pool, task: Task, jobs: int, interrupted: Interrupted, report: Report) -> dict[int, str]:
    """Compile or load every agent, `jobs` at a time; return the reasons of those that run interpreted, by index.

    Code that kills its worker twice runs interpreted.

    Raises:
        ValueError: compiled code cannot be kept, or a user's file has changed since the plan was made.
    """
    reasons: dict[int, str] = {}
    left, deaths = list(task.sharers), Counter[Sharers]()
    out: dict[int, Sharers] = {}
    while (left or out) and not interrupted():
        while left and len(out) < jobs:
            sharers = left.pop(0)
            out[pool.call(GameWorker.compile_agents, sharers)] = sharers
        report(tuple(out.values()), reasons)
        for event in pool.finished(TICK):
            sharers = out.pop(event.number)
            match event:
                case Answered(value=interpreted):
                    reasons |= interpreted
                case Failed(error=error):
                    raise error
                case Died():
                    deaths[sharers] += 1
                    if deaths[sharers] == 1:
                        left.append(sharers)
                    elif deaths[sharers] == 2:
                        out[pool.call(GameWorker.refuse_to_compile, sharers, _DIED)] = sharers
    return dict(sorted(reasons.items()))


def measure_in(pool: Pool, names: Sequence[str], interrupted: Interrupted) -> Costs:
    """Measure the costs of these agents of the pool's task, relative to the first, in one of its workers.

    None once `interrupted`.
    """
    pool.call(GameWorker.measure_costs, tuple(names))
    while not interrupted():
        match pool.finished(TICK):
            case [Answered(value=costs)]:
                return dict(costs)
            case [Failed(error=error)]:
                return dict.fromkeys(names, format_exception(error))
            case [Died()]:
                return dict.fromkeys(names, "the process measuring the agents died")
    return {}
