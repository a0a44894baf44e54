"""Fitness: the share of wins that a program keeps in solved positions, at equal estimated cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from experiments.discovery.interpreter import compiled_interpreter, parameters_of_program
from experiments.discovery.printing import estimated_cost
from experiments.discovery.programs import Program
from experiments.discovery.variation import crossed, mutated
from experiments.play.pools.equal_cost_limits import scaled_nodes
from experiments.suite.suite_file import Suite, read_suite
from isolation.games.batch_moves import asking
from isolation.rules.geometry import parse_size
from isolation.rules.limits import Limit
from isolation.rules.seeds import splitmix64
from isolation.search.compiled import compiled_search
from isolation.search.result import SearchOptions

NODES = (300, 1000)
"""Node limits of a program that costs `REFERENCE`; others get as many as take the same time."""
REFERENCE = 20.0
"""Estimated nanoseconds a node of `learned`."""
DEAREST = 60.0
HELD_BACK = 3
"""One orbit in so many is for validation."""
FIRST = 4
"""One training position in so many is for the first stage."""
CANDIDATES = 40
"""Programs tried in one climb."""
_CROSSED = 0.15
_SLACK = 0.003
"""Share of wins by which a candidate may be behind in the first stage to be tried on all positions for training."""


class Parts(NamedTuple):
    """Positions of the split `fit`, by orbits: for the first stage, for training (with these), for validation."""

    first: Suite
    train: Suite
    validation: Suite


@dataclass(frozen=True)
class Found:
    """A program, and what it is worth.

    Attributes:
        program: the program.
        cost: estimated nanoseconds a node.
        train, validation: shares of wins kept, the mean over `NODES` at equal cost.
        candidates: how many programs were tried to find it.
    """

    program: Program
    cost: float
    train: float
    validation: float
    candidates: int


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
    return Parts(train.take(np.arange(0, len(train), FIRST)), train, suite.take(np.flatnonzero(is_held_back)))


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


def climb(program: Program, other: Program, parts: Parts, generator: Generator) -> Found:
    """Try mutations of a program, and its crossovers with another one; keep what is at least as good in training.

    A candidate that is behind in the first stage is given up there. The result is a pure function of the arguments.
    """
    best, first, train = program, kept(program, parts.first, NODES[0]), kept(program, parts.train, NODES[0])
    for _ in range(CANDIDATES):
        is_crossed = generator.random() < _CROSSED
        candidate = crossed(generator, best, other) if is_crossed else mutated(generator, best)
        if candidate == best or estimated_cost(candidate) > DEAREST:
            continue
        reached = kept(candidate, parts.first, NODES[0])
        if reached < first - _SLACK or (share := kept(candidate, parts.train, NODES[0])) < train:
            continue
        best, first, train = candidate, reached, share
    on_train, on_validation = (
        float(np.mean([kept(best, suite, nodes) for nodes in NODES])) for suite in (parts.train, parts.validation)
    )
    return Found(best, estimated_cost(best), on_train, on_validation, CANDIDATES)


def _shuffled(suite: Suite) -> NDArray[np.bool_]:
    order = np.lexsort((np.random.default_rng(1).random(len(suite.keeps)), suite.position_of))
    shuffled: NDArray[np.bool_] = suite.keeps[order]
    return shuffled
