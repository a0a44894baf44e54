"""Climbs: from one program to a better one, by variations that keep at least as many wins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.random import Generator

from .kept_wins import NODES, Found, Parts, kept
from .move_ranking import Ranking
from .printing import estimated_cost
from .programs import COMBINES, MEASURES, MOST_TERMS, PHASES, SETS, Program, Shape, Term, tidy

T = TypeVar("T")


def random_shape(generator: Generator) -> Shape:
    """Return a random shape."""
    first = _set(generator)
    return Shape(
        _one(generator, MEASURES), first, _one(generator, COMBINES) if generator.random() < 0.5 else "",
        _set(generator), _divisor(generator, first) if generator.random() < 0.4 else -1,
        _one(generator, PHASES) if generator.random() < 0.2 else "",
    ).normal  # fmt: skip


def with_room(generator: Generator, program: Program, other: Program) -> tuple[Program, Shape]:
    """Return terms of a program, and a shape to be added to them: random, one of its own changed, or one of `other`."""
    index = int(generator.integers(len(program)))
    is_replaced = len(program) == MOST_TERMS or generator.random() < 0.4
    rest = (*program[:index], *program[index + 1 :]) if is_replaced else program
    chance = generator.random()
    if chance < 0.35:
        return rest, random_shape(generator)
    if chance < 0.55:
        return rest, other[int(generator.integers(len(other)))].shape
    return rest, _reshaped(generator, program[index].shape).normal


def reweighted(generator: Generator, program: Program) -> Program:
    """Return a program with one or two weights changed, or without a term; never an empty one."""
    terms = list(program)
    if len(terms) > 1 and generator.random() < 0.15:
        del terms[int(generator.integers(len(terms)))]
    else:
        for _ in range(1 + int(generator.integers(2))):
            index = int(generator.integers(len(program)))
            terms[index] = _with_other_weights(generator, terms[index])
    return tidy(terms) or program


def _reshaped(generator: Generator, shape: Shape) -> Shape:
    chance = generator.random()
    if chance < 0.15:
        return replace(shape, measure=_one(generator, MEASURES))
    if chance < 0.40:
        return replace(shape, first=_set(generator))
    if chance < 0.60:
        return replace(shape, combine=_one(generator, COMBINES), second=_set(generator))
    if chance < 0.70:
        return replace(shape, second=_set(generator))
    if chance < 0.90:
        return replace(shape, over=_divisor(generator, shape.first) if generator.random() < 0.75 else -1)
    return replace(shape, phase=_one(generator, PHASES))


def _with_other_weights(generator: Generator, term: Term) -> Term:
    """Return a term with its weights scaled, made different for the two sides, equal, or with other signs."""
    chance, factor = generator.random(), math.exp(0.5 * generator.normal())
    if chance < 0.5:
        return replace(term, weight=factor * term.weight, waiting=factor * term.waiting)
    if chance < 0.65:
        return replace(term, weight=factor * (term.weight or term.waiting))
    if chance < 0.80:
        return replace(term, waiting=factor * (term.waiting or term.weight))
    if chance < 0.88:
        return replace(term, weight=-term.weight, waiting=-term.waiting)
    if chance < 0.94:
        return replace(term, waiting=term.weight)
    return replace(term, weight=0.0) if generator.random() < 0.5 else replace(term, waiting=0.0)


def _divisor(generator: Generator, first: int) -> int:
    """Return the number of a set to divide by: in half of all cases the measured one."""
    return first if generator.random() < 0.5 else _set(generator)


def _set(generator: Generator) -> int:
    return int(generator.integers(len(SETS)))


def _one(generator: Generator, values: tuple[T, ...]) -> T:
    return values[int(generator.integers(len(values)))]


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
