"""Compiles a plan's agents, and measures their speed, in the workers that will play."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TYPE_CHECKING

from joblib.externals.loky.process_executor import BrokenProcessPool

from experiments.design import Entrant, Plan
from experiments.play import worker
from experiments.play.pool import TICK, Pool
from isolation.agents import code_hash
from isolation.geometry import parse_size

if TYPE_CHECKING:
    from isolation.agents import Agent

Group = tuple[int, ...]
"""Agents, by their places in the plan, that share compiled code: two processes must not both compile it."""

Interrupted = Callable[[], bool]
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
    suspects = _compile(pool, plan, groups(plan), jobs, interrupted, report, found)
    for group in suspects:
        if _compile(pool, plan, [group], 1, interrupted, report, found):
            found |= _refuse(plan, group)
    return dict(sorted(found.items()))


def groups(plan: Plan) -> list[Group]:
    """The agents of a plan by the code they share; the empty group stands for what plays games of compiled agents."""
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
        future = pool.call(worker.measure_speed, agent.name)
        while not future.done():
            if interrupted():
                raise KeyboardInterrupt
            wait([future], TICK)
        try:
            return future.result()
        except BrokenProcessPool as death:
            pool.close()
            raise ValueError("its process died") from death

    return measure


def _code_of(entrant: Entrant) -> str:
    heuristic = entrant.agent.heuristic
    return code_hash(heuristic) if heuristic else entrant.settings


def _compile(
    pool: Pool,
    plan: Plan,
    waiting: Sequence[Group],
    jobs: int,
    interrupted: Interrupted,
    report: Callable[[str, dict[int, str]], None],
    found: dict[int, str],
) -> list[Group]:
    """Have groups compiled, adding to `found`; returns those that were under way when a worker died."""
    left, lost = list(waiting), []
    out: dict[Future[dict[int, str]], Group] = {}
    while (left or out) and not interrupted():
        while left and len(out) < jobs:
            group = left.pop(0)
            out[pool.call(worker.compile_agents, group)] = group
        report(_names(plan, out.values()), found)
        for future in wait(out, TICK, FIRST_COMPLETED).done:
            group = out.pop(future)
            try:
                found |= future.result()
            except BrokenProcessPool:
                lost.append(group)
        if lost and not out:
            pool.close()
    return lost


def _names(plan: Plan, under_way: Iterable[Group]) -> str:
    return ", ".join(plan.entrants[group[0]].agent.name if group else "games" for group in under_way)


def _refuse(plan: Plan, group: Group) -> dict[int, str]:
    """Let agents whose compiling kills its process run interpreted everywhere, from now on."""
    from isolation.compiling.compiler import refuse

    for place in group:
        if heuristic := plan.entrants[place].agent.heuristic:
            refuse(heuristic, parse_size(plan.schedule.size), _DIED)
    return dict.fromkeys(group, _DIED)
