"""Adapt heuristics of (state, player_id) to heuristics of (game, player).

The heuristics are methods, such as ``score(self, state)`` of a player's class, or functions of (state, player_id).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

from .conversion import state_of


class StateHeuristic:
    """A heuristic of (game, player) that calls a heuristic of states.

    Attributes:
        of_players: for player 0 and player 1, the function of a state and of parameters by name that returns the
            state's value for that player.
    """

    def __init__(self, function: FunctionType, of_players: tuple[Callable[..., Any], ...]) -> None:
        self.of_players = of_players
        self.__wrapped__ = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    def __call__(self, game: Any, player: Any, **parameters: float) -> Any:
        """Return the position's value for one of its players; `parameters` are passed to the function."""
        return self.of_players[game._index_of(player)](state_of(game), **parameters)


def as_heuristic(value: Any, owner: type | None) -> StateHeuristic | None:
    """Adapt a function of (state, player_id), or, given its owner, a method of (self, state).

    Such a method may also take the player_id. Returns None if `value` is neither. For a method, an instance of the
    owner is created for each player.

    Raises:
        Exception: any exception raised while a player is created.
    """
    names = required_parameters(value) if inspect.isfunction(value) else []
    if owner is not None and (len(names) == 2 or names[2:] == ["player_id"]):
        methods = [getattr(owner(player_id=seat), value.__name__) for seat in (0, 1)]
        if names[2:]:
            methods = [partial(method, player_id=seat) for seat, method in enumerate(methods)]
        return StateHeuristic(value, tuple(methods))
    if owner is None and len(names) == 2 and names[0] == "state" and "depth" not in names[1]:
        return StateHeuristic(value, tuple(partial(value, **{names[1]: seat}) for seat in (0, 1)))
    return None


def required_parameters(function: Callable[..., Any]) -> list[str]:
    """Return the names of the parameters that a function or method requires; empty if it has no signature."""
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [each.name for each in given if each.default is each.empty and each.kind not in kinds]
