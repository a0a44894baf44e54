"""The third edition's ``sample_players``: two base classes and three opponents."""

from __future__ import annotations

import logging
import pickle
import random
import sys
from pathlib import Path
from typing import Any

from isolation.editions.third.state import Isolation
from isolation.editions.third.timed_turn import TimedQueue

logger = logging.getLogger("sample_players")
DATA = "data.pickle"


class BasePlayer:
    """What all players have: their number, a queue for their actions, and a context that lasts from turn to turn."""

    def __init__(self, player_id: int) -> None:
        self.player_id = player_id
        self.timer: Any = None
        self.queue: TimedQueue | None = None
        self.context: Any = None
        self.data: Any = None

    def get_action(self, state: Isolation) -> None:
        """Put actions on the queue, the best so far last."""
        raise NotImplementedError


class DataPlayer(BasePlayer):
    """A player with data, such as an opening book: what `data.pickle` holds in the folder of the class's file."""

    def __init__(self, player_id: int) -> None:
        super().__init__(player_id)
        path = _folder_of(type(self)) / DATA
        if path.is_file():
            self.data = pickle.loads(path.read_bytes())
        else:
            logger.info("there is no %s", path)


class RandomPlayer(BasePlayer):
    """Plays any action."""

    def get_action(self, state: Isolation) -> None:
        """Put one drawn with `random`."""
        self.queue.put(random.choice(state.actions()))  # type: ignore[union-attr]


class GreedyPlayer(BasePlayer):
    """Plays the action after which it has the most liberties; the first among equals."""

    def score(self, state: Isolation) -> int:
        """The number of its liberties."""
        return len(state.liberties(state.locs[self.player_id]))

    def get_action(self, state: Isolation) -> None:
        """Put the best one ply ahead."""
        best = max(state.actions(), key=lambda action: self.score(state.result(action)))
        self.queue.put(best)  # type: ignore[union-attr]


class MinimaxPlayer(BasePlayer):
    """Minimax to three plies on its liberties less its opponent's; it places its knight at random."""

    def get_action(self, state: Isolation) -> None:
        """Put the best action, or any while knights are placed."""
        action = random.choice(state.actions()) if state.ply_count < 2 else self.minimax(state, depth=3)
        self.queue.put(action)  # type: ignore[union-attr]

    def minimax(self, state: Isolation, depth: int) -> int:
        """The best action at a depth in plies; the first among equals."""
        return max(state.actions(), key=lambda action: minimax_value(self, state.result(action), depth - 1))

    def score(self, state: Isolation) -> float:
        """The number of its liberties, less its opponent's."""
        own, opponent = state.locs[self.player_id], state.locs[1 - self.player_id]
        return len(state.liberties(own)) - len(state.liberties(opponent))


def minimax_value(player: Any, state: Isolation, depth: int) -> float:
    """What a state is worth after so many plies to a player with a `player_id` and a ``score(state)``."""
    if state.terminal_test():
        return state.utility(player.player_id)
    if depth <= 0:
        return float(player.score(state))
    values = [minimax_value(player, state.result(action), depth - 1) for action in state.actions()]
    return max(values) if state.player() == player.player_id else min(values)


def _folder_of(kind: type) -> Path:
    """The folder of the file that defines a class; the current one if it comes from none."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return Path(file).parent if file else Path()
