"""Memory layout and symbol names shared by kernels and their callers."""

from __future__ import annotations

import time

SCORE = "isolation_score"
"""The symbol of the heuristic in machine code, float64(position, player, parameters): float64s one after another."""

RANK = "isolation_rank"
"""The symbol of the rank of the heuristic's value: what searches compare, a whole number; see `compiling.linking`."""
WORTH = "isolation_worth"
"""The symbol of the float64 that a rank stands for."""
WON = (1 << 63) - 1
"""The rank of a won position, above those of all values; that of a lost one is its negative."""
NOT_A_NUMBER = -(1 << 63)
"""In place of a rank: the heuristic has failed."""

# A desk is one block of int64.
NODES, CHECKPOINT, NODE_LIMIT, CLOCK, DEADLINE, STRIDE, LAST_LOOK, STOPPED, HORIZON = range(9)
RANDOM, MOVE, DEPTH, EXACT, NANOSECONDS, FAILED, GIVEN_UP, PARAMETERS, LENGTH = range(9, 18)
MAX_PLY = 130
BEST_LENGTH = LENGTH + MAX_PLY
BEST_LINE = BEST_LENGTH + 1
LINE = BEST_LINE + MAX_PLY
DESK_SIZE = LINE + MAX_PLY * MAX_PLY

# A memory is SLOTS slots of int64, each with a question and what was answered: who was asked (0: nobody yet), the blank
# cells in two words, the cells of both players; the move, score, depth, nodes, nanoseconds, and whether it is exact.
SLOTS = 1 << 16
WHO, LOW, HIGH, CELLS, ANSWER = range(5)
SLOT = ANSWER + 6

STOP_ON_AGREEMENT = 1
RANDOM_TIES = 2

NO_LIMIT = 1 << 62
MOST_NODES = 1 << 24
"""Of the tree of best-first search, which takes 300 megabytes then; the search ends with it."""
# Systems that have no such clocks read runs and play nothing.
WALL_CLOCK: int = getattr(time, "CLOCK_MONOTONIC", -1)
CPU_CLOCK: int = getattr(time, "CLOCK_THREAD_CPUTIME_ID", -1)
