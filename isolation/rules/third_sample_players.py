"""The third edition's ``sample_players``: two base classes and three opponents."""

from __future__ import annotations

import logging
import pickle
import random
import sys
from pathlib import Path
from typing import Any

from .third_edition import Isolation, TimedQueue

logger = logging.getLogger("sample_players")
DATA = "data.pickle"


class BasePlayer:
    """Base class of players: their number, a queue for their actions, and a context kept from turn to turn."""

    def __init__(self, player_id: int) -> None:
        self.player_id = player_id
        self.timer: Any = None
        self.queue: TimedQueue | None = None
        self.context: Any = None
        self.data: Any = None

    def get_action(self, state: Isolation) -> None:
        """Put actions on the queue, the best one last."""
        raise NotImplementedError


class DataPlayer(BasePlayer):
    """A player with data, such as an opening book, from `data.pickle` in the folder of its class's file."""

    def __init__(self, player_id: int) -> None:
        super().__init__(player_id)
        path = _folder_of(type(self)) / DATA
        if path.is_file():
            self.data = pickle.loads(path.read_bytes())
        else:
            logger.info("there is no %s", path)


class RandomPlayer(BasePlayer):
    """Plays a random action."""

    def get_action(self, state: Isolation) -> None:
        """Put an action drawn with `random`."""
        self.queue.put(random.choice(state.actions()))  # type: ignore[union-attr]


class GreedyPlayer(BasePlayer):
    """Plays the action that leaves it the most liberties; the first among equals."""

    def score(self, state: Isolation) -> int:
        """Return the number of the player's liberties."""
        return len(state.liberties(state.locs[self.player_id]))

    def get_action(self, state: Isolation) -> None:
        """Put the best action by a search of one ply."""
        best = max(state.actions(), key=lambda action: self.score(state.result(action)))
        self.queue.put(best)  # type: ignore[union-attr]


class MinimaxPlayer(BasePlayer):
    """Searches with minimax to three plies, by its liberties minus its opponent's; places its knight at random."""

    def get_action(self, state: Isolation) -> None:
        """Put the best action, or a random one while knights are placed."""
        action = random.choice(state.actions()) if state.ply_count < 2 else self.minimax(state, depth=3)
        self.queue.put(action)  # type: ignore[union-attr]

    def minimax(self, state: Isolation, depth: int) -> int:
        """Return the best action at a depth in plies; the first among equals."""
        return max(state.actions(), key=lambda action: minimax_value(self, state.result(action), depth - 1))

    def score(self, state: Isolation) -> float:
        """Return the number of the player's liberties minus its opponent's."""
        own, opponent = state.locs[self.player_id], state.locs[1 - self.player_id]
        return len(state.liberties(own)) - len(state.liberties(opponent))


def minimax_value(player: Any, state: Isolation, depth: int) -> float:
    """Return a state's minimax value at a depth in plies for a player with a `player_id` and a ``score(state)``."""
    if state.terminal_test():
        return state.utility(player.player_id)
    if depth <= 0:
        return float(player.score(state))
    values = [minimax_value(player, state.result(action), depth - 1) for action in state.actions()]
    return max(values) if state.player() == player.player_id else min(values)


def _folder_of(kind: type) -> Path:
    """Return the folder of the file that defines a class, or the current folder if there is no file."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return Path(file).parent if file else Path()
