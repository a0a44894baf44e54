"""The Gymnasium environment: one learning agent against any opponent, who has the other seat of the game of two."""

from __future__ import annotations

from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from knights_isolation.experiments.plan import AgentLike, parse_agent, spec_of
from knights_isolation.isolation.search.agents import check_board_size, forfeit_from

from .isolation_v0 import DEFAULT_LIMIT, PLAYERS, RENDER_MODES, Observation, RenderMode, raw_env


class IsolationEnv(gymnasium.Env[Observation, np.int64]):
    """Knight's Isolation against an opponent. Actions are cells; a win gives 1, a loss -1, all other moves 0.

    `reset` places both knights at random and draws who moves first. An illegal action loses the game. The `info` has
    the keys of `GameInfo`.
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
        self._game = raw_env(size, render_mode=render_mode, exact=exact, placements="random")
        self.render_mode = render_mode
        self.observation_space = cast("spaces.Space[Observation]", self._game.observation_space(PLAYERS[0]))
        self.action_space = self._game.action_space(PLAYERS[0])
        agent = parse_agent(spec_of(opponent))
        check_board_size([agent], self._game.size)
        self._opponent = agent.open()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a game, in which the opponent may already have moved.

        Raises:
            RuntimeError: the opponent failed at its first move.
        """
        super().reset(seed=seed)
        self._game.random = self.np_random
        while True:
            self._game.reset()
            self._player, self._forfeit = PLAYERS[int(self.np_random.integers(2))], ""
            self._opponent.new_game()
            if self._player != PLAYERS[0]:
                self._reply()
            if self._forfeit:
                raise RuntimeError(f"the opponent failed at its first move: {self._forfeit}")
            if self._is_playing:
                return self._game.observe(self._player), self._info()

    def step(self, action: int | np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play a cell, and the opponent's reply.

        Raises:
            ValueError: the action is not a whole number.
            RuntimeError: there is no game: it was not reset, or is over.
        """
        if not self._is_playing:
            raise RuntimeError("there is no game: call reset()")
        self._game.step(action)
        if self._is_playing:
            self._reply()
        reward = self._game.rewards[self._player]
        return self._game.observe(self._player), reward, not self._is_playing, False, self._info()

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return the position as text or as an array of pixels, as `render_mode` says."""
        return self._game.render()

    def close(self) -> None:
        """Release the opponent's resources, such as a process, and end the game."""
        self._game.close()
        self._opponent.close()

    @property
    def _is_playing(self) -> bool:
        return bool(self._game.agents) and not any(self._game.terminations.values())

    def _reply(self) -> None:
        """Play the opponent's move; one that fails loses, as by an illegal move, and it is noted why."""
        try:
            cell = self._opponent.choose(self._game.board, int(self.np_random.integers(2**63))).move
            if cell not in self._game.board.legal_cells():
                self._forfeit = f"played cell {cell}"
        except Exception as error:
            self._forfeit, cell = forfeit_from(error).detail, -1
        self._game.step(cell)

    def _info(self) -> dict[str, Any]:
        return {**self._game.infos[self._player], **({"forfeit": self._forfeit} if self._forfeit else {})}
