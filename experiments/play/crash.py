"""Whose fault it is that a worker died: notes in shared memory of which game, and which mover, each batch is at.

A dead worker takes the whole joblib pool with it, and the batches of the others as well. The notes lie in a file that
parent and workers map, so that they outlive any of them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.schedule import Ids

Notes = NDArray[np.int64]

PID, GROUP, GAME, MOVER = range(4)
"""What a note says: the worker (0: none), which of the batch's groups, which game of that group, whose move (0, 1)."""


@dataclass(frozen=True)
class Suspect:
    """A game that was being played when its worker died, and the player (1 or 2) who was to move."""

    game_id: int
    mover: int


def create_notes(path: Path, slots: int) -> Notes:
    """A file of blank notes, one row for each batch that may be out at a time."""
    return np.memmap(path, np.int64, "w+", shape=(slots, 4))


def open_notes(path: Path, slots: int) -> Notes:
    """The notes another process made."""
    return np.memmap(path, np.int64, "r+", shape=(slots, 4))


def find_suspects(notes: Notes, batches: Mapping[int, list[Ids]], dead: set[int]) -> list[Suspect]:
    """The games that workers were at; those of the dead workers only, if it is known which died first.

    `batches` has, for each slot that is out, the groups of games of its batch.
    """
    playing = [slot for slot in batches if notes[slot, PID]]
    guilty = [slot for slot in playing if int(notes[slot, PID]) in dead] or playing
    return [_suspect(notes[slot], batches[slot]) for slot in guilty]


def _suspect(note: NDArray[np.int64], batch: list[Ids]) -> Suspect:
    return Suspect(int(batch[note[GROUP]][note[GAME]]), int(note[MOVER]) + 1)


def dead_among(notes: Notes) -> set[int]:
    """The workers with notes that exist no more."""
    return {int(pid) for pid in notes[:, PID] if pid and not _exists(int(pid))}


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
