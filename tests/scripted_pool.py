"""A pool without processes: it plays here, and its workers die when a script says so."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from knights_isolation.experiments.plan.schedule import Ids
from knights_isolation.experiments.play import runner
from knights_isolation.experiments.play.pools.game_worker import GameWorker, Task
from knights_isolation.experiments.play.pools.pool import Died, Event, HerePool, Pool, Suspect, Work
from knights_isolation.experiments.play.pools.recovery import Costs


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
        super().__init__(2)
        self.script = script
        self.is_broken = False
        self.worker: GameWorker | None = None

    def assign(self, task: Task) -> None:
        self.script.assigned.append(task)
        self.worker = GameWorker(task)
        self._drop()

    def _events(self, timeout: float) -> list[Event]:
        if self.is_broken:
            self.is_broken = False
            return [self._die(work, []) for work in list(self._waiting)]
        calls = [work for work in self._waiting if not work.ids]
        return list(map(self._called, calls) if calls else self._played())

    def close(self) -> None:
        self.script.closed += 1

    def submit(self, ids: Ids, interpreted: bool = False) -> int:
        if interpreted:
            self.script.alone += [(id_, interpreted) for id_ in ids.tolist()]
        return super().submit(ids, interpreted)

    def _put(self, work: Work) -> int:
        self.script.sent += 1
        self.is_broken |= self.script.sent == self.script.broken
        return super()._put(work)

    def _done(self, work: Work) -> Event:
        self._waiting.remove(work)
        return work.done_by(self.worker)

    def _called(self, work: Work) -> Event:
        return self._die(work, []) if self.script.kills_calls(work.arguments) else self._done(work)

    def _played(self) -> Iterator[Event]:
        alone = [work for work in self._waiting if work.is_alone]
        batches = alone or list(self._waiting)
        kills = self.script.kills_alone if alone else self.script.kills
        suspects = kills([id_ for work in batches for id_ in work.ids])
        for work in batches:
            if suspects is None:
                yield self._done(work)
            elif not suspects or any(suspect.game_id in work.ids for suspect in suspects):
                yield self._die(work, suspects)

    def _die(self, work: Work, suspects: list[Suspect]) -> Died:
        self._waiting.remove(work)
        return Died(work.number, work.ids, next((suspect for suspect in suspects if suspect.game_id in work.ids), None))
