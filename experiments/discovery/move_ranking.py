"""Weights by ranking moves: in solved positions, moves that keep the win should look better than those that lose it.

Ranking needs no search, only the values of terms after each move, and takes a tenth of the time of a fitness. It
decides nothing: it gives a new term its weights, and picks from several terms which one is worth a fitness.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from knights_isolation.isolation.compiling.compile_heuristic import CompiledHeuristic
from knights_isolation.isolation.games.batch_evaluation import evaluate_all
from knights_isolation.isolation.rules.geometry import parse_size
from knights_isolation.isolation.rules.limits import Limit

from ..learn.move_pairs import Comparisons, compare_moves
from .interpreter import compiled_interpreter, parameters_of_program
from .kept_wins import parts_of
from .printing import estimated_cost
from .programs import Program, Shape, Term, tidy

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
