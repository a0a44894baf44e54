"""Code written for the classic engines, on our board and on boards like those engines', in one run.

The quantity is written beside each figure: microseconds, or nodes per second, and the ratio.
"""

import random
import time

import pytest

from benchmarks.comparators.classic import FirstBoard, SecondBoard
from knights_isolation.isolation import Board

MOVES = [(3, 3), (2, 0), (1, 2), (4, 1), (3, 1), (2, 2)]
CLASSIC = {"first": FirstBoard, "second": SecondBoard}
READS = {
    "an element of a first-edition row": ("first", lambda board: board.__board_state__[3][4]),
    "a first-edition location": ("first", lambda board: board.__last_player_move__["a"]),
    "an element of the flat state": ("second", lambda board: board._board_state[17]),
    "the flat state as text": ("second", lambda board: str(board._board_state)),
    "a child, and one of its elements": ("second", lambda board: board.forecast_move((3, 4))._board_state[17]),
    "a child's rows as text": ("first", lambda board: str(board.forecast_move((3, 4)).__board_state__)),
    "to_string, first": ("first", lambda board: board.to_string()),
    "to_string, second": ("second", lambda board: board.to_string()),
    "hash": ("second", lambda board: board.hash()),
}


def played(kind):
    """Return a board after some moves."""
    board = kind("a", "b")
    for move in MOVES:
        board.apply_move(move)
    return board


def cost(read, board, times=1000, rounds=7):
    """Return the minimum CPU time of a read in microseconds."""
    least = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        for _ in range(times):
            read(board)
        least = min(least, time.process_time() - started)
    return 1e6 * least / times


@pytest.mark.parametrize("what", READS)
def test_reading_private_state(benchmark, what):
    """Time to read the attributes that old players and tests read."""
    edition, read = READS[what]
    theirs = cost(read, played(CLASSIC[edition]))
    ours = benchmark.pedantic(cost, (read, played(Board)), rounds=1)
    benchmark.extra_info.update({"µs": ours, "classic µs": theirs, "ratio": ours / theirs})


def improved(game, player):
    """Heuristic of typical students' searches."""
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    return float(len(game.get_legal_moves(player)) - len(game.get_legal_moves(game.get_opponent(player))))


def alphabeta(game, depth, alpha, beta, is_own_turn, counted):
    """A typical student's search; `counted` counts nodes."""
    counted[0] += 1
    if depth == 0:
        return improved(game, "a")
    for move in game.get_legal_moves():
        value = alphabeta(game.forecast_move(move), depth - 1, alpha, beta, not is_own_turn, counted)
        alpha, beta = (max(alpha, value), beta) if is_own_turn else (alpha, min(beta, value))
        if alpha >= beta:
            break
    return alpha if is_own_turn else beta


def nodes_per_second(board, rounds=5):
    """Return the maximum nodes per second of CPU time."""
    most = 0.0
    for _ in range(rounds):
        random.seed(1)
        counted, started = [0], time.process_time()
        alphabeta(board, 4, float("-inf"), float("inf"), True, counted)
        most = max(most, counted[0] / (time.process_time() - started))
    return most


@pytest.mark.parametrize("edition", CLASSIC)
def test_searching_in_python(benchmark, edition):
    """A student's alpha-beta with `improved`, four plies deep."""
    theirs = nodes_per_second(played(CLASSIC[edition]))
    ours = benchmark.pedantic(nodes_per_second, (played(Board),), rounds=1)
    benchmark.extra_info.update({"nodes/s": ours, "classic nodes/s": theirs, "ratio": ours / theirs})
