"""Climbs: from one program to a better one, by variations that keep at least as many wins.

Weights come from ranking moves: in solved positions, moves that keep the win should look better than those that lose
it. Ranking needs no search, only the values of terms after each move, and takes a tenth of the time of a fitness. It
decides nothing: it gives a new term its weights, and picks from several terms which one is worth a fitness.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import expit

from knights_isolation.isolation.compiling.compile_heuristic import CompiledHeuristic
from knights_isolation.isolation.games.batch_evaluation import evaluate_all
from knights_isolation.isolation.rules.geometry import parse_size
from knights_isolation.isolation.rules.limits import Limit

from ..learn.move_pairs import Comparisons, compare_moves
from .kept_wins import NODES, Found, Parts, compiled_interpreter, kept, parameters_of_program, parts_of
from .programs import COMBINES, MEASURES, MOST_TERMS, PHASES, SETS, Program, Shape, Term, estimated_cost, tidy

Floats = NDArray[np.float64]

NODES_EXPONENT = 0.25
"""Wins thrown away fall with about the fourth root of the nodes: by `learned` on 7x7, 6.6 % at 300, 4.7 % at 1,000."""
RANKED = 2
"""One training position in so many is ranked."""
_PRIOR = 1e-3
_STEPS = 5
_REMEMBERED = 200


@dataclass(frozen=True, eq=False)
class Ranking:
    """Pairs of moves of the positions for training, one of which keeps the win.

    Attributes:
        pairs: the moves, and the positions after them.
        interpreter: computes the values of programs there.
    """

    pairs: Comparisons
    interpreter: CompiledHeuristic

    def values(self, program: Program) -> Floats:
        """Return float64[q]: by how much a program prefers the move that keeps the win."""
        parameters = parameters_of_program(program)
        return self.pairs.differences(evaluate_all(self.interpreter, self.pairs.leaves, parameters))

    def fitted(self, shapes: Sequence[Shape], rest: Program = ()) -> tuple[Program, float]:
        """Return a program of new terms and others, and the wins that it may throw away, on a scale of their own.

        Args:
            shapes: what new terms measure; each gets two weights.
            rest: the other terms, whose weights keep their ratios.

        Terms that are the same after all moves get no weights; if there are no others, the program is empty, the worst.
        """
        columns = [self.values(rest)] if rest else []
        columns += [column for shape in shapes for column in _of_shape(self, shape)]
        loss, weights = _fit(np.array(columns), self.pairs.weights / self.pairs.weights.sum())
        scale, of_shapes = (weights[0], weights[1:]) if rest else (1.0, weights)
        terms = [Term(term.shape, scale * term.weight, scale * term.waiting) for term in rest]
        terms += [Term(shape, *pair) for shape, pair in zip(shapes, of_shapes.reshape(-1, 2).tolist(), strict=True)]
        largest = max(abs(weight) for term in terms for weight in (term.weight, term.waiting)) or 1.0
        program = tidy([Term(term.shape, term.weight / largest, term.waiting / largest) for term in terms])
        return program, loss * estimated_cost(program) ** NODES_EXPONENT if program else math.inf


@cache
def ranking_of(size: str, is_shuffled: bool = False) -> Ranking:
    """Return the pairs of the positions for training; see `parts_of`."""
    interpreter = compiled_interpreter(parse_size(size))
    train = parts_of(size, is_shuffled).train
    train = train.take(np.arange(0, len(train), RANKED))
    return Ranking(compare_moves(train, Limit(depth=1), interpreter, interpreter.parameters), interpreter)


@lru_cache(maxsize=_REMEMBERED)
def _of_shape(ranking: Ranking, shape: Shape) -> tuple[Floats, Floats]:
    """Return the values of a shape for the side to move, and for the waiting side."""
    return ranking.values((Term(shape, 1.0, 0.0),)), ranking.values((Term(shape, 0.0, 1.0),))


def _fit(columns: Floats, shares: Floats) -> tuple[float, Floats]:
    """Return the least logistic loss of pairs, and the weights of columns that have it, by Newton's method."""
    # Sums are of NumPy's own loops: a BLAS adds in another order for another number of threads.
    spread = np.sqrt(np.einsum("kq,kq,q->k", columns, columns, shares)) + 1e-9
    scaled = columns / spread[:, None]
    weights = np.zeros(len(scaled))
    for _ in range(_STEPS):
        right = expit(np.einsum("k,kq->q", weights, scaled))
        slope = np.einsum("kq,q->k", scaled, shares * (1 - right)) - 2 * _PRIOR * weights
        bend = np.einsum("kq,jq->kj", scaled * (shares * right * (1 - right)), scaled)
        weights = weights + np.linalg.solve(bend + 2 * _PRIOR * np.eye(len(scaled)), slope)
    loss = shares @ np.logaddexp(0.0, -np.einsum("k,kq->q", weights, scaled))
    return float(loss), weights / spread


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
