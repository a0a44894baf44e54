"""Agents as policies of learning environments."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..editions.classic_board import Board
from ..players.agents import Agent, choose_once
from ..rules.geometry import format_size
from .batch_moves import States, choose_moves


class AgentPolicy:
    """An agent as a function of many observations at once, compiled where the agent is.

    Every position is as if in a new game. In placements, agents that search do so with a small limit.
    """

    def __init__(self, agent: Agent, seed: int = 1) -> None:
        self._agent = agent
        self._random = np.random.default_rng(seed)

    def __call__(
        self, observations: NDArray[np.generic], masks: NDArray[np.generic] | None = None
    ) -> NDArray[np.int64]:
        """Return int64[n], the cells to play.

        Args:
            observations: bool[n, 4, rows, columns], as `Board.observation`.
            masks: not used; policies of other frameworks take them.

        Raises:
            RuntimeError: the agent failed in one of the positions.
        """
        planes = np.asarray(observations, bool)
        count, _, rows, columns = planes.shape
        size, flat = format_size(rows, columns), planes.reshape(count, 4, rows * columns)
        seeds = self._random.integers(2**63, size=(count,)).astype(np.uint64)
        cells = np.empty(count, np.int64)
        own, other = flat[:, 1].argmax(axis=1), flat[:, 2].argmax(axis=1)
        placed = flat[:, 1].any(axis=1)
        for i in np.flatnonzero(~placed):
            board = Board.from_moves(other[i : i + 1].tolist() if flat[i, 2].any() else [], size)
            cells[i] = choose_once(self._agent.placing(), board, int(seeds[i])).move
        if not placed.any():
            return cells
        turns = (rows * columns - flat[:, 0].sum(axis=1)) & 1
        states = States.of_arrays(planes[placed, 0], own[placed], other[placed], turns[placed], size)
        answers = choose_moves(self._agent, states, seeds[placed])
        if answers.first_failure is not None:
            raise RuntimeError(f"{self._agent.name} failed in position {answers.first_failure}: {answers.detail}")
        cells[placed] = answers.cells
        return cells
