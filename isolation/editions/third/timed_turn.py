"""Run a third-edition player's turn in a thread; the last action on its queue counts.

The original engine ran each turn in a new process and ended it when the time was up, so that only `context` was kept
from one turn to the next. Here a turn runs in its own thread, on a copy of the player, and is stopped by an exception.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from queue import Empty
from typing import Any

from ...usercode.timeouts import raise_in_thread
from .conversion import required_parameters
from .state import Isolation

TimeLeft = Callable[[], float]
_TICK, _LONGEST_WAIT = 0.02, 60.0


class StopSearch(Exception):
    """Raised in a player that puts an action after its time is up."""


class _TimeIsUp(SystemExit):
    """Raised in a player that continues after its time is up; handlers of `Exception` do not catch it."""


class TimedQueue:
    """A queue for a player's actions, open while `time_left()` milliseconds remain; it keeps only the last one."""

    def __init__(self, player: Any, time_left: TimeLeft) -> None:
        self.agent = player
        self._time_left = time_left
        self._items: tuple[tuple[Any, Any], ...] = ()

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        """Replace the action on the queue, and store the player's current context with it.

        Raises:
            StopSearch: the time is up.
        """
        if self._time_left() < 0:
            raise StopSearch
        self._items = ((getattr(self.agent, "context", None), item),)

    def put_nowait(self, item: Any) -> None:
        """Same as `put`."""
        self.put(item)

    def get(self, block: bool = True, timeout: float | None = None) -> tuple[Any, Any]:
        """Return the context and the action put last, and remove them.

        Raises:
            queue.Empty: the queue is empty.
        """
        if not self._items:
            raise Empty
        (item,), self._items = self._items, ()
        return item

    def get_nowait(self) -> tuple[Any, Any]:
        """Same as `get`."""
        return self.get()

    def qsize(self) -> int:
        """Return 1 if an action was put, else 0."""
        return len(self._items)

    def empty(self) -> bool:
        """Return whether no action was put."""
        return not self._items

    def full(self) -> bool:
        """Return whether an action was put."""
        return bool(self._items)


def take_turn(player: Any, state: Isolation, time_left: TimeLeft) -> Any:
    """Return the last action that a player puts before its time is up, and set its `context` to that at the time.

    Exceptions raised after a put are ignored, as they were when turns ran in processes.

    Raises:
        queue.Empty: the player has put no action.
        BaseException: any exception that the player raises before it has put one.
    """
    turn = _copy_for_a_turn(player)
    turn.queue = queue = TimedQueue(turn, time_left)
    takes_match = len(required_parameters(player.get_action)) == 2  # of June 2018: the match's number as well
    arguments = (state, 0) if takes_match else (state,)
    error = _run(lambda: turn.get_action(*arguments), time_left)
    if error is not None and queue.empty():
        raise error
    player.context, action = queue.get()
    return action


def _copy_for_a_turn(player: Any) -> Any:
    """Return a copy of a player with copies of its lists, dictionaries and sets."""
    # Its `data` is shared, since opening books are large and players only read them.
    turn = copy.copy(player)
    for name, value in getattr(player, "__dict__", {}).items():
        if type(value) in (list, dict, set) and name != "data":
            setattr(turn, name, value.copy())
    return turn


def _run(work: Callable[[], object], time_left: TimeLeft) -> BaseException | None:
    """Call `work` in a thread that is stopped when the time is up; return the exception it raised, if any."""
    run = _StoppableCall(work)
    run.start()
    try:
        while run.is_alive() and (left := time_left()) >= 0:
            run.join(min(max(left / 1e3, 1e-3), _LONGEST_WAIT))
    finally:
        while run.is_alive():
            run.stop()
            run.join(_TICK)
    return run.error


class _StoppableCall(threading.Thread):
    """A call that can be stopped from outside while it runs Python code."""

    def __init__(self, work: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self.error: BaseException | None = None
        self._work = work
        self._leaving = threading.Lock()
        self._has_left = False

    def run(self) -> None:
        try:
            self._work()
        except (StopSearch, _TimeIsUp):
            pass
        except BaseException as error:
            self.error = error
        while not self._has_left:
            # An exception sent late must not reach Python's code that ends the thread.
            try:
                with self._leaving:
                    self._has_left = True
                    raise_in_thread(threading.get_ident(), None)
            except _TimeIsUp:
                pass

    def stop(self) -> None:
        """Raise an exception in the call. The call may catch it and continue, so repeat this until it ends."""
        with self._leaving:
            if not self._has_left and self.ident is not None:
                raise_in_thread(self.ident, _TimeIsUp)
