"""Interface of pools, methods in, events out; compile a plan's agents and measure their costs in a pool.

`loky_pool` is the implementation for the processors of one machine, `cluster.dispatcher` that for several machines, and
`HerePool` that for a process which may start no others, or needs none.

Equal-cost limits are node limits at which every contender takes as much time as the baseline. ValueError is raised if
there is no baseline, or if an agent to be scaled is not limited by nodes or its code fails.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.checks.search_cost import measure_costs
from knights_isolation.isolation.players.agents import code_hash
from knights_isolation.isolation.rules.limits import Cost, Limit
from knights_isolation.isolation.usercode.user_exceptions import format_exception

from ...plan.schedule import Ids, Schedule, checkpoints, pair_points
from ...plan.tournament_plan import Entrant, Plan, make_plan
from ...roster import Spec, make_agent
from .game_worker import GameWorker, PlayedBatch, Suspect, Task
from .interrupts import Interrupted

if TYPE_CHECKING:
    from knights_isolation.isolation.players.agents import Agent

Stop = Callable[[NDArray[np.int8]], Collection[int]]
"""Stop rule: maps the pair points of the completed rounds, [round, match], to the decided matches.

It must depend on nothing else; see `schedule.pair_points`.
"""

LONGEST_BATCH = 0.7
SHORTEST_BATCH = 0.05
FIRST_GUESS = 0.2
_WINDOW = 1 << 13


@dataclass(frozen=True)
class BatchPace:
    """Batch sizes: `workers` share the remaining games, and a batch takes this many seconds on one core.

    Attributes:
        first: seconds of a batch while the duration of a game is unknown.
        shortest, longest: seconds of any other batch; towards the end batches become shorter.
    """

    workers: int
    first: float = field(default_factory=lambda: LONGEST_BATCH)
    shortest: float = field(default_factory=lambda: SHORTEST_BATCH)
    longest: float = field(default_factory=lambda: LONGEST_BATCH)


class BatchFeed:
    """Games still to be played. Each game is handed out once; `give_back` returns one that was not played.

    A stop rule is evaluated at fixed checkpoints of the schedule, about every eighth of what has been played, once all
    rounds before the checkpoint are complete. A decision at one checkpoint takes effect at the next, and no game beyond
    that next one is handed out before. So the games that are played depend on results alone, never on timing, and
    workers need not wait for one another.

    `pace` sets the batch sizes and may be changed at any time; `seconds` has the duration of a game by match, as far as
    it is known.
    """

    def __init__(self, schedule: Schedule, points: NDArray[np.int8], jobs: int, stop: Stop | None = None) -> None:
        self.schedule = schedule
        self.points = points
        self.pace = BatchPace(jobs)
        self.stop = stop
        self.ends = schedule.pairs.copy()
        self._checkpoints = checkpoints(schedule.rounds) if stop else iter([schedule.rounds])
        self._decided = 0
        self._next = next(self._checkpoints)
        self._frontier = next(self._checkpoints, schedule.rounds)
        self._cursor = 0
        self._returned: list[int] = []
        self.seconds = np.full(len(schedule.matches), np.nan)

    @property
    def total(self) -> int:
        """Number of games of the run, as far as known: the stop rule may end matches early."""
        return 2 * int(self.ends.sum())

    @property
    def missing(self) -> int:
        """Number of games without a result."""
        return self.total - int(np.count_nonzero(self.points >= 0))

    def learn(self, matches: Ids, seconds: NDArray[np.float64]) -> None:
        """Update the durations of games of these matches."""
        known = np.where(np.isnan(self.seconds[matches]), seconds, self.seconds[matches])
        self.seconds[matches] = (known + seconds) / 2

    def give_back(self, ids: Iterable[int]) -> None:
        """Return games to the feed; they are handed out before all others."""
        self._returned = sorted({*self._returned, *(int(id_) for id_ in ids)})

    def take(self) -> Ids:
        """Return the next games for one worker; empty if there is nothing to do until more results arrive."""
        self._advance()
        ids = np.array(self._returned, np.int64) if self._returned else self._ahead()
        if not len(ids):
            return ids
        costs = self._costs(self.schedule.match_of(ids)).cumsum()
        share = self.missing * float(costs[-1]) / len(ids) / (4 * self.pace.workers)
        longest = self.pace.first if np.isnan(self.seconds).all() else self.pace.longest
        batch = ids[: 1 + np.searchsorted(costs, min(longest, max(self.pace.shortest, share)))]
        if self._returned:
            self._returned = self._returned[len(batch) :]
        else:
            self._cursor = int(batch[-1]) + 1
        return batch

    def _ahead(self) -> Ids:
        last = self._frontier * len(self.schedule.matches) * 2
        while self._cursor < last:
            ids = np.arange(self._cursor, min(self._cursor + _WINDOW, last))
            in_play = self.schedule.round_of(ids) < self.ends[self.schedule.match_of(ids)]
            ids_ahead = ids[in_play & (self.points.reshape(-1)[ids] < 0)]
            if len(ids_ahead):
                return ids_ahead
            self._cursor = int(ids[-1]) + 1
        return np.empty(0, np.int64)

    def _costs(self, matches: Ids) -> NDArray[np.float64]:
        known = self.seconds[~np.isnan(self.seconds)]
        guess = known.mean() if len(known) else FIRST_GUESS
        return np.where(np.isnan(self.seconds), guess, self.seconds)[matches]

    def _advance(self) -> None:
        while self.stop and self._decided < self._next and self._is_complete(self._decided, self._next):
            decided = self.stop(pair_points(self.points[: self._next]))
            for match in decided:
                self.ends[match] = min(self.ends[match], self._frontier)
            self._decided, self._next = self._next, self._frontier
            self._frontier = next(self._checkpoints, self.schedule.rounds)

    def _is_complete(self, first: int, last: int) -> bool:
        rounds = np.arange(first, last)[:, None]
        return bool(((self.points[first:last] >= 0).all(axis=2) | (rounds >= self.ends)).all())


TICK = 0.1
"""Seconds that callers wait for workers before they do other work."""


@dataclass(frozen=True)
class Finished:
    """A batch has been played."""

    batch: PlayedBatch


@dataclass(frozen=True)
class Answered:
    """A call has returned `value`; `call` is its number from `Pool.call`."""

    call: int
    value: Any


@dataclass(frozen=True)
class Failed:
    """A batch, or the call of that number, has raised an exception."""

    error: BaseException
    call: int | None


@dataclass(frozen=True)
class Died:
    """One or more workers have died.

    Attributes:
        lost: ids of all unfinished games that will not be returned.
        suspects: games of the workers that died by themselves, each of which may be the cause. None if they were not
            playing, or if it is unknown.
        calls: numbers of the calls that will not return.
        how: how the workers ended, such as SIGKILL(-9), as far as known.
    """

    lost: tuple[int, ...]
    suspects: tuple[Suspect, ...]
    calls: tuple[int, ...]
    how: str = field(default="", compare=False)


Event = Finished | Answered | Failed | Died


@dataclass(frozen=True)
class Machine:
    """A machine that plays: name, cores, processor model, games per second, unfinished batches."""

    name: str
    cores: int
    processor: str
    rate: float
    out: int


@dataclass(frozen=True)
class Fleet:
    """Machines of a pool that spans several.

    Attributes:
        machines: those that play now.
        pace: batch sizes for them.
        notes: messages for the user: which machines were excluded and why, and other remarks.
        interpreted: reasons why agents run interpreted on any machine, by their indices in the plan.
    """

    machines: tuple[Machine, ...]
    pace: BatchPace
    notes: tuple[str, ...] = ()
    interpreted: Mapping[int, str] = field(default_factory=dict)


class UnreachableError(ConnectionError):
    """The workers of a pool cannot be reached any more; their unfinished games must be played again."""


class Pool(ABC):
    """Workers that play batches of a task, and make calls. The caller decides on retries, blame and giving up.

    For implementers:

    **Threads and ownership.** One thread makes a pool, calls it and closes it, and no method is called while another
    runs. Threads of an implementation stay internal. The ids passed to `submit` belong to the pool from then on; what
    `finished` returns belongs to the caller. `submit`, `call`, and `finished` with a timeout of zero return at once,
    without waiting for a worker.

    **Workers.** Each has a `game_worker.GameWorker` made of its current task, and does one batch or call at a time.
    Without a task, before the first `assign`, they make calls only.
    Output of agents is discarded, Ctrl-C reaches the caller only, and no worker outlives the process that made the
    pool, even if that is killed. What `GameWorker.compile_agents` has compiled is available wherever batches of the
    same task are played; a pool that spans machines ensures that on each of them, before its first batch.

    **Order.** Batches return in any order. Everything that was submitted or called appears in exactly one event: it is
    finished, answered or failed, or it is lost by a death. In each list that `finished` returns, results precede
    failures, and failures precede deaths.

    **Death.** A worker's death, whether noticed while submitting, calling or waiting, is reported by `finished` only.
    `submit` and `call` never raise because of it, only ValueError if no worker can be started; what they were to send
    is then among what is lost. Suspects are the games of the workers that died by themselves, not of those the pool
    ended because of it, as far as that can be known; otherwise all games that were being played. After a death the pool
    can be used further, and unfinished work that is not lost stays unfinished. Losses that say nothing about the games,
    as of a machine or a network, need not be reported: the pool may send such a batch elsewhere. It must not do so with
    a game that may have killed a worker.

    **Persistence.** Only returned results persist. A pool may outlive a run: `assign` gives it another task, and
    processes and the code they have loaded are kept.
    """

    @abstractmethod
    def assign(self, task: Task) -> None:
        """Work on this task from now on; unfinished work of an earlier one is dropped and appears in no event."""

    @property
    @abstractmethod
    def has_room(self) -> bool:
        """Return whether to submit another batch, so that no worker waits for the caller. It may change any time."""

    @property
    def calls_at_once(self) -> int:
        """Number of calls to have unfinished, so that no worker waits for the caller. It may change any time."""
        return 1

    @property
    @abstractmethod
    def is_busy(self) -> bool:
        """Return whether any batch or call is unfinished, that is, has not appeared in an event."""

    @property
    def fleet(self) -> Fleet | None:
        """Machines of a pool that spans several; such a pool compiles the agents of its task by itself.

        None for a pool of this machine alone.
        """
        return None

    @abstractmethod
    def submit(self, ids: Ids, interpreted: bool = False) -> None:
        """Send these games of the task to a worker; see `GameWorker.play_batch`."""

    @abstractmethod
    def call(self, function: Callable[..., object], *arguments: object) -> int:
        """Call `function(worker, *arguments)` in a worker, and return a number that identifies the call in its event.

        `worker` is the `GameWorker` of the pool's task, or None if it has none.

        Args:
            function: defined at the top level of a module or a class, such as `GameWorker.measure_costs`.
        """

    @abstractmethod
    def finished(self, timeout: float) -> list[Event]:
        """Return the events since the last call, waiting up to `timeout` seconds for one if anything is unfinished.

        Raises:
            UnreachableError: the workers are on other machines, and cannot be reached any more.
        """

    @abstractmethod
    def alone(self) -> Pool:
        """Return another pool, with one worker and the same task, for a game that may kill it; the caller closes it.

        Not called on a pool that never names suspects.
        """

    @abstractmethod
    def close(self) -> None:
        """End all workers immediately; unfinished work is dropped. The pool cannot be used afterwards."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class HerePool(Pool):
    """One worker in this process, which works while somebody waits for it. Its death is this process's."""

    def __init__(self, jobs: int = 1) -> None:
        self._worker: GameWorker | None = None
        self._waiting: list[tuple[int | None, Callable[[], Event]]] = []
        self._calls = 0

    def assign(self, task: Task) -> None:
        self._worker = GameWorker(task)
        self.close()

    @property
    def has_room(self) -> bool:
        return not self._waiting

    @property
    def is_busy(self) -> bool:
        return bool(self._waiting)

    def submit(self, ids: Ids, interpreted: bool = False) -> None:
        assert self._worker
        play = partial(self._worker.play_batch, ids, interpreted=interpreted)
        self._waiting.append((None, lambda: Finished(play())))

    def call(self, function: Callable[..., object], *arguments: object) -> int:
        number = self._calls = self._calls + 1
        self._waiting.append((number, lambda: Answered(number, function(self._worker, *arguments))))
        return number

    def finished(self, timeout: float) -> list[Event]:
        """See `Pool.finished`; it takes as long as a batch or a call does."""
        if not self._waiting:
            return []
        call, work = self._waiting.pop(0)
        try:
            return [work()]
        except Exception as error:
            return [Failed(error, call)]

    def alone(self) -> Pool:
        raise NotImplementedError("a pool without processes never names suspects")

    def close(self) -> None:
        self._waiting.clear()


