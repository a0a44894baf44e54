"""Shared-memory markers that identify suspects of a crash; detection of stalled batches.

The death of a worker ends a whole pool of processes, and loses the batches of the others as well. The markers are in a
file that parent and workers map, so that they outlive any of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
from numpy.typing import NDArray

Markers = NDArray[np.int64]
"""int64[slots, 5]: one row, its marker, for each batch that may be out at a time."""

PID, GAME, MOVER, PLY, COMPILED = range(5)
"""Fields of a marker: worker, game id, side to move (0, 1), ply, and whether compiled code plays.

The worker is 0 if there is none, and negative while it returns the batch. Nothing in a worker can interrupt compiled
code.
"""
WIDTH = 5


@dataclass(frozen=True)
class Suspect:
    """A game that was being played when its worker died, and the player (1 or 2) that was to move."""

    game_id: int
    mover: int


def create_markers(path: Path, slots: int) -> Markers:
    """Create a file of empty markers."""
    return np.memmap(path, np.int64, "w+", shape=(slots, WIDTH))


def open_markers(path: Path, slots: int) -> Markers:
    """Open the markers that another process created."""
    return np.memmap(path, np.int64, "r+", shape=(slots, WIDTH))


def find_suspects(markers: Markers, slots: Collection[int], dead: set[int]) -> list[Suspect]:
    """Return the games that workers were playing; those of the dead workers only, if it is known which died first.

    A worker that died while returning a batch, for example because its descriptors were closed, counts as playing its
    last game.

    `slots` are the slots of unfinished batches.
    """
    playing = [slot for slot in slots if markers[slot, PID] > 0]
    handing_in = [slot for slot in slots if markers[slot, PID] < 0]
    at_work = [*playing, *handing_in]
    guilty = [slot for slot in at_work if abs(int(markers[slot, PID])) in dead] or playing or handing_in
    return [Suspect(int(markers[slot, GAME]), int(markers[slot, MOVER]) + 1) for slot in guilty]


def dead_among(markers: Markers) -> set[int]:
    """Return the workers with markers that no longer exist."""
    return {pid for pid in map(abs, markers[:, PID].tolist()) if pid and not psutil.pid_exists(pid)}


LONGEST_STEP = 1.0
"""Maximum seconds counted between two looks: if more pass, this process may have been suspended."""


class StallDetector:
    """Measures from the markers how long compiled code has been at the same move, at no cost to the workers.

    Interpreted user code is not watched: it plays in a child process, which the worker itself ends.
    """

    def __init__(self, markers: Markers, clock: Callable[[], float] = time.monotonic) -> None:
        self._markers = markers
        self._clock = clock
        self._looked = clock()
        self._silent: dict[int, float] = {}
        self._seen: dict[int, list[int]] = {}

    def forget(self, slot: int) -> None:
        """Reset a slot that gets another batch."""
        self._silent.pop(slot, None)
        self._seen.pop(slot, None)

    def look(self, slots: Collection[int]) -> dict[int, float]:
        """Return the seconds that the current move has taken so far, for each slot in which compiled code plays."""
        now = self._clock()
        step, self._looked = min(now - self._looked, LONGEST_STEP), now
        for slot in slots:
            seen = self._markers[slot].tolist()
            self._silent[slot] = self._silent.get(slot, 0.0) + step if self._seen.get(slot) == seen else 0.0
            self._seen[slot] = seen
        return {slot: self._silent[slot] for slot in slots if self._seen[slot][COMPILED]}
