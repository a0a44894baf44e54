"""Reproducible randomness: splitmix64, the same in Python, NumPy and compiled code.

Steele, Lea & Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SeedsBy = Literal["opponent", "agents"]
"""Inputs of a game's seed besides the opening: see `game_seeds`."""

STEP = 0x9E3779B97F4A7C15
"""Increment of the generator's state: 2^64 divided by the golden ratio."""

_WORD = (1 << 64) - 1


@overload
def splitmix64(state: int) -> int: ...


@overload
def splitmix64(state: NDArray[np.uint64]) -> NDArray[np.uint64]: ...


def splitmix64(state: Any) -> Any:
    """Mix the 64 bits of a number: an int, or each element of a uint64 array.

    Compiled code uses the same source with uint64, where truncation to 64 bits costs nothing.
    """
    state = state & _WORD
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & _WORD
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB & _WORD
    return state ^ (state >> 31)


def random_bits(seed: int) -> Callable[[], int]:
    """Return a function that returns 63 random bits per call."""
    state = seed & _WORD

    def draw() -> int:
        nonlocal state
        state = (state + STEP) & _WORD
        return splitmix64(state) >> 1

    return draw


def move_seed(game_seed: int, ply: int) -> int:
    """Return the seed of the choice made at a ply (0 for the first placement) of a game."""
    return splitmix64(game_seed ^ splitmix64((ply + 1) * STEP))


def mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return, for each number, the first output of a splitmix64 generator in that state."""
    return splitmix64(numbers + STEP)


def game_seeds(
    by: SeedsBy,
    seed: int,
    agents: Sequence[str],
    ids: NDArray[np.int64],
    players: NDArray[np.integer],
    opening_ids: NDArray[np.uint64],
) -> NDArray[np.uint64]:
    """Derive seeds of games from the run's seed, the openings, and the players by side.

    Args:
        by: which players enter the seed: the match's second agent, or both, as in runs of older versions.
        agents: names.
        ids: ids of the games; if even, the match's first agent moves first.
        players: indices in `agents`, one row per game, first mover first.
        opening_ids: see `openings.opening_ids`.
    """
    import numpy as np  # here, so that a process for a player starts without it

    digests = b"".join(hashlib.blake2b(name.encode(), digest_size=8).digest() for name in agents)
    keys = np.frombuffer(digests, "<u8").astype(np.uint64)[players]
    if by == "agents":
        return mixed(mixed(mixed(np.uint64(seed) ^ keys[:, 0]) ^ keys[:, 1]) ^ opening_ids)
    sides = ids % 2
    opponents = keys[np.arange(len(ids)), 1 - sides]
    return mixed(mixed(mixed(np.uint64(seed) ^ opponents) ^ sides.astype(np.uint64)) ^ opening_ids)
