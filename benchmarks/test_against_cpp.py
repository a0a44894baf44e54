"""The engine compared with equivalent C++ programs if there is a compiler: ratios of CPU time, measured in turns.

The programs of `comparators/` read positions, one line each of the row-major cells played so far, and print CPU
seconds.
"""

import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from knights_isolation import heuristics
from knights_isolation.isolation import Board, Limit, solve
from knights_isolation.isolation.checks.search_cost import random_openings
from knights_isolation.isolation.games.batches import Positions, choose_moves
from knights_isolation.isolation.rules.game import parse_size
from knights_isolation.isolation.rules.geometry import canonical_opening
from knights_isolation.isolation.search.agents import SearchAgent
from knights_isolation.isolation.search.solver import SearchBudget

COMPARATORS = Path(__file__).parent / "comparators"
PAIRS = random_openings(60, 2)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the compiled comparators."""
    compiler = next(filter(None, map(shutil.which, ("g++", "clang++"))), None)
    if compiler is None:
        pytest.skip("there is no C++ compiler here")
    folder = tmp_path_factory.mktemp("comparators")
    for name in ("alphabeta", "solver"):
        options = ["-O3", "-march=native", "-std=c++20"]
        subprocess.run([compiler, *options, COMPARATORS / f"{name}.cpp", "-o", folder / name], check=True)
    return folder


def run(command: list[str | Path], positions: list[tuple[int, ...]]) -> tuple[int, float]:
    """Return the nodes and CPU seconds of a comparator."""
    text = "\n".join(" ".join(map(str, moves)) for moves in positions)
    out = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    nodes, _, seconds, *_ = out.splitlines()[-1].split()
    return int(nodes), float(seconds)


def cpu_seconds_of(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


def in_turns(benchmark, ours: Callable[[], object], theirs: Callable[[], float], rounds: int, best_of: int = 1) -> None:
    """Return the median ratio of our CPU seconds to theirs, measured repeatedly in turns.

    Each of our turns is the best of as many runs as theirs: the first one is slower, since the other program ran
    before.
    """
    ours()
    ratios = [min(cpu_seconds_of(ours) for _ in range(best_of)) / theirs() for _ in range(rounds)]
    benchmark.extra_info["CPU time over C++"] = statistics.median(ratios)
    benchmark.pedantic(ours, rounds=1)


@pytest.mark.parametrize(
    ("size", "plies", "depth", "count"),
    [("7x7", 2, 9, 60), ("7x7", 2, 10, 60), ("7x7", 2, 11, 60), ("7x7", 8, 9, 240), ("9x11", 2, 9, 60)],
)
def test_alpha_beta(benchmark, programs, size, plies, depth, count):
    """The searches alone, as games and batches run them; a call from Python takes as long as 3,000 nodes."""
    openings = random_openings(count, plies, parse_size(size))
    positions, seeds = Positions.of(openings, size), np.zeros(len(openings), np.uint64)
    agent = SearchAgent("AB", "alphabeta", heuristics.get("improved"), "improved", Limit(depth=depth))

    def ours() -> int:
        return int(choose_moves(agent, positions, seeds).nodes.sum())

    nodes, _ = run([programs / "alphabeta", size, str(depth)], openings)
    assert ours() == nodes
    in_turns(
        benchmark, ours, lambda: run([programs / "alphabeta", size, str(depth)], openings)[1], rounds=25, best_of=3
    )


def test_winners_of_all_classes_of_openings(benchmark, programs):
    pairs = sorted({canonical_opening(pair, 7, 7) for pair in permutations(range(49), 2)})
    boards = [board for pair in pairs if (board := Board.from_moves(pair)).legal_cells()]

    def ours() -> None:
        for board in boards:
            SearchBudget().search(board, None)

    in_turns(benchmark, ours, lambda: run([programs / "solver"], pairs)[1], rounds=3)


def test_solving_with_all_winning_moves_and_a_line(benchmark, programs):
    boards = [Board.from_moves(pair) for pair in PAIRS]
    theirs = [programs / "solver"]
    in_turns(benchmark, lambda: [solve(board) for board in boards], lambda: run(theirs, PAIRS)[1], rounds=5)
