"""Caches of the moves of deterministic compiled players, kept from call to call."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from .layout import SLOT, SLOTS


class MoveCache:
    """A table of answers, and the players that have a number in it. One call at a time may use it.

    Players are distinguished by what compiled code takes of them: the same code with the same parameters under the same
    limit is one player, by whatever name.
    """

    def __init__(self) -> None:
        self.table = np.zeros(SLOTS * SLOT, np.int64)
        self._numbers: dict[Hashable, int] = {}

    def number_of(self, player: Hashable) -> int:
        """The number, from 1, of a player, given by what tells it from all others for good."""
        return self._numbers.setdefault(player, len(self._numbers) + 1)
