"""Fitness: the share of wins that a program keeps in solved positions, at equal estimated cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.games.batch_moves import asking
from knights_isolation.isolation.rules.geometry import parse_size
from knights_isolation.isolation.rules.limits import Limit
from knights_isolation.isolation.rules.seeds import splitmix64
from knights_isolation.isolation.search.compiled import compiled_search
from knights_isolation.isolation.search.result import SearchOptions

from ..play.pools.equal_cost_limits import scaled_nodes
from ..suite.suite_file import Suite, read_suite
from .interpreter import compiled_interpreter, parameters_of_program
from .printing import estimated_cost
from .programs import Program

NODES = (300, 1000)
"""Node limits of a program that costs `REFERENCE`; others get as many as take the same time."""
REFERENCE = 20.0
"""Estimated nanoseconds a node of `learned`."""
HELD_BACK = 3
"""One orbit in so many is for validation."""


class Parts(NamedTuple):
    """Positions of the split `fit`, by orbits: for training, the same in three stages, and for validation."""

    train: Suite
    stages: tuple[Suite, ...]
    validation: Suite


@dataclass(frozen=True)
class Found:
    """A program, its estimated cost in nanoseconds a node, and how many `candidates` were tried to find it.

    `train` and `validation` are shares of wins kept, the mean over `NODES` at equal cost.
    """

    program: Program
    cost: float
    train: float
    validation: float
    candidates: int

    @property
    def kept(self) -> float:
        """Share of wins kept in all positions: one in `HELD_BACK` is for validation."""
        return ((HELD_BACK - 1) * self.train + self.validation) / HELD_BACK


@cache
def parts_of(size: str, is_shuffled: bool = False) -> Parts:
    """Return the positions to learn from: the won ones of the split `fit`; never any of the split `screen`.

    Args:
        is_shuffled: exchange which moves keep the win within each position: a control, where nothing can be learned.
    """
    suite = read_suite(size, "fit")
    suite = suite.take(np.flatnonzero(suite.is_telling))
    if is_shuffled:
        suite = replace(suite, keeps=_shuffled(suite))
    is_held_back = splitmix64(suite.orbit) % np.uint64(HELD_BACK) == 0
    train = suite.take(np.flatnonzero(~is_held_back))
    stages = tuple(train.take(np.arange(first, len(train), every)) for first, every in ((0, 4), (2, 4), (1, 2)))
    return Parts(train, stages, suite.take(np.flatnonzero(is_held_back)))


def kept(program: Program, suite: Suite, nodes: int) -> float:
    """Return the share of wins that alpha-beta search by a program keeps in positions.

    Args:
        nodes: limit of a program that costs `REFERENCE`.
    """
    size = parse_size(suite.size)
    limit = Limit(nodes=scaled_nodes(nodes, estimated_cost(program) / REFERENCE))
    heuristic = replace(compiled_interpreter(size), parameters=parameters_of_program(program))
    player = compiled_search(heuristic, "alphabeta", SearchOptions(), limit, size)
    answers = asking(player, suite.positions, np.zeros(len(suite), np.uint64))()
    return float((suite.keeps & (suite.legal == answers.cells[suite.position_of])).sum() / len(suite))


def _shuffled(suite: Suite) -> NDArray[np.bool_]:
    order = np.lexsort((np.random.default_rng(1).random(len(suite.keeps)), suite.position_of))
    shuffled: NDArray[np.bool_] = suite.keeps[order]
    return shuffled