MakePool = Callable[[int], AbstractContextManager[Pool]]
"""Makes a pool with a number of workers. A pool that is to outlive a run comes in a `nullcontext`."""


Costs = Mapping[str, Cost | str]
"""Costs of agents by name, or the reasons why they have none."""
Measure = Callable[[Sequence[str]], Costs]
"""Measures the costs of agents by name, relative to the first."""


FEWEST_NODES = 50
"""Minimum node limit per move; with fewer nodes, a search hardly sees more than the next ply."""


def to_measure(plan: Plan) -> list[str]:
    """Return the names of a plan's agents, the reference first if there is one, since costs are relative to it."""
    reference = _reference(plan)
    return [entrant.agent.name for entrant in sorted(plan.entrants, key=lambda entrant: entrant is not reference)]


def _reference(plan: Plan) -> Entrant | None:
    """Return whose time contenders are given: the baseline, or in a best-of, which has none, the first of them."""
    role = "contender" if plan.config.format == "best-of" else "baseline"
    return next((entrant for entrant in plan.entrants if role in entrant.roles), None)


def measured(costs: Costs) -> dict[str, Cost]:
    """Return the costs that could be measured."""
    return {name: cost for name, cost in costs.items() if isinstance(cost, Cost)}


def at_equal_cost(plan: Plan, measure: Measure) -> tuple[Plan, dict[str, Cost]]:
    """Scale contenders' node limits to equal cost; return the plan and all costs.

    Each limit is divided by the contender's cost per node relative to the baseline's.

    The limits are fixed numbers from then on, so that the run means the same when it is resumed or repeated.
    """
    baseline, contenders = check_scalable(plan)
    costs = measure(to_measure(plan))
    known = measured(costs)
    for entrant in (baseline, *contenders):
        if entrant.agent.name not in known:
            raise ValueError(f"equal_cost cannot measure {entrant.agent.name}: {costs[entrant.agent.name]}")
    fixed = [_scaled(entrant.spec, known[entrant.agent.name].times) for entrant in contenders]
    update = {"contenders": tuple(str(spec) for spec in fixed), "equal_cost": False}
    scaled = make_plan(plan.config.model_copy(update=update))
    return replace(scaled, notes=scaled.notes + _warnings(fixed)), known


