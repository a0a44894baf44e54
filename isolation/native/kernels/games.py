"""Whole games between two compiled players, many in one call."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import boolean, float64, int8, int16, int64, njit, types, uint64
from numba.extending import intrinsic

from isolation.native.bits import is_empty
from isolation.native.kernels.desk import DEPTH, EXACT, FAILED, MOVE, NANOSECONDS, NODES, desk_at, mix
from isolation.native.kernels.open_names import COLUMNS, ROWS
from isolation.native.kernels.signature import ENTRY
from isolation.native.position import location_of, make_position, moves_from
from isolation.outcome import Reason
from isolation.seeds import STEP

# A compiled player is a row of seven numbers.
ADDRESS, DEPTH_LIMIT, NODE_LIMIT, CLOCK, BUDGET, FLAGS, LATE_AFTER = range(7)
NO_MOVES, TIMEOUT, ERROR = int(Reason.NO_MOVES), int(Reason.TIMEOUT), int(Reason.ERROR)


@intrinsic
def call_player(
    typingctx: Any, address: Any, low: Any, high: Any, own: Any, other: Any, depth: Any, nodes: Any, clock: Any,
    budget: Any, flags: Any, seed: Any, desk: Any,
) -> Any:  # fmt: skip
    """Call a compiled player's entry by its address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = [ir.IntType(64)] * len(ENTRY.args)
        function = builder.inttoptr(args[0], ir.FunctionType(ir.DoubleType(), kinds).as_pointer())
        return builder.call(function, args[1:])

    return types.float64(types.int64, *ENTRY.args), codegen


_SIGNATURE = types.void(
    int64[::1],
    int64[::1],
    uint64[::1],
    int64[:, ::1],
    int64,
    int64[::1],
    types.Tuple((int8[::1], int8[::1], int64[::1])),
    types.Tuple((int16[::1], float64[::1], int16[::1], int64[::1], int64[::1], boolean[::1])),
)
"""Compiled when the module is loaded, as the library can only vouch for what there is by then."""


@njit(_SIGNATURE, cache=True)
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
