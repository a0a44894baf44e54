"""A pool without processes: it plays here, and its workers die when a script says so."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from knights_isolation.experiments.plan.schedule import Ids
from knights_isolation.experiments.play import runner
from knights_isolation.experiments.play.pools.game_worker import GameWorker, Suspect, Task
from knights_isolation.experiments.play.pools.pool import Answered, Died, Event, Failed, Finished, HerePool, Pool
from knights_isolation.experiments.play.pools.preparation import Costs


def here(jobs: int) -> Pool:
    """A pool for what has nothing to do with processes: it plays in this one, and nobody dies."""
    return HerePool(jobs)


@contextmanager
def costing(measure: Callable[[Sequence[str]], Costs]) -> Iterator[None]:
    """Have runs take these costs of agents, by name, in place of those that a worker measures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "measure_in", lambda pool, names, interrupted: measure(names))
        yield


@dataclass
class Script:
    """What happens in a pool, and in those made of it by `alone`; and what has been asked of them.

    Attributes:
        kills: asked before the batches that are out are played, with all their ids: the suspects of a death, or None.
        kills_alone: the same of a game that is played alone.
        kills_calls: asked of the arguments of each call, whether it kills its worker.
        broken: the pool breaks before the so manyth batch or call is sent, once.
        alone: the ids that were played alone, each with whether interpreted.
        assigned: the tasks.
        sent: how many batches and calls were sent.
        closed: how many pools were closed.
    """

    kills: Callable[[list[int]], list[Suspect] | None] = lambda ids: None
    kills_alone: Callable[[list[int]], list[Suspect] | None] = lambda ids: None
    kills_calls: Callable[[tuple[Any, ...]], bool] = lambda arguments: False
    broken: int = 0
    alone: list[tuple[int, bool]] = field(default_factory=list)
    assigned: list[Task] = field(default_factory=list)
    sent: int = 0
    closed: int = 0


class ScriptedPool(Pool):
    """See `Script`. Batches are played, and calls made, when somebody asks what has finished."""

    def __init__(self, script: Script, is_alone: bool = False) -> None:
        self.script = script
        self.is_alone = is_alone
        self.is_broken = False
        self.worker: GameWorker | None = None
        self.batches: list[tuple[Ids, bool]] = []
        self.calls: dict[int, tuple[Callable[..., object], tuple[Any, ...]]] = {}

    def assign(self, task: Task) -> None:
        self.script.assigned.append(task)
        self.worker = GameWorker(task)
        self._drop()

    @property
    def has_room(self) -> bool:
        return len(self.batches) < 4

    @property
    def is_busy(self) -> bool:
        return bool(self.batches or self.calls)

    def submit(self, ids: Ids, interpreted: bool = False) -> None:
        self._break_if_due()
        self.batches.append((ids, interpreted))
        if self.is_alone:
            self.script.alone += [(id_, interpreted) for id_ in ids.tolist()]

    def call(self, function: Callable[..., object], *arguments: object) -> int:
        self._break_if_due()
        self.calls[self.script.sent] = (function, arguments)
        return self.script.sent

    def finished(self, timeout: float) -> list[Event]:
        if self.is_broken:
            self.is_broken = False
            return [self._die([])]
        return list(self._called() if self.calls else self._played())

    def alone(self) -> Pool:
        pool = ScriptedPool(self.script, is_alone=True)
        pool.worker = self.worker
        return pool

    def close(self) -> None:
        self.script.closed += 1

    def _break_if_due(self) -> None:
        self.script.sent += 1
        self.is_broken |= self.script.sent == self.script.broken

    def _called(self) -> Iterator[Event]:
        if any(self.script.kills_calls(arguments) for _, arguments in self.calls.values()):
            yield self._die([])
            return
        while self.calls:
            number, (function, arguments) = self.calls.popitem()
            try:
                yield Answered(number, function(self.worker, *arguments))
            except Exception as error:
                yield Failed(error, number)

    def _played(self) -> Iterator[Event]:
        assert self.worker
        suspects = (self.script.kills_alone if self.is_alone else self.script.kills)(self._ids())
        if suspects is not None:
            yield self._die(suspects)
            return
        while self.batches:
            ids, interpreted = self.batches.pop()
            yield Finished(self.worker.play_batch(ids, interpreted=interpreted))

    def _die(self, suspects: list[Suspect]) -> Died:
        death = Died(tuple(self._ids()), tuple(suspects), tuple(self.calls))
        self._drop()
        return death

    def _ids(self) -> list[int]:
        return np.concatenate([ids for ids, _ in self.batches]).tolist() if self.batches else []

    def _drop(self) -> None:
        self.batches.clear()
        self.calls.clear()
