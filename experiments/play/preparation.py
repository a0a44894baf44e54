"""Compiles a plan's agents, and measures their speed, in the workers that will play."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from experiments.design import Entrant, Plan
from experiments.play.interrupts import Interrupted
from experiments.play.pool import TICK, Answered, Died, Failed, Pool
from experiments.play.worker import Worker
from isolation.agents import code_hash
from isolation.geometry import parse_size

if TYPE_CHECKING:
    from isolation.agents import Agent

Sharers = tuple[int, ...]
"""Agents, by their places in the plan, that share compiled code: two processes must not both compile it."""

_DIED = "its process died while it was compiled and checked"


def prepare(
    pool: Pool, plan: Plan, jobs: int, interrupted: Interrupted, report: Callable[[str, dict[int, str]], None]
) -> dict[int, str]:
    """Compile or load every agent, `jobs` at a time; says of those that run interpreted why, by place.

    `report` is told the names of what is being prepared, and what has been found so far.

    Raises:
        ValueError: compiled code cannot be kept, or a user's file has changed since the plan was made.
    """
    found: dict[int, str] = {}
    suspects = _compile(pool, plan, sharing_code(plan), jobs, interrupted, report, found)
    for sharers in suspects:
        if _compile(pool, plan, [sharers], 1, interrupted, report, found):
            found |= _refuse(plan, sharers)
    return dict(sorted(found.items()))


def sharing_code(plan: Plan) -> list[Sharers]:
    """The agents of a plan by the code they share; no agents stand for what plays games of compiled agents."""
    found: dict[str, list[int]] = {}
    for place, entrant in enumerate(plan.entrants):
        found.setdefault(_code_of(entrant), []).append(place)
    games = [()] if any(entrant.agent.is_compilable for entrant in plan.entrants) else []
    return [*games, *(tuple(places) for places in found.values())]


def measure_in(pool: Pool, interrupted: Interrupted, tell: Callable[[str], None]) -> Callable[[Agent, str], float]:
    """What measures nodes per second of an agent of the pool's plan, in one of its workers.

    It raises KeyboardInterrupt once `interrupted`, and ValueError if the agent's process dies.
    """

    def measure(agent: Agent, size: str) -> float:
        tell(agent.name)
        pool.call(Worker.measure_speed, agent.name)
        while not interrupted():
            for event in pool.finished(TICK):
                match event:
                    case Answered(_, speed):
                        return float(speed)
                    case Failed(error):
                        raise error
                    case Died():
                        raise ValueError("its process died")
        raise KeyboardInterrupt

    return measure


def _code_of(entrant: Entrant) -> str:
    heuristic = entrant.agent.heuristic
    return code_hash(heuristic) if heuristic else entrant.settings


def _compile(
    pool: Pool,
    plan: Plan,
    waiting: Sequence[Sharers],
    jobs: int,
    interrupted: Interrupted,
    report: Callable[[str, dict[int, str]], None],
    found: dict[int, str],
) -> list[Sharers]:
    """Have agents compiled, adding to `found`; returns those that were under way when a worker died."""
    left, lost = list(waiting), []
    out: dict[int, Sharers] = {}
    while (left or out) and not interrupted():
        while left and len(out) < jobs:
            sharers = left.pop(0)
            out[pool.call(Worker.compile_agents, sharers)] = sharers
        report(_names(plan, out.values()), found)
        for event in pool.finished(TICK):
            match event:
                case Answered(call, interpreted):
                    del out[call]
                    found |= interpreted
                case Failed(error):
                    raise error
                case Died(calls=calls):
                    lost += [out.pop(call) for call in calls]
    return lost


def _names(plan: Plan, under_way: Iterable[Sharers]) -> str:
    return ", ".join(plan.entrants[sharers[0]].agent.name if sharers else "games" for sharers in under_way)


def _refuse(plan: Plan, sharers: Sharers) -> dict[int, str]:
    """Let agents whose compiling kills its process run interpreted everywhere, from now on."""
    from isolation.compiling.compiler import refuse

    for place in sharers:
        if heuristic := plan.entrants[place].agent.heuristic:
            refuse(heuristic, parse_size(plan.schedule.size), _DIED)
    return dict.fromkeys(sharers, _DIED)
