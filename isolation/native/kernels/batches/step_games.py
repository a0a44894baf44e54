"""Play one move in each of many games in one call, and keep up what learning agents see of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64, uint64

from knights_isolation.isolation.native.bitboards import lowest
from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.kernels.placeholders import COLUMNS, ROWS
from knights_isolation.isolation.native.kernels.player_calls import int64s_at, uint64s_at
from knights_isolation.isolation.native.kernels.workspace import uint8s_at
from knights_isolation.isolation.rules.geometry import full_mask, knight_masks

CELLS = ROWS * COLUMNS
WORD = 64
ONES = (1 << WORD) - 1
EMPTY_LOW, EMPTY_HIGH = uint64(full_mask(ROWS, COLUMNS) & ONES), uint64(full_mask(ROWS, COLUMNS) >> WORD)
NEAR_LOW = np.array([mask & ONES for mask in knight_masks(ROWS, COLUMNS)], np.uint64)
NEAR_HIGH = np.array([mask >> WORD for mask in knight_masks(ROWS, COLUMNS)], np.uint64)
BLANK, OWN, OTHER, MOVES = 0, CELLS, 2 * CELLS, 3 * CELLS
PLANES = 4 * CELLS


@inner
def fill(planes: Any, first: int, value: int) -> None:
    """Set a whole plane."""
    for cell in range(CELLS):
        planes[first + cell] = value


@inner
def mark(planes: Any, first: int, low: int, high: int, value: int) -> None:
    """Set some cells of a plane, given in two words."""
    while low != uint64(0):
        planes[first + lowest(low)] = value
        low &= low - uint64(1)
    while CELLS > WORD and high != uint64(0):
        planes[first + WORD + lowest(high)] = value
        high &= high - uint64(1)


@inner
def show_new_game(planes: Any, first: int) -> None:
    """Write the planes of an empty board."""
    fill(planes, first + BLANK, 1)
    fill(planes, first + OWN, 0)
    fill(planes, first + OTHER, 0)
    fill(planes, first + MOVES, 1)


@inner
def move_knights(planes: Any, first: int, own: int, other: int, cell: int) -> None:
    """Update the planes of cells after the player on `own` has gone to a cell and the one on `other` is to move."""
    planes[first + BLANK + cell] = 0
    if own >= 0:
        planes[first + OWN + own] = 0
    if other >= 0:
        planes[first + OWN + other] = 1
        planes[first + OTHER + other] = 0
    planes[first + OTHER + cell] = 1


@inner
def bit_of(cell: int, word: int) -> int:
    """The bit of a cell in the low (0) or the high word (1)."""
    return uint64(1) << uint64(cell & (WORD - 1)) if cell >> 6 == word else uint64(0)


@inner
def first_illegal(cells: Any, moves: Any, count: int) -> int:
    """The first game whose move is illegal, -1 if there is none."""
    for i in range(count):
        cell = cells[i]
        if cell < 0 or cell >= CELLS:
            return i
        if moves[2 * i] & bit_of(cell, 0) == uint64(0) and moves[2 * i + 1] & bit_of(cell, 1) == uint64(0):
            return i
    return -1


@inner
def entry(table: int, count: int) -> float:
    """Play a move in every game, and begin games that it ends anew; unless a move is illegal, whose game is returned.

    `table` is the address of the addresses of these columns, by game: the moves to play (int64), blank cells and the
    moves of the side to move in two words each (uint64), the cells of the side to move and of its opponent, -1 before
    they are placed (int64), the plies played (int64), whether the move ended the game (to be filled, uint8), and the
    planes of blank cells, own knight, other knight and moves (uint8), or 0. Returns -1 if all moves were legal.
    """
    addresses, games = int64s_at(int64(table)), int64(count)
    cells, blank, moves = int64s_at(addresses[0]), uint64s_at(addresses[1]), uint64s_at(addresses[2])
    knights, plies = int64s_at(addresses[3]), int64s_at(addresses[4])
    done, planes, is_shown = uint8s_at(addresses[5]), uint8s_at(addresses[6]), addresses[6] != 0
    illegal = first_illegal(cells, moves, games)
    if illegal >= 0:
        return float(illegal)
    for i in range(games):
        cell, ply, own, other = cells[i], plies[i] + 1, knights[2 * i], knights[2 * i + 1]
        low, high = blank[2 * i] & ~bit_of(cell, 0), blank[2 * i + 1] & ~bit_of(cell, 1)
        reach_low, reach_high = low, high
        if ply >= 2:
            reach_low, reach_high = low & NEAR_LOW[uint64(other)], high & NEAR_HIGH[uint64(other)]
        over = (reach_low | reach_high) == uint64(0)
        done[i] = over
        first = i * PLANES
        if over:
            low, high, reach_low, reach_high = EMPTY_LOW, EMPTY_HIGH, EMPTY_LOW, EMPTY_HIGH
            ply, own, other, cell = 0, -1, -1, -1
            if is_shown:
                show_new_game(planes, first)
        elif is_shown:
            move_knights(planes, first, own, other, cell)
            if ply > 2:
                mark(planes, first + MOVES, moves[2 * i], moves[2 * i + 1], 0)
            elif ply == 2:
                fill(planes, first + MOVES, 0)
            else:
                planes[first + MOVES + cell] = 0
            if ply >= 2:
                mark(planes, first + MOVES, reach_low, reach_high, 1)
        blank[2 * i], blank[2 * i + 1], moves[2 * i], moves[2 * i + 1] = low, high, reach_low, reach_high
        knights[2 * i], knights[2 * i + 1], plies[i] = other, cell, ply
    return -1.0
