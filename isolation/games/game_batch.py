"""Batches of finished games as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..rules.outcome import Reason


@dataclass(frozen=True)
class GameBatch:
    """n finished games as columns; the plies of all games are concatenated, and split by `offsets`.

    Attributes:
        winner: int8[n], 1 or 2.
        reason: int8[n], numbers of `Reason`.
        detail: n strings, mostly empty.
        offsets: int64[n + 1]; game i has the plies offsets[i] to offsets[i + 1].
        moves, score, depth, nodes, time_us, exact: one entry per ply, see `GameRecord`.
    """

    winner: NDArray[np.int8]
    reason: NDArray[np.int8]
    detail: list[str]
    offsets: NDArray[np.int64]
    moves: NDArray[np.int16]
    score: NDArray[np.float64]
    depth: NDArray[np.int16]
    nodes: NDArray[np.int64]
    time_us: NDArray[np.int64]
    exact: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.winner)

    @property
    def is_forfeit(self) -> NDArray[np.bool_]:
        """Whether the loser failed, for each game; see `Reason.is_forfeit`."""
        return np.array([reason.is_forfeit for reason in Reason])[self.reason]

    def taken(self, indices: NDArray[np.int64]) -> GameBatch:
        """Return the games at these indices, in this order."""
        lengths = np.diff(self.offsets)[indices]
        offsets = np.append(0, lengths.cumsum())
        plies = np.arange(offsets[-1]) + np.repeat(self.offsets[indices] - offsets[:-1], lengths)
        columns = {name: getattr(self, name)[indices] for name in _BY_GAME}
        columns |= {name: getattr(self, name)[plies] for name in BY_PLY}
        return GameBatch(**columns, detail=[self.detail[index] for index in indices.tolist()], offsets=offsets)


_BY_GAME = ("winner", "reason")
BY_PLY = ("moves", "score", "depth", "nodes", "time_us", "exact")


def concatenate(parts: Sequence[GameBatch]) -> GameBatch:
    """Concatenate one or more batches."""
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in (*_BY_GAME, *BY_PLY)}
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    details = [text for part in parts for text in part.detail]
    return GameBatch(**columns, offsets=np.append(0, lengths.cumsum()), detail=details)