def specs_at_equal_cost(specs: Sequence[Spec], size: str) -> tuple[list[Spec], list[Cost]]:
    """Return completed specs, all but the first with limits at which they take as much time as it, and their costs."""
    agents = [make_agent(spec) for spec in specs]
    for spec, agent in zip(specs, agents, strict=True):
        _check_nodes(spec, agent.name, "equal cost")
    costs: list[Cost] = []
    for agent, cost in zip(agents, measure_costs(agents, size), strict=True):
        if isinstance(cost, str):
            raise ValueError(f"equal cost cannot be had, as the cost of {agent.name} cannot be measured: {cost}")
        costs.append(cost)
    others = zip(specs[1:], agents[1:], costs[1:], strict=True)
    return [specs[0], *(replace(_scaled(spec, cost.times), name=agent.name) for spec, agent, cost in others)], costs


def check_scalable(plan: Plan) -> tuple[Entrant, list[Entrant]]:
    """Return the reference and the contenders of a plan whose limits can be scaled."""
    baseline = _reference(plan)
    if baseline is None:
        raise ValueError("equal_cost needs a baseline to measure against")
    contenders = [entrant for entrant in plan.entrants if "contender" in entrant.roles]
    for entrant in (baseline, *contenders):
        _check_nodes(entrant.spec, entrant.agent.name, "equal_cost")
    return baseline, contenders


