"""Which workers have fallen silent: for how long nothing has moved in the game that each is at."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from experiments.play.pools.crash_markers import PID, Markers

LONGEST_STEP = 1.0
"""Seconds that count at most between two looks: in the others the watch itself may have been stopped, or the machine
asleep."""


class StallDetector:
    """Sees from the markers how long each batch has been at the same move. It costs the workers nothing."""

    def __init__(self, markers: Markers, clock: Callable[[], float] = time.monotonic) -> None:
        self._markers = markers
        self._clock = clock
        self._looked = clock()
        self._silent: dict[int, float] = {}
        self._seen: dict[int, list[int]] = {}

    def forget(self, slot: int) -> None:
        """Another batch has the slot now."""
        self._silent.pop(slot, None)
        self._seen.pop(slot, None)

    def look(self, slots: Collection[int]) -> dict[int, float]:
        """Seconds for which the same move has been on, for each of these slots in which a game is being played."""
        now = self._clock()
        step, self._looked = min(now - self._looked, LONGEST_STEP), now
        for slot in slots:
            seen = self._markers[slot].tolist()
            self._silent[slot] = self._silent.get(slot, 0.0) + step if self._seen.get(slot) == seen else 0.0
            self._seen[slot] = seen
        return {slot: self._silent[slot] for slot in slots if self._seen[slot][PID] > 0}
