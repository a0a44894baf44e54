"""The Gymnasium environment: one learning agent against any opponent."""

from __future__ import annotations

from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from knights_isolation.experiments.roster import AgentLike, parse_agent, spec_of
from knights_isolation.isolation.players.agents import check_board_size, forfeit_from
from knights_isolation.isolation.rules.geometry import parse_size

from .game import DEFAULT_LIMIT, RENDER_MODES, Observation, RenderMode, Setting, action_cell


class IsolationEnv(gymnasium.Env[Observation, np.int64]):
    """Knight's Isolation against an opponent. Actions are cells; a win gives 1, a loss -1, all other moves 0.

    `reset` places both knights at random and draws who moves first. An illegal action loses the game. The `info` has
    the keys of `environments.game.GameInfo`.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": 2}  # noqa: RUF012 -- Gymnasium's attribute

    def __init__(
        self,
        opponent: AgentLike = "random",
        size: str = "7x7",
        *,
        render_mode: RenderMode = None,
        exact: str | None = DEFAULT_LIMIT,
    ) -> None:
        """Make the environment; `reset` begins a game.

        Args:
            opponent: an agent as elsewhere: a spec, the name of a heuristic, or a function of (game, player).
            size: ROWSxCOLUMNS, 2x3 or larger.
            exact: limit of the exact search after each move, nodes=N or ms=N; None for no exact search.

        Raises:
            ValueError: an argument is invalid, or the opponent does not play on this board.
        """
        self._setting = Setting(size, exact, render_mode, is_placed=True)
        self.render_mode = render_mode
        self.observation_space = cast("spaces.Space[Observation]", self._setting.observations)
        self.action_space = self._setting.actions
        self._game, self._is_playing = self._setting.begin(), False
        agent = parse_agent(spec_of(opponent))
        check_board_size([agent], parse_size(size))
        self._opponent = agent.open()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a game, in which the opponent may already have moved.

        Raises:
            RuntimeError: the opponent failed at its first move.
        """
        super().reset(seed=seed)
        self._forfeit, self._is_playing = "", False
        while True:
            self._game = self._setting.begin(self.np_random)
            self._side = int(self.np_random.integers(2))
            self._opponent.new_game()
            if self._side == 1 and not self._game.is_over:
                self._reply()
            if self._forfeit:
                raise RuntimeError(f"the opponent failed at its first move: {self._forfeit}")
            if not self._game.is_over:
                self._is_playing = True
                return self._game.observe(self._side), self._info()

    def step(self, action: int | np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play a cell, and the opponent's reply.

        Raises:
            ValueError: the action is not a whole number.
            RuntimeError: there is no game: it was not reset, or is over.
        """
        if not self._is_playing:
            raise RuntimeError("there is no game: call reset()")
        cell = action_cell(action)
        if cell not in self._game.board.legal_cells():
            self._is_playing = False
            return self._game.observe(self._side), -1.0, True, False, {**self._info(), "illegal": True}
        self._game.play(cell)
        reward = 1.0 if self._game.is_over else 0.0
        if not reward:
            self._reply()
            reward = 1.0 if self._forfeit else -1.0 if self._game.is_over else 0.0
        self._is_playing = reward == 0.0
        return self._game.observe(self._side), reward, not self._is_playing, False, self._info()

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return the position as text or as an array of pixels, as `render_mode` says."""
        return self._game.render(self.render_mode)

    def close(self) -> None:
        """Release the opponent's resources, such as a process, and end the game."""
        self._is_playing = False
        self._opponent.close()

    def _reply(self) -> None:
        """Play the opponent's move, or note why it loses."""
        try:
            cell = self._opponent.choose(self._game.board, int(self.np_random.integers(2**63))).move
        except Exception as error:
            self._forfeit = forfeit_from(error).detail
            return
        if cell in self._game.board.legal_cells():
            self._game.play(cell)
        else:
            self._forfeit = f"played cell {cell}"

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {**self._game.info(self._side)}
        if self._forfeit:
            info["forfeit"] = self._forfeit
        return info
