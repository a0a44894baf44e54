"""Pool without processes: it plays in this one, which may be sandboxed and then can start no others."""

from __future__ import annotations

from collections.abc import Callable

from ...plan.schedule import Ids
from .game_worker import GameWorker, Task
from .pool import Answered, Event, Failed, Finished, Pool


class HerePool(Pool):
    """One worker in this process, which works while somebody waits for it. Its death is this process's."""

    def __init__(self, jobs: int = 1) -> None:
        self._waiting: list[tuple[int | None, Callable[[], Event]]] = []
        self._calls = 0

    def assign(self, task: Task) -> None:
        """See `Pool.assign`."""
        self._worker = GameWorker(task)
        self.close()

    @property
    def has_room(self) -> bool:
        """See `Pool.has_room`."""
        return not self._waiting

    @property
    def is_busy(self) -> bool:
        """See `Pool.is_busy`."""
        return bool(self._waiting)

    def submit(self, ids: Ids, interpreted: bool = False) -> None:
        """See `Pool.submit`."""
        self._waiting.append((None, lambda: Finished(self._worker.play_batch(ids, interpreted=interpreted))))

    def call(self, function: Callable[..., object], *arguments: object) -> int:
        """See `Pool.call`."""
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
        """See `Pool.alone`."""
        raise NotImplementedError("a pool without processes never names suspects")

    def close(self) -> None:
        """See `Pool.close`."""
        self._waiting.clear()
