"""Cached moves of deterministic players: look up a move, or search for it.

The memory is a table of fixed size. A question has one slot, by a hash, and all of it is compared: an answer is that of
another question never, lost to a later one at worst.
"""

from __future__ import annotations

from typing import Any

from numba import int64, uint64

from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.kernels.player_calls import NUMBER, ask, float64s_at, int64s_at
from knights_isolation.isolation.native.kernels.workspace import mix
from knights_isolation.isolation.native.layout import (
    ANSWER,
    CELLS,
    DEPTH,
    EXACT,
    FAILED,
    HIGH,
    LOW,
    MOVE,
    NANOSECONDS,
    NODES,
    SLOT,
    SLOTS,
    WHO,
)

_BITS_OF_A_CELL = 7


@inner
def ask_or_recall(
    players: Any, row: int, memory: int, low: int, high: int, own: int, other: int, seed: int, address: int
) -> float:
    """`calling.ask`; a player that has a number in the memory is asked only for what is not in it.

    The answers lie on the desk either way, the nanoseconds those of the search when it was made.
    """
    who = players[row + NUMBER]
    if who == 0:
        return ask(players, row, low, high, own, other, seed, address)
    desk, numbers, scores = int64s_at(address), int64s_at(memory), float64s_at(memory)
    cells = own << _BITS_OF_A_CELL | other
    slot = SLOT * int64(mix(low ^ mix(high ^ mix(uint64(who << 2 * _BITS_OF_A_CELL | cells)))) & uint64(SLOTS - 1))
    at = slot + ANSWER
    if (
        numbers[slot + WHO] == who
        and numbers[slot + LOW] == int64(low)
        and numbers[slot + HIGH] == int64(high)
        and numbers[slot + CELLS] == cells
    ):
        desk[FAILED] = 0
        desk[MOVE], desk[DEPTH], desk[NODES] = numbers[at], numbers[at + 2], numbers[at + 3]
        desk[NANOSECONDS], desk[EXACT] = numbers[at + 4], numbers[at + 5]
        return scores[at + 1]
    score = ask(players, row, low, high, own, other, seed, address)
    if desk[FAILED] == 0:
        numbers[slot + WHO], numbers[slot + CELLS] = who, cells
        numbers[slot + LOW], numbers[slot + HIGH] = int64(low), int64(high)
        numbers[at], scores[at + 1], numbers[at + 2], numbers[at + 3] = desk[MOVE], score, desk[DEPTH], desk[NODES]
        numbers[at + 4], numbers[at + 5] = desk[NANOSECONDS], desk[EXACT]
    return score
