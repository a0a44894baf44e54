"""Run a third-edition player's turn in a thread; the last action on its queue counts.

Upstream gave each turn a fresh process, so that nothing but `context` lasted from one turn to the next, and ended it
when the time was up. Here a turn runs in a thread of its own, on a copy of the player, and is stopped by an exception.
"""

from __future__ import annotations

import copy
import ctypes
import inspect
import threading
from collections.abc import Callable
from queue import Empty
from typing import Any

from isolation.editions.third.state import Isolation

TimeLeft = Callable[[], float]
_TICK, _LONGEST_WAIT = 0.02, 60.0


class StopSearch(Exception):
    """Raised in a player that puts an action when its time is up."""


class _TimeIsUp(SystemExit):
    """Raised in a player that goes on when its time is up; handlers of `Exception` do not hold it up."""


class TimedQueue:
    """Where a player puts actions for as long as it has time left, in milliseconds; the last one stays."""

    def __init__(self, player: Any, time_left: TimeLeft) -> None:
        self.agent = player
        self._time_left = time_left
        self._items: tuple[tuple[Any, Any], ...] = ()

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        """Put an action in the place of the one before, with what is now the player's context.

        Raises:
            StopSearch: the time is up.
        """
        if self._time_left() < 0:
            raise StopSearch
        self._items = ((getattr(self.agent, "context", None), item),)

    def put_nowait(self, item: Any) -> None:
        """The same as `put`."""
        self.put(item)

    def get(self, block: bool = True, timeout: float | None = None) -> tuple[Any, Any]:
        """Take the context and the action that were put last.

        Raises:
            queue.Empty: there is none.
        """
        if not self._items:
            raise Empty
        (item,), self._items = self._items, ()
        return item

    def get_nowait(self) -> tuple[Any, Any]:
        """The same as `get`."""
        return self.get()

    def qsize(self) -> int:
        """1 if an action was put, else 0."""
        return len(self._items)

    def empty(self) -> bool:
        """Whether no action was put."""
        return not self._items

    def full(self) -> bool:
        """Whether an action was put."""
        return bool(self._items)


def take_turn(player: Any, state: Isolation, time_left: TimeLeft) -> Any:
    """The action that a player puts last before its time is up; its `context` is what it was then.

    An exception raised later than a put changes nothing, as it changed nothing in a process of its own.

    Raises:
        queue.Empty: it has put none.
        BaseException: whatever the player raises before it has put one.
    """
    turn = _copy_for_a_turn(player)
    turn.queue = queue = TimedQueue(turn, time_left)
    arguments = (state, 0) if _takes_match(player) else (state,)
    error = _run(lambda: turn.get_action(*arguments), time_left)
    if error is not None and queue.empty():
        raise error
    player.context, action = queue.get()
    return action


def _copy_for_a_turn(player: Any) -> Any:
    """A copy whose attributes, and whose own lists, dictionaries and sets, can change without changing the player.

    Its `data` it shares, since opening books are large, and players only read them.
    """
    turn = copy.copy(player)
    for name, value in getattr(player, "__dict__", {}).items():
        if type(value) in (list, dict, set) and name != "data":
            setattr(turn, name, value.copy())
    return turn


def _takes_match(player: Any) -> bool:
    """Whether it is a player of June 2018, whose ``get_action(state, match_id)`` needs the number of the match."""
    try:
        parameters = inspect.signature(player.get_action).parameters.values()
    except (TypeError, ValueError):
        return False
    needed = [
        parameter
        for parameter in parameters
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and parameter.default is parameter.empty
    ]
    return len(needed) == 2


def _run(work: Callable[[], object], time_left: TimeLeft) -> BaseException | None:
    """Call something in a thread that is stopped when the time is up; returns what it raised, if that was anything."""
    run = _Run(work)
    run.start()
    try:
        while run.is_alive() and (left := time_left()) >= 0:
            run.join(min(max(left / 1e3, 1e-3), _LONGEST_WAIT))
    finally:
        while run.is_alive():
            run.stop()
            run.join(_TICK)
    return run.error


class _Run(threading.Thread):
    """A call that can be stopped from outside, as long as it runs Python code."""

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
            # What was sent late must not reach Python's own code that ends the thread.
            try:
                with self._leaving:
                    self._has_left = True
                    _send(None)
            except _TimeIsUp:
                pass

    def stop(self) -> None:
        """Have the call end with an exception; it may catch it and go on, so this may be needed again."""
        with self._leaving:
            if not self._has_left and self.ident is not None:
                _send(_TimeIsUp, self.ident)


def _send(exception: type[BaseException] | None, thread: int | None = None) -> None:
    """Raise an exception in a thread, by default this one, at its next step; None takes it back."""
    ident = threading.get_ident() if thread is None else thread
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(ident), None if exception is None else ctypes.py_object(exception)
    )
