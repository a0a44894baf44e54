"""Shared-memory markers that name the suspects of a crash; detection of stalled batches.

A dead worker takes a whole pool of processes with it, and the batches of the others as well. The markers lie in a file
that parent and workers map, so that they outlive any of them.
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
"""int64[slots, 5], a row for each batch that may be out at a time, its marker."""

PID, GAME, MOVER, PLY, COMPILED = range(5)
"""What a marker says: the worker (0: none; negative: it is handing the batch in), the game's id, whose move (0, 1),
which ply, and whether compiled code plays, which nothing in the worker can end."""
WIDTH = 5


@dataclass(frozen=True)
class Suspect:
    """A game that was being played when its worker died, and the player (1 or 2) who was to move."""

    game_id: int
    mover: int


def create_markers(path: Path, slots: int) -> Markers:
    """A file of blank markers."""
    return np.memmap(path, np.int64, "w+", shape=(slots, WIDTH))


def open_markers(path: Path, slots: int) -> Markers:
    """The markers another process made."""
    return np.memmap(path, np.int64, "r+", shape=(slots, WIDTH))


def find_suspects(markers: Markers, slots: Collection[int], dead: set[int]) -> list[Suspect]:
    """The games that workers were at; those of the dead workers only, if it is known which died first.

    A worker that died while handing in a batch, as one whose descriptors were closed does, was at its last game.

    `slots` are those whose batches are out.
    """
    playing = [slot for slot in slots if markers[slot, PID] > 0]
    handing_in = [slot for slot in slots if markers[slot, PID] < 0]
    at_work = [*playing, *handing_in]
    guilty = [slot for slot in at_work if abs(int(markers[slot, PID])) in dead] or playing or handing_in
    return [Suspect(int(markers[slot, GAME]), int(markers[slot, MOVER]) + 1) for slot in guilty]


def dead_among(markers: Markers) -> set[int]:
    """The workers with markers that exist no more."""
    return {pid for pid in map(abs, markers[:, PID].tolist()) if pid and not psutil.pid_exists(pid)}


LONGEST_STEP = 1.0
"""Seconds that count at most between two looks: in the others the watch itself may have been stopped, or the machine
asleep."""


class StallDetector:
    """Sees from the markers how long compiled code has been at the same move. It costs the workers nothing.

    User code that runs interpreted is not its business: it plays in a child process, which the worker ends by itself.
    """

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
        """Seconds for which the same move has been on, for each of these slots in which compiled code plays."""
        now = self._clock()
        step, self._looked = min(now - self._looked, LONGEST_STEP), now
        for slot in slots:
            seen = self._markers[slot].tolist()
            self._silent[slot] = self._silent.get(slot, 0.0) + step if self._seen.get(slot) == seen else 0.0
            self._seen[slot] = seen
        return {slot: self._silent[slot] for slot in slots if self._seen[slot][COMPILED]}
