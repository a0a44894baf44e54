"""Pack positions given by their moves into sets of blank cells, in one call."""

from __future__ import annotations

from numba import int64, uint64

from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.kernels.placeholders import COLUMNS, ROWS
from knights_isolation.isolation.native.kernels.player_calls import int16s_at, int64s_at, uint64s_at

WORD = 64


@inner
def entry(moves: int, starts: int, count: int, low: int, high: int, own: int, other: int) -> float:
    """The blank cells of every position, and the cells of the side to move and of its opponent.

    All arguments but `count`, the number of positions, are addresses. Given are the cells of all positions, one after
    another (int16), and where each begins (int64, and an end). To be filled are the blank cells in two words (uint64)
    and the cells (int64).
    """
    moves_, starts_ = int16s_at(int64(moves)), int64s_at(int64(starts))
    low_, high_, own_, other_ = uint64s_at(low), uint64s_at(high), int64s_at(own), int64s_at(other)
    cells = ROWS * COLUMNS
    ones = ~uint64(0)
    everywhere_low = ones if cells >= WORD else (uint64(1) << uint64(cells)) - uint64(1)
    beyond = cells - WORD
    everywhere_high = (
        uint64(0) if beyond <= 0 else ones if beyond == WORD else (uint64(1) << uint64(beyond)) - uint64(1)
    )
    for i in range(count):
        visited_low, visited_high = uint64(0), uint64(0)
        for j in range(starts_[i], starts_[i + 1]):
            bit = uint64(1) << uint64(moves_[j] & (WORD - 1))
            if moves_[j] < WORD:
                visited_low |= bit
            else:
                visited_high |= bit
        low_[i], high_[i] = everywhere_low & ~visited_low, everywhere_high & ~visited_high
        own_[i], other_[i] = moves_[starts_[i + 1] - 2], moves_[starts_[i + 1] - 1]
    return 0.0
