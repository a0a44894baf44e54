"""Speed of games in arrays, as ratios to `Board` in the same run.

Run with `make bench`, which prints steps a second and the ratios below the times.
"""

import time

import numpy as np
import pytest

from knights_isolation.isolation import Board
from knights_isolation.isolation.games.batches import solve_moves
from knights_isolation.isolation.games.learning import VectorGames

STEPS = 50
BOARDS = 20


def recorded(count, size):
    """Random moves of `STEPS` steps in `count` games."""
    rng, games, cells = np.random.default_rng(1), VectorGames(count, size), []
    for _ in range(STEPS):
        mask = games.mask()
        cells.append((rng.random(mask.shape, dtype=np.float32) * mask).argmax(axis=1))
        games.step(cells[-1])
    return cells


def board_seconds(cells, size):
    """Seconds a step of boards takes, with the observation and the end of the game."""
    started = time.perf_counter()
    for game in range(BOARDS):
        board = Board.from_moves([], size)
        for step in cells:
            board.play_cell(int(step[game]))
            if board.outcome():
                board = Board.from_moves([], size)
            board.observation()
    return (time.perf_counter() - started) / (BOARDS * len(cells))


@pytest.mark.parametrize("size", ["5x5", "7x7", "9x11"])
@pytest.mark.parametrize("observations", [True, False], ids=["planes", "bits"])
@pytest.mark.parametrize("count", [1024, 16384, 65536])
def test_steps_of_many_games(benchmark, size, count, observations):
    cells, games = recorded(count, size), VectorGames(count, size, observations=observations)

    def play():
        games.reset()
        for step in cells:
            games.step(step)

    benchmark.pedantic(play, rounds=5, warmup_rounds=1)
    seconds = benchmark.stats.stats.min / (STEPS * count)
    benchmark.extra_info |= {"M steps/s": 1e-6 / seconds, "over Board": board_seconds(cells, size) / seconds}


def test_a_step_of_one_game(benchmark):
    cells, games = recorded(1, "7x7"), VectorGames(1)

    def play():
        games.reset()
        for step in cells:
            games.step(step)

    benchmark(play)
    benchmark.extra_info["µs a call"] = benchmark.stats.stats.min / STEPS * 1e6


@pytest.mark.parametrize("ply", [14, 18, 22, 26])
def test_winning_moves_of_many_positions(benchmark, ply):
    games, rng = VectorGames(2000), np.random.default_rng(1)
    for _ in range(ply):
        mask = games.mask()
        games.step((rng.random(mask.shape) * mask).argmax(axis=1))
    states = games.states(games.plies == ply)
    benchmark.pedantic(solve_moves, (states,), rounds=3)
    benchmark.extra_info["µs a position"] = benchmark.stats.stats.min / len(states) * 1e6