def _check_nodes(spec: Spec, name: str, option: str) -> None:
    if spec.limit is None or spec.limit.nodes is None:
        raise ValueError(f"{option} scales node limits, but {name} has none")


def _scaled(spec: Spec, times: float) -> Spec:
    nodes = spec.limit.nodes if spec.limit else None
    assert nodes is not None
    return replace(spec, limit=Limit(nodes=scaled_nodes(nodes, times)))


def scaled_nodes(nodes: int, times: float) -> int:
    """Return how many nodes take as much time as `nodes` of the baseline, for a cost per node over the baseline's."""
    return max(1, round(nodes / times))


def _warnings(specs: Sequence[Spec]) -> tuple[str, ...]:
    return tuple(
        f"{spec.name} gets only {spec.limit.nodes} nodes per move at equal cost: the result mostly reflects how slow "
        f"its heuristic is"
        for spec in specs
        if spec.limit and spec.limit.nodes and spec.limit.nodes < FEWEST_NODES
    )


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
        names = (kit.names[sharers[0]] if sharers else "games" for sharers in out.values())
        report(", ".join(names), reasons)
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


def _refuse(pool: Pool, sharers: Sharers, interrupted: Interrupted) -> dict[int, str]:
    pool.call(GameWorker.refuse_to_compile, sharers, _DIED)
    while pool.is_busy and not interrupted():
        for event in pool.finished(TICK):
            if isinstance(event, Failed):
                raise event.error
    return dict.fromkeys(sharers, _DIED)
