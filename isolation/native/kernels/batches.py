"""Kernels for many positions or games in one call, and calls of compiled players by their addresses.

A deterministic player's answers can be recalled from a memory, a table of fixed size. A question has one slot, by a
hash, and all of it is compared: an answer is that of another question never, lost to a later one at worst.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import int64, types, uint64
from numba.extending import intrinsic

from knights_isolation.isolation.native import layout as on_desk
from knights_isolation.isolation.native.bitboards import is_empty, lowest
from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.extern_heuristic import score
from knights_isolation.isolation.native.kernels import workspace
from knights_isolation.isolation.native.kernels.placeholders import COLUMNS, ROWS
from knights_isolation.isolation.native.kernels.workspace import float64s_at, int8s_at, int16s_at, int64s_at, uint64s_at
from knights_isolation.isolation.native.layout import DEPTH, EXACT, FAILED, MOVE, NANOSECONDS, NODES
from knights_isolation.isolation.native.position import make_position, moves_from
from knights_isolation.isolation.rules.game import Reason
from knights_isolation.isolation.rules.geometry import full_mask, knight_masks
from knights_isolation.isolation.rules.seeds import STEP

# A compiled player is a row of nine numbers, of which the last is its number in a memory, 0 without one.
ADDRESS, DEPTH_LIMIT, NODE_LIMIT, CLOCK, BUDGET, FLAGS, LATE_AFTER, PARAMETERS, NUMBER = range(9)
PLAYER_ROW = 9
_ARGUMENTS = [types.uint64, types.uint64, *[types.int64] * 10]
BITS_OF_A_CELL = 7
NO_ANSWER = -1
NO_MOVES, TIMEOUT, ERROR = int(Reason.NO_MOVES), int(Reason.TIMEOUT), int(Reason.ERROR)
CELLS, WORD = ROWS * COLUMNS, 64
ONES = (1 << WORD) - 1
EMPTY_LOW, EMPTY_HIGH = uint64(full_mask(ROWS, COLUMNS) & ONES), uint64(full_mask(ROWS, COLUMNS) >> WORD)
NEAR_LOW = np.array([mask & ONES for mask in knight_masks(ROWS, COLUMNS)], np.uint64)
NEAR_HIGH = np.array([mask >> WORD for mask in knight_masks(ROWS, COLUMNS)], np.uint64)
BLANK, OWN, OTHER, MOVES = 0, CELLS, 2 * CELLS, 3 * CELLS
PLANES = 4 * CELLS


@intrinsic
def _call(
    typingctx: Any, address: Any, low: Any, high: Any, own: Any, other: Any, depth: Any, nodes: Any, clock: Any,
    budget: Any, flags: Any, seed: Any, desk: Any, parameters: Any,
) -> Any:  # fmt: skip

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = [ir.IntType(64)] * len(_ARGUMENTS)
        function = builder.inttoptr(args[0], ir.FunctionType(ir.DoubleType(), kinds).as_pointer())
        return builder.call(function, args[1:])

    return types.float64(types.int64, *_ARGUMENTS), codegen


@inner
def ask(players: Any, row: int, low: int, high: int, own: int, other: int, seed: int, address: int) -> float:
    """Ask the player whose numbers begin at `row` for a move; return the score, and write the rest on the desk."""
    return _call(
        players[row + ADDRESS], low, high, own, other, players[row + DEPTH_LIMIT], players[row + NODE_LIMIT],
        players[row + CLOCK], players[row + BUDGET], players[row + FLAGS], int64(seed), address,
        players[row + PARAMETERS],
    )  # fmt: skip


@inner
def ask_or_recall(
    players: Any, row: int, memory: int, low: int, high: int, own: int, other: int, seed: int, address: int
) -> float:
    """`ask`; a player that has a number in the memory is asked only for what is not in it.

    The answers lie on the desk either way, the nanoseconds those of the search when it was made.
    """
    who = players[row + NUMBER]
    if who == 0:
        return ask(players, row, low, high, own, other, seed, address)
    desk, numbers, scores = int64s_at(address), int64s_at(memory), float64s_at(memory)
    cells = own << BITS_OF_A_CELL | other
    asked = workspace.mix(uint64(who << 2 * BITS_OF_A_CELL | cells))
    slot = on_desk.SLOT * int64(workspace.mix(low ^ workspace.mix(high ^ asked)) & uint64(on_desk.SLOTS - 1))
    at = slot + on_desk.ANSWER
    if (
        numbers[slot + on_desk.WHO] == who
        and numbers[slot + on_desk.LOW] == int64(low)
        and numbers[slot + on_desk.HIGH] == int64(high)
        and numbers[slot + on_desk.CELLS] == cells
    ):
        desk[FAILED] = 0
        desk[MOVE], desk[DEPTH], desk[NODES] = numbers[at], numbers[at + 2], numbers[at + 3]
        desk[NANOSECONDS], desk[EXACT] = numbers[at + 4], numbers[at + 5]
        return scores[at + 1]
    score = ask(players, row, low, high, own, other, seed, address)
    if desk[FAILED] == 0:
        numbers[slot + on_desk.WHO], numbers[slot + on_desk.CELLS] = who, cells
        numbers[slot + on_desk.LOW], numbers[slot + on_desk.HIGH] = int64(low), int64(high)
        numbers[at], scores[at + 1], numbers[at + 2] = desk[MOVE], score, desk[DEPTH]
        numbers[at + 3], numbers[at + 4] = desk[NODES], desk[NANOSECONDS]
        numbers[at + 5] = desk[EXACT]
    return score


@inner
def bit_of(cell: int, word: int) -> int:
    """The bit of a cell in the low (0) or the high word (1)."""
    return uint64(1) << uint64(cell & (WORD - 1)) if cell >> 6 == word else uint64(0)


@inner
def play_games(
    openings: int, starts: int, seeds: int, count: int, players: int, sides: int, memory: int, address: int,
    marks: int, marker: int, winner: int, reason: int, ends: int,
    moves: int, scores: int, depths: int, nodes: int, times: int, exact: int,
) -> float:  # fmt: skip
    """Play one game from every opening. All arguments but `count`, the number of games, are addresses.

    Given are the openings' cells one after another, two plies or more each (int64), where each begins
    (int64[count + 1]), the games' seeds (uint64[count]), the players (int64[players, 9]), which of them places first
    and second (int64[count, 2]), a memory (0 without one), a desk, what to note of each game while it is played
    (int64[count]), and where to note that, its mover and its ply (int64[3]). To be filled are, by game, the
    winner and the reason (int8) and the count of plies up to its end (int64); by ply, games one after another, openings
    included, the move (int16), score (float64), depth (int16), nodes, microseconds (int64), and whether it is exact
    (int8).
    """
    openings_, starts_, seeds_ = int64s_at(int64(openings)), int64s_at(int64(starts)), uint64s_at(seeds)
    players_, sides_, desk = int64s_at(players), int64s_at(sides), int64s_at(address)
    marks_, marker_ = int64s_at(marks), int64s_at(marker)
    winner_, reason_, ends_ = int8s_at(winner), int8s_at(reason), int64s_at(ends)
    moves_, scores_, depths_ = int16s_at(moves), float64s_at(scores), int16s_at(depths)
    nodes_, times_, exact_ = int64s_at(nodes), int64s_at(times), int8s_at(exact)
    at = 0
    for game in range(count):
        low, high = EMPTY_LOW, EMPTY_HIGH
        own, other, turn = int64(-1), int64(-1), 0
        for index in range(starts_[game], starts_[game + 1]):
            cell = openings_[index]
            moves_[at], scores_[at], depths_[at] = cell, float("nan"), 0
            nodes_[at], times_[at], exact_[at] = 0, 0, 0
            low, high = low & ~bit_of(cell, 0), high & ~bit_of(cell, 1)
            own, other, turn = other, cell, 1 - turn
            at += 1
        ply = starts_[game + 1] - starts_[game]
        while True:
            row = PLAYER_ROW * sides_[2 * game + turn]
            marker_[0], marker_[1], marker_[2] = marks_[game], turn, ply
            position = make_position(ROWS, COLUMNS, low, high, own, other, 0)
            if is_empty(moves_from(position, own)):
                why = NO_MOVES
                break
            seed = workspace.mix(seeds_[game] ^ workspace.mix(uint64(ply + 1) * uint64(STEP)))
            score = ask_or_recall(players_, row, memory, low, high, own, other, seed, address)
            if desk[FAILED] != 0:
                why = ERROR
                break
            if desk[NANOSECONDS] > players_[row + LATE_AFTER]:
                why = TIMEOUT
                break
            cell = desk[MOVE]
            moves_[at], scores_[at], depths_[at] = cell, score + 0.0, desk[DEPTH]
            nodes_[at], times_[at], exact_[at] = desk[NODES], desk[NANOSECONDS] // 1000, desk[EXACT] != 0
            low, high = low & ~bit_of(cell, 0), high & ~bit_of(cell, 1)
            own, other, turn = other, cell, 1 - turn
            ply += 1
            at += 1
        winner_[game], reason_[game], ends_[game] = 2 - turn, why, at
    return 0.0


@inner
def choose_moves(
    low: int, high: int, own: int, other: int, seeds: int, count: int, player: int, address: int,
    cells: int, failure: int, nodes: int, nanoseconds: int,
) -> float:  # fmt: skip
    """Ask a player once in every position, in each of which the side to move has a move.

    All arguments but `count`, the number of positions, are addresses. Given are the blank cells in two words (uint64),
    the cells of the side to move and of its opponent (int64), the moves' seeds (uint64), the player (int64[9]), and a
    desk. To be filled are the move (int16), the number of a `Reason` where the player was late or raised an exception,
    and the move is -1, otherwise 0 (int8), nodes and nanoseconds (int64).
    """
    low_, high_, seeds_ = uint64s_at(int64(low)), uint64s_at(int64(high)), uint64s_at(seeds)
    own_, other_, player_, desk = int64s_at(own), int64s_at(other), int64s_at(player), int64s_at(address)
    cells_, failure_ = int16s_at(cells), int8s_at(failure)
    nodes_, nanoseconds_ = int64s_at(nodes), int64s_at(nanoseconds)
    for i in range(count):
        ask(player_, 0, low_[i], high_[i], own_[i], other_[i], seeds_[i], address)
        nodes_[i], nanoseconds_[i] = desk[NODES], desk[NANOSECONDS]
        why = 0
        if desk[FAILED] != 0:
            why = ERROR
        elif desk[NANOSECONDS] > player_[LATE_AFTER]:
            why = TIMEOUT
        failure_[i] = why
        cells_[i] = NO_ANSWER if why != 0 else desk[MOVE]
    return 0.0


@inner
def evaluate_many(
    low: int, high: int, cells_0: int, cells_1: int, turns: int, players: int, count: int, address: int,
    parameters: int, values: int,
) -> float:  # fmt: skip
    """The heuristic's value of every position to a player; an exception ends the call and stays on the desk as FAILED.

    All arguments but `count`, the number of positions, are addresses. Given are the blank cells in two words (uint64),
    the players' cells, whose turn it is, and whom to value it for (int64), a desk, and the heuristic's parameters
    (float64). To be filled are the values (float64).
    """
    low_, high_, values_ = uint64s_at(int64(low)), uint64s_at(int64(high)), float64s_at(values)
    own_, other_, turns_, players_ = int64s_at(cells_0), int64s_at(cells_1), int64s_at(turns), int64s_at(players)
    desk = int64s_at(address)
    desk[FAILED] = 1
    for i in range(count):
        position = make_position(ROWS, COLUMNS, low_[i], high_[i], own_[i], other_[i], turns_[i])
        values_[i] = float(score(position, players_[i], parameters))
    desk[FAILED] = 0
    return 0.0


@inner
def pack_positions(moves: int, starts: int, count: int, low: int, high: int, own: int, other: int) -> float:
    """The blank cells of every position, and the cells of the side to move and of its opponent.

    All arguments but `count`, the number of positions, are addresses. Given are the cells of all positions, one after
    another (int16), and where each begins (int64, and an end). To be filled are the blank cells in two words (uint64)
    and the cells (int64).
    """
    moves_, starts_ = int16s_at(int64(moves)), int64s_at(int64(starts))
    low_, high_, own_, other_ = uint64s_at(low), uint64s_at(high), int64s_at(own), int64s_at(other)
    for i in range(count):
        visited_low, visited_high = uint64(0), uint64(0)
        for j in range(starts_[i], starts_[i + 1]):
            visited_low |= bit_of(moves_[j], 0)
            visited_high |= bit_of(moves_[j], 1)
        low_[i], high_[i] = EMPTY_LOW & ~visited_low, EMPTY_HIGH & ~visited_high
        own_[i], other_[i] = moves_[starts_[i + 1] - 2], moves_[starts_[i + 1] - 1]
    return 0.0


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
def step_games(table: int, count: int) -> float:
    """Play a move in every game, and begin games that it ends anew; unless a move is illegal, whose game is returned.

    `table` is the address of the addresses of these columns, by game: the moves to play (int64), blank cells and the
    moves of the side to move in two words each (uint64), the cells of the side to move and of its opponent, -1 before
    they are placed (int64), the plies played (int64), whether the move ended the game (to be filled, uint8), and the
    planes of blank cells, own knight, other knight and moves (uint8), or 0. Returns -1 if all moves were legal.
    """
    addresses, games = int64s_at(int64(table)), int64(count)
    cells, blank, moves = int64s_at(addresses[0]), uint64s_at(addresses[1]), uint64s_at(addresses[2])
    knights, plies = int64s_at(addresses[3]), int64s_at(addresses[4])
    done, planes, is_shown = workspace.uint8s_at(addresses[5]), workspace.uint8s_at(addresses[6]), addresses[6] != 0
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
