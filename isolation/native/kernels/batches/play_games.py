"""Play many games between compiled players in one call."""

from __future__ import annotations

from numba import int64, uint64

from knights_isolation.isolation.native.bitboards import is_empty
from knights_isolation.isolation.native.decorators import inner
from knights_isolation.isolation.native.kernels import player_calls
from knights_isolation.isolation.native.kernels.placeholders import COLUMNS, ROWS
from knights_isolation.isolation.native.kernels.player_calls import (
    float64s_at,
    int8s_at,
    int16s_at,
    int64s_at,
    uint64s_at,
)
from knights_isolation.isolation.native.kernels.workspace import mix
from knights_isolation.isolation.native.layout import DEPTH, EXACT, FAILED, MOVE, NANOSECONDS, NODES
from knights_isolation.isolation.native.position import make_position, moves_from
from knights_isolation.isolation.rules.outcome import Reason
from knights_isolation.isolation.rules.seeds import STEP

NO_MOVES, TIMEOUT, ERROR = int(Reason.NO_MOVES), int(Reason.TIMEOUT), int(Reason.ERROR)


@inner
def without(word: int, cell: int, first: int) -> int:
    """One of the two words of blank cells, whose lowest bit is the cell `first`, without a cell."""
    bit = cell - first
    return word & ~(uint64(1) << uint64(bit)) if 0 <= bit < 64 else word


@inner
def empty_board(first: int) -> int:
    """The word of blank cells whose lowest bit is the cell `first`, before any move."""
    word = uint64(0)
    for cell in range(first, min(first + 64, ROWS * COLUMNS)):
        word |= uint64(1) << uint64(cell - first)
    return word


@inner
def entry(
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
        low, high = empty_board(0), empty_board(64)
        own, other, turn = int64(-1), int64(-1), 0
        for index in range(starts_[game], starts_[game + 1]):
            cell = openings_[index]
            moves_[at], scores_[at], depths_[at] = cell, float("nan"), 0
            nodes_[at], times_[at], exact_[at] = 0, 0, 0
            low, high = without(low, cell, 0), without(high, cell, 64)
            own, other, turn = other, cell, 1 - turn
            at += 1
        ply = starts_[game + 1] - starts_[game]
        while True:
            row = player_calls.PLAYER_ROW * sides_[2 * game + turn]
            marker_[0], marker_[1], marker_[2] = marks_[game], turn, ply
            position = make_position(ROWS, COLUMNS, low, high, own, other, 0)
            if is_empty(moves_from(position, own)):
                why = NO_MOVES
                break
            seed = mix(seeds_[game] ^ mix(uint64(ply + 1) * uint64(STEP)))
            score = player_calls.ask_or_recall(players_, row, memory, low, high, own, other, seed, address)
            if desk[FAILED] != 0:
                why = ERROR
                break
            if desk[NANOSECONDS] > players_[row + player_calls.LATE_AFTER]:
                why = TIMEOUT
                break
            cell = desk[MOVE]
            moves_[at], scores_[at], depths_[at] = cell, score + 0.0, desk[DEPTH]
            nodes_[at], times_[at], exact_[at] = desk[NODES], desk[NANOSECONDS] // 1000, desk[EXACT] != 0
            low, high = without(low, cell, 0), without(high, cell, 64)
            own, other, turn = other, cell, 1 - turn
            ply += 1
            at += 1
        winner_[game], reason_[game], ends_[game] = 2 - turn, why, at
    return 0.0
