"""Memories: what deterministic compiled players have answered, kept from call to call; see `kernels.memory`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isolation.native.layout import SLOT, SLOTS


class Memory:
    """A table of answers, and the players that have a number in it. One call at a time may use it.

    Players are told apart by what compiled code takes of them: the same code under the same limit is one player, by
    whatever name. Compiled code is never unloaded, so that its address names it for good.
    """

    def __init__(self) -> None:
        self.table = np.zeros(SLOTS * SLOT, np.int64)
        self._numbers: dict[tuple[int, ...], int] = {}

    def with_number(self, row: Sequence[int]) -> list[int]:
        """A player's row of numbers (see `kernels.calling`), the last now its number in this memory, from 1."""
        return [*row[:-1], self._numbers.setdefault(tuple(row), len(self._numbers) + 1)]
