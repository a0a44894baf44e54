"""The heuristics of the toolkit, compiled by the compiler in front and nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from compiled_alone import evaluations, problem

import knights_isolation
from knights_isolation import heuristics
from knights_isolation.heuristics.features import FEATURES
from knights_isolation.isolation.compiling.comparison import difference
from knights_isolation.isolation.rules.classic_board import Board

PLACE = str(Path(knights_isolation.__file__).parents[1])
NAMES = [*heuristics.names(), *FEATURES]


@pytest.mark.parametrize("name", NAMES)
def test_all_heuristics_and_features_compile_and_give_the_same_values(name):
    assert problem(heuristics.get(name)) is None
    assert problem(heuristics.get(name), seed=2) is None


@pytest.mark.parametrize("size", [(5, 5), (8, 8), (9, 11)])
@pytest.mark.parametrize("name", NAMES)
def test_they_do_on_boards_of_other_sizes(name, size):
    assert problem(heuristics.get(name), size, 40) is None


def positions_of_a_search(board: Board, depth: int) -> list[Board]:
    found = [board]
    if depth:
        for cell in board.legal_cells():
            found += positions_of_a_search(board.successor(cell), depth - 1)
    return found


@pytest.mark.parametrize("name", ["improved", "edge_distance_weighted", "horizon", "learned", "phased", "territory"])
def test_they_do_in_the_positions_of_a_search(name):
    function = heuristics.get(name)
    (evaluate,) = list(evaluations(function, 7, 7))
    assert difference(function, evaluate, positions_of_a_search(Board.from_moves([24, 14]), 3)) is None


def test_the_same_code_is_made_in_every_process():
    code = """
import hashlib
from knights_isolation import heuristics
from knights_isolation.isolation.codegen.score import score_texts
texts = "".join(next(score_texts(heuristics.get(name), 7, 7)) for name in heuristics.names())
print(hashlib.sha256(texts.encode()).hexdigest())
"""
    printed = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": PLACE}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
        printed.add(done.stdout)
    assert len(printed) == 1
