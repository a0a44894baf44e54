"""Whole games between two compiled players, many in one call."""

from __future__ import annotations

from numba import int64, njit, uint64

from isolation.native.bits import is_empty
from isolation.native.kernels.calling import (
    ADDRESS,
    BUDGET,
    CLOCK,
    DEPTH_LIMIT,
    FLAGS,
    LATE_AFTER,
    NODE_LIMIT,
    call_player,
)
from isolation.native.kernels.desk import DEPTH, EXACT, FAILED, MOVE, NANOSECONDS, NODES, desk_at, mix
from isolation.native.kernels.open_names import COLUMNS, ROWS
from isolation.native.position import location_of, make_position, moves_from
from isolation.outcome import Reason
from isolation.seeds import STEP

NO_MOVES, TIMEOUT, ERROR = int(Reason.NO_MOVES), int(Reason.TIMEOUT), int(Reason.ERROR)


@njit(cache=True)
def play_games(openings, starts, seeds, players, address, note, games, plies):  # type: ignore[no-untyped-def]
    """Play one game from every opening.

    Args:
        openings: int64, the openings' cells one after another, two plies or more each.
        starts: int64[n + 1], where each opening begins.
        seeds: uint64[n], the games' seeds.
        players: int64[2, 7], the compiled players; the first places first.
        address: of a desk.
        note: int64[2], where the game and the mover being played are noted.
        games: (winner int8[n], reason int8[n], ends int64[n]) to fill; `ends` counts plies up to each game's end.
        plies: (moves int16, score float64, depth int16, nodes int64, time_us int64, exact bool) to fill, one entry a
            ply, games one after another, openings included.
    """
    winner, reason, ends = games
    moves, scores, depths, nodes, times, exact = plies
    desk = desk_at(address)
    at = 0
    for game in range(len(starts) - 1):
        blank = [uint64(0), uint64(0)]
        for cell in range(ROWS * COLUMNS):
            blank[cell >> 6] |= uint64(1) << uint64(cell & 63)
        cells = [int64(-1), int64(-1)]
        turn = 0
        for index in range(starts[game], starts[game + 1]):
            cell = openings[index]
            moves[at], scores[at], depths[at], nodes[at], times[at], exact[at] = cell, float("nan"), 0, 0, 0, False
            blank[cell >> 6] &= ~(uint64(1) << uint64(cell & 63))
            cells[turn] = cell
            turn = 1 - turn
            at += 1
        ply = starts[game + 1] - starts[game]
        while True:
            player = players[turn]
            note[0], note[1] = game, turn
            position = make_position(ROWS, COLUMNS, blank[0], blank[1], cells[0], cells[1], int64(turn))
            if is_empty(moves_from(position, location_of(position, int64(turn)))):
                why = NO_MOVES
                break
            seed = mix(seeds[game] ^ mix(uint64(ply + 1) * uint64(STEP)))
            score = call_player(
                player[ADDRESS], blank[0], blank[1], cells[turn], cells[1 - turn], player[DEPTH_LIMIT],
                player[NODE_LIMIT], player[CLOCK], player[BUDGET], player[FLAGS], int64(seed), int64(address),
            )  # fmt: skip
            if desk[FAILED] != 0:
                why = ERROR
                break
            if desk[NANOSECONDS] > player[LATE_AFTER]:
                why = TIMEOUT
                break
            cell = desk[MOVE]
            moves[at], scores[at], depths[at] = cell, score + 0.0, desk[DEPTH]
            nodes[at], times[at], exact[at] = desk[NODES], desk[NANOSECONDS] // 1000, desk[EXACT] != 0
            blank[cell >> 6] &= ~(uint64(1) << uint64(cell & 63))
            cells[turn] = cell
            turn = 1 - turn
            ply += 1
            at += 1
        winner[game], reason[game], ends[game] = 2 - turn, why, at
