"""The third edition's game loop: each turn runs in a thread, and the last action on its queue counts.

The original engine ran each turn in a new process and ended it when the time was up, so that only `context` was kept
from one turn to the next. Here a turn runs in its own thread, on a copy of the player, and is stopped by an exception.
"""

from __future__ import annotations

import copy
import logging
import threading
from collections.abc import Callable
from enum import Enum
from functools import wraps
from queue import Empty
from time import perf_counter
from typing import Any, NamedTuple, ParamSpec, TypeVar

from ...usercode.timeouts import raise_in_thread
from .state import Isolation, required_parameters

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


P = ParamSpec("P")
T = TypeVar("T")
logger = logging.getLogger("isolation")
ERR_INFO = "Error: {}\nInitial state: {}\nFirst agent: {}\nSecond agent: {}\nState: {}\nActions: {}"


class Status(Enum):
    """Status of a game."""

    NORMAL = 0
    EXCEPTION = 1
    TIMEOUT = 2
    INVALID_MOVE = 3
    GAME_OVER = 4


class Agent(NamedTuple):
    """A player class, instantiated with ``player_id``, and its name in reports."""

    agent_class: Any
    name: str


def play(match: tuple[Any, ...]) -> tuple[Agent, list[int], Any]:
    """Play the rest of a game. A player that raises, or puts no valid action in time, loses.

    Args:
        match: (agents, state, time_limit, match_id): two `Agent`s, the first of which moves at even plies; the state;
            the milliseconds per turn; and any value. A fifth value is the `debug` of `fork_get_action`.

    Returns:
        The winner, the actions, and the `match_id`.
    """
    agents, initial, time_limit, match_id, *debug = match
    players = [agent.agent_class(player_id=player_id) for player_id, agent in enumerate(agents)]
    state, status = initial, Status.NORMAL
    history: list[int] = []
    while status is Status.NORMAL:
        if state.terminal_test():
            status = Status.GAME_OVER
            break
        try:
            action = fork_get_action(state, players[state.player()], time_limit, *debug)
            status = Status.NORMAL if action in state.actions() else Status.INVALID_MOVE
        except Empty:
            status = Status.TIMEOUT
        except Exception as error:
            logger.error(ERR_INFO.format(error, initial, *agents, state, history))
            status = Status.EXCEPTION
        if status is Status.NORMAL:
            state = state.result(action)
            history.append(action)
    mover = state.player()
    has_won = status is Status.GAME_OVER and state.utility(mover) > 0
    winner = agents[mover if has_won else 1 - mover]
    logger.info("%s: %s wins after %d plies", status, winner, len(history))
    return winner, history, match_id


def or_as_the_third_edition(ours: Callable[P, T]) -> Callable[P, T]:
    """Make a function of two or more agents also play a match of this edition if called with a single tuple."""

    @wraps(ours)
    def play_either(*arguments: P.args, **options: P.kwargs) -> T:
        if len(arguments) == 1 and not options and isinstance(arguments[0], tuple):
            return play(arguments[0])  # type: ignore[return-value]
        return ours(*arguments, **options)

    return play_either


def fork_get_action(game_state: Isolation, active_player: Any, time_limit: float, debug: bool = False) -> Any:
    """Return the last action that a player puts within a limit in milliseconds, and keep its `context`.

    In spite of the name nothing is forked: see `take_turn`. With `debug` there is no limit.

    Raises:
        queue.Empty: the player has put no action.
        BaseException: any exception that the player raises before it has put one.
    """
    started = perf_counter()

    def time_left() -> float:
        return float("inf") if debug else time_limit - 1e3 * (perf_counter() - started)

    return take_turn(active_player, game_state, time_left)
