"""Policies of learning agents as players: a function of many observations at once, in an importable module."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from math import nan
from typing import TYPE_CHECKING, Any

from ..editions.classic_board import Board
from ..rules.outcome import Reason
from ..search import SearchResult
from .agents import ForfeitError, StatelessAgent, UncompiledAgent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Policy = Callable[[NDArray[np.bool_], NDArray[np.bool_]], NDArray[np.int64]]
"""From bool[n, 4, rows, columns] as in `Board.observation` and bool[n, cells], the legal moves, to cells, int[n]."""


@dataclass(frozen=True)
class PolicyAgent(UncompiledAgent, StatelessAgent):
    """A policy, imported by name where it plays.

    Before each move the generators of `random` and NumPy are seeded with the move's seed.

    Attributes:
        module: name of an importable module.
        function: name of the policy in it.
        folder: first folder in which the module is looked for.
        content: hash of the module's source.
    """

    name: str
    module: str
    function: str
    folder: str
    content: str
    is_deterministic: bool = field(default=False, init=False)
    is_user_code: bool = field(default=True, init=False)

    def settings(self) -> dict[str, Any]:
        """Return its name and a hash of its module, but not of the weights that it reads."""
        return {"kind": "policy", "policy": f"{self.module}:{self.function}", "content_hash": self.content}

    @cached_property
    def policy(self) -> Policy:
        """The function itself, imported on first use."""
        if self.folder not in sys.path:
            sys.path.insert(0, self.folder)
        policy: Policy = getattr(import_module(self.module), self.function)
        return policy

    def choose(self, board: Board, seed: int) -> SearchResult:
        """Return the policy's move.

        Raises:
            ForfeitError: the move is illegal, or the answer is not one cell.
        """
        import numpy as np

        observation, mask = board.observation()[None], board.mask()[None]
        random.seed(seed)
        np.random.seed(seed % 2**32)
        started = time.perf_counter()
        answer = np.asarray(self.policy(observation, mask))
        seconds = time.perf_counter() - started
        if answer.shape != (1,) or answer.dtype.kind not in "iu":
            raise ForfeitError(
                Reason.ERROR, f"a policy returns int[n] for n positions, not {answer.dtype}{list(answer.shape)}"
            )
        cell = int(answer[0])
        if cell not in board.legal_cells():
            raise ForfeitError(Reason.ILLEGAL_MOVE, f"played cell {cell}")
        return SearchResult(cell, nan, 0, 0, seconds, (cell,), False)
