"""The third edition's game loop."""

from __future__ import annotations

import logging
from collections.abc import Callable
from enum import Enum
from functools import wraps
from queue import Empty
from time import perf_counter
from typing import Any, NamedTuple, ParamSpec, TypeVar

from .state import Isolation
from .timed_turn import take_turn

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

    In spite of the name nothing is forked: see `timed_turn`. With `debug` there is no limit.

    Raises:
        queue.Empty: the player has put no action.
        BaseException: any exception that the player raises before it has put one.
    """
    started = perf_counter()

    def time_left() -> float:
        return float("inf") if debug else time_limit - 1e3 * (perf_counter() - started)

    return take_turn(active_player, game_state, time_left)
