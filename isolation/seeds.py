"""Reproducible randomness: the splitmix64 generator, the same in Python and in compiled code.

Steele, Lea & Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014.
"""

from __future__ import annotations

from collections.abc import Callable

_WORD = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15


def mix(state: int) -> int:
    """64 well-mixed bits of a 64-bit number."""
    state &= _WORD
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & _WORD
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB & _WORD
    return state ^ (state >> 31)


def random_bits(seed: int) -> Callable[[], int]:
    """A source of 63 random bits a call."""
    state = seed & _WORD

    def draw() -> int:
        nonlocal state
        state = (state + _STEP) & _WORD
        return mix(state) >> 1

    return draw


def move_seed(game_seed: int, ply: int) -> int:
    """The seed of the choice made at a ply (0 for the first placement) of a game."""
    return mix(game_seed ^ mix((ply + 1) * _STEP))
