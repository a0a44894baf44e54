"""A pool without processes: it plays here, and its workers die when a script says so."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from knights_isolation.experiments.plan.schedule import Ids
from knights_isolation.experiments.play import runner
from knights_isolation.experiments.play.pools.game_worker import GameWorker, Task
from knights_isolation.experiments.play.pools.pool import (
    Answered,
    Died,
    Event,
    Failed,
    Finished,
    HerePool,
    Pool,
    Suspect,
)
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
    """What happens in a pool, and what has been asked of it.

    Attributes:
        kills: asked before the batches that are out are played, with all their ids: the suspects of deaths, whose
            workers die, or none, where all workers die; None if nobody does.
        kills_alone: the same of a game that is played alone.
        kills_calls: asked of the arguments of each call, whether it kills its worker.
        broken: all workers die before the so manyth batch or call is sent, once.
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

    def __init__(self, script: Script) -> None:
        self.script = script
        self.is_broken = False
        self.worker: GameWorker | None = None
        self.batches: dict[int, Ids] = {}
        self.alone: dict[int, Ids] = {}
        self.calls: dict[int, tuple[Callable[..., object], tuple[Any, ...]]] = {}

    def assign(self, task: Task) -> None:
        self.script.assigned.append(task)
        self.worker = GameWorker(task)
        for unfinished in (self.batches, self.alone, self.calls):
            unfinished.clear()

    @property
    def has_room(self) -> bool:
        return len(self.batches) < 4

    @property
    def is_busy(self) -> bool:
        return bool(self.batches or self.alone or self.calls)

    def submit(self, ids: Ids, interpreted: bool = False) -> int:
        self._break_if_due()
        (self.alone if interpreted else self.batches)[self.script.sent] = ids
        if interpreted:
            self.script.alone += [(id_, interpreted) for id_ in ids.tolist()]
        return self.script.sent

    def call(self, function: Callable[..., object], *arguments: object) -> int:
        self._break_if_due()
        self.calls[self.script.sent] = (function, arguments)
        return self.script.sent

    def finished(self, timeout: float) -> list[Event]:
        if self.is_broken:
            self.is_broken = False
            calls = [Died(self.calls.popitem()[0]) for _ in list(self.calls)]
            return [*calls, *self._die(self.alone, []), *self._die(self.batches, [])]
        return list(self._called() if self.calls else self._played())

    def close(self) -> None:
        self.script.closed += 1

    def _break_if_due(self) -> None:
        self.script.sent += 1
        self.is_broken |= self.script.sent == self.script.broken

    def _called(self) -> Iterator[Event]:
        while self.calls:
            number, (function, arguments) = self.calls.popitem()
            if self.script.kills_calls(arguments):
                yield Died(number)
                continue
            try:
                yield Answered(number, function(self.worker, *arguments))
            except Exception as error:
                yield Failed(number, error)

    def _played(self) -> Iterator[Event]:
        assert self.worker
        batches = self.alone or self.batches
        ids = np.concatenate(list(batches.values())).tolist() if batches else []
        suspects = (self.script.kills_alone if self.alone else self.script.kills)(ids)
        if suspects is not None:
            yield from self._die(batches, suspects)
            return
        while batches:
            number, ids = batches.popitem()
            yield Finished(number, self.worker.play_batch(ids, interpreted=batches is self.alone))

    def _die(self, batches: dict[int, Ids], suspects: list[Suspect]) -> Iterator[Died]:
        for number, ids in list(batches.items()):
            suspect = next((suspect for suspect in suspects if suspect.game_id in ids), None)
            if suspect or not suspects:
                yield Died(number, tuple(batches.pop(number).tolist()), suspect)
