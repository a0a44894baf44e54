"""The PettingZoo environment: both players are learning agents, who move in turn.

For example::

    from knights_isolation.environments import isolation_v0

    env = isolation_v0.env("7x7", render_mode="ansi")
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Literal, ParamSpec

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from .single_agent import (
    DEFAULT_LIMIT,
    RENDER_MODES,
    EnvironmentGame,
    GameInfo,
    Observation,
    RenderMode,
    action_cell,
    check_choice,
)

Arguments = ParamSpec("Arguments")

PLAYERS = ("player_1", "player_2")


class raw_env(AECEnv[str, Observation, int]):  # noqa: N801 -- PettingZoo's name
    """Knight's Isolation as an agent environment cycle. Actions are cells; the winner gets 1, the loser -1.

    The dictionary `infos` has a `GameInfo` of each player.
    """

    def __init__(
        self,
        size: str = "7x7",
        *,
        render_mode: RenderMode = None,
        exact: str | None = DEFAULT_LIMIT,
        placements: Literal["played", "random"] = "played",
        illegal: Literal["lose", "replace"] = "lose",
        max_cycles: int | None = None,
    ) -> None:
        """Make the environment; `reset` begins a game.

        Args:
            size: ROWSxCOLUMNS; for random placements 2x3 or larger.
            exact: limit of the exact search after each move, nodes=N or ms=N; None for no exact search.
            placements: whether the players place their knights themselves, or are placed at random, so that player 1
                has a move.
            illegal: an illegal action loses the game, or is replaced by a random legal one.
            max_cycles: truncate games after so many moves of each player, at least 1.

        Raises:
            ValueError: an argument is invalid.
        """
        super().__init__()
        check_choice("placements", placements, ("played", "random"))
        check_choice("illegal", illegal, ("lose", "replace"))
        self._game = EnvironmentGame(size, exact, render_mode, is_placed=placements == "random")
        is_whole = isinstance(max_cycles, int) and not isinstance(max_cycles, bool)
        if max_cycles is not None and (not is_whole or max_cycles < 1):
            raise ValueError(f"max_cycles must be None or a whole number, at least 1, not {max_cycles!r}")
        self.metadata = {"render_modes": RENDER_MODES, "name": "isolation_v0", "render_fps": 2}
        self.render_mode = render_mode
        self.possible_agents = list(PLAYERS)
        self.agents: list[str] = []
        self._loses, self._max_cycles = illegal == "lose", max_cycles
        self.observation_spaces = {player: deepcopy(self._game.observations) for player in PLAYERS}
        self.action_spaces = {player: deepcopy(self._game.actions) for player in PLAYERS}
        self._random = np.random.default_rng()

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of a player's observations."""
        return self.observation_spaces[_checked(agent)]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of actions: the cells of the board."""
        return self.action_spaces[_checked(agent)]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game. The seed decides random placements and the replacements of illegal actions."""
        if seed is not None:
            self._random, _ = seeding.np_random(seed)
        self.agents = list(PLAYERS)
        self._game.begin(self._random)
        self._moves = 0
        self.rewards = dict.fromkeys(PLAYERS, 0.0)
        self._cumulative_rewards = dict.fromkeys(PLAYERS, 0.0)
        self.terminations = dict.fromkeys(PLAYERS, False)
        self.truncations = dict.fromkeys(PLAYERS, False)
        self._is_illegal = dict.fromkeys(PLAYERS, False)
        self.agent_selection = PLAYERS[0]
        self._note()

    def observe(self, agent: str) -> Observation:
        """Return what a player sees; its action mask is empty while the other is to move."""
        return self._game.observe(PLAYERS.index(_checked(agent)))

    def step(self, action: int | None) -> None:
        """Play a cell for the player to move; None for a player whose game is over.

        Raises:
            ValueError: the action is not a whole number, or not None where the game is over.
            RuntimeError: there is no game: it was not reset, or is over for both players.
        """
        if not self.agents:
            raise RuntimeError("there is no game: call reset()")
        mover = self.agent_selection
        if self.terminations[mover] or self.truncations[mover]:
            self._was_dead_step(action)
            return
        cell = action_cell(action)
        self._cumulative_rewards[mover] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        waiter = PLAYERS[1 - PLAYERS.index(mover)]
        legal = self._game.board.legal_cells()
        self._is_illegal[mover] = cell not in legal
        if cell in legal or not self._loses:
            self._game.play(cell if cell in legal else int(self._random.choice(legal)))
            self._moves += 1
            winner = mover if self._game.is_over else None
        else:
            winner = waiter
        if winner:
            self.rewards = {player: 1.0 if player == winner else -1.0 for player in PLAYERS}
            self.terminations = dict.fromkeys(PLAYERS, True)
        elif self._max_cycles is not None and self._moves >= len(PLAYERS) * self._max_cycles:
            self.truncations = dict.fromkeys(PLAYERS, True)
        self.agent_selection = waiter
        self._note()
        self._accumulate_rewards()

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return the position as text or as an array of pixels, as `render_mode` says."""
        return self._game.render(self.render_mode)

    def close(self) -> None:
        """Do nothing: there are no resources."""

    def _note(self) -> None:
        self.infos: dict[str, GameInfo] = {player: self._game.info(PLAYERS.index(player)) for player in PLAYERS}
        for player in PLAYERS:
            if self._is_illegal[player]:
                self.infos[player]["illegal"] = True


def _checked(agent: str) -> str:
    check_choice("agent", agent, PLAYERS)
    return agent


def _in_order(make: Callable[Arguments, raw_env]) -> Callable[Arguments, AECEnv[str, Observation, int]]:
    def env(*arguments: Arguments.args, **keywords: Arguments.kwargs) -> AECEnv[str, Observation, int]:
        """Return the environment, which raises a clear error where it is used out of order; see `raw_env`."""
        return wrappers.OrderEnforcingWrapper(make(*arguments, **keywords))

    return env


env = _in_order(raw_env)
