"""Climbs: from one program to a better one, by changes that keep at least as many wins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from experiments.discovery.kept_wins import NODES, Found, Parts, kept
from experiments.discovery.move_ranking import Ranking
from experiments.discovery.printing import estimated_cost
from experiments.discovery.programs import Program
from experiments.discovery.variation import random_shape, reweighted, with_room

CANDIDATES = 40
"""Programs tried in one climb."""
DEAREST = 60.0
"""Estimated nanoseconds a node of the dearest program tried."""
GROWN_TERMS, GROWN_FROM = 3, 10
"""Terms of a program to begin with, and random shapes from which ranking chooses each."""
DRAWN = 5
"""New terms from which ranking chooses one to be tried."""
_WEIGHTS, _WEIGHTS_OF_ONE = 0.45, 0.1
"""Share of candidates that change weights alone; of a single term only the ratio of its two matters."""
_REFITTED = 0.15
"""Share of the others whose weights are all fitted again."""
_SLACK = (0.003, 0.002, 0.0)
"""Share of wins by which a candidate may be behind after each stage of training."""


def grown(ranking: Ranking, generator: Generator) -> Program:
    """Return a program to begin with: one term after another, each the best of some random ones."""
    program: Program = ()
    for _ in range(GROWN_TERMS):
        shapes = [term.shape for term in program]
        fits = [ranking.fitted([*shapes, random_shape(generator)]) for _ in range(GROWN_FROM)]
        program = min(fits, key=lambda fit: fit[1])[0]
    return program


def climb(program: Program, other: Program, parts: Parts, ranking: Ranking, generator: Generator) -> Found:
    """Try changes of a program, some by terms of another one; keep what is at least as good in training.

    A candidate that is behind after a stage is given up there. The result is a pure function of the arguments.
    """
    best = program
    shares = _shares(program, parts) or []
    for _ in range(CANDIDATES):
        candidate = _changed(best, other, ranking, generator)
        if candidate in ((), best) or estimated_cost(candidate) > DEAREST:
            continue
        if reached := _shares(candidate, parts, shares):
            best, shares = candidate, reached
    on_train, on_validation = (
        float(np.mean([kept(best, suite, nodes) for nodes in NODES])) for suite in (parts.train, parts.validation)
    )
    return Found(best, estimated_cost(best), on_train, on_validation, CANDIDATES)


def _shares(program: Program, parts: Parts, to_reach: Sequence[float] = ()) -> list[float] | None:
    """Return the shares of wins kept in the positions of each stage and those before, or None if one is too small."""
    sizes = [len(stage) for stage in parts.stages]
    alone: list[float] = []
    shares: list[float] = []
    for number, stage in enumerate(parts.stages):
        alone.append(kept(program, stage, NODES[0]))
        shares.append(float(np.average(alone, weights=sizes[: number + 1])))
        if to_reach and shares[-1] < to_reach[number] - _SLACK[number]:
            return None
    return shares


def _changed(program: Program, other: Program, ranking: Ranking, generator: Generator) -> Program:
    """Return a program with other weights, or with the new term that ranks moves best."""
    if generator.random() < (_WEIGHTS if len(program) > 1 else _WEIGHTS_OF_ONE):
        return reweighted(generator, program)
    fits = []
    for _ in range(DRAWN):
        rest, shape = with_room(generator, program, other)
        if generator.random() < _REFITTED:
            fits.append(ranking.fitted([*(term.shape for term in rest), shape]))
        else:
            fits.append(ranking.fitted([shape], rest))
    return min(fits, key=lambda fit: fit[1])[0]
