"""Pairs of moves from one position: one that keeps the win, one that loses it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.games.batch_evaluation import EvaluationBatch, expected_lines
from knights_isolation.isolation.games.batch_moves import Positions, is_over
from knights_isolation.isolation.rules.limits import Limit

from ..roster import parse_limit
from ..suite.suite_file import Suite

if TYPE_CHECKING:
    from knights_isolation.isolation.compiling.compile_heuristic import CompiledHeuristic

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def reproducible_limit(text: str) -> Limit:
    """Parse the limit of a search run before evaluation.

    Raises:
        ValueError: it is not one of depth or nodes.
    """
    limit = parse_limit(text)
    if not limit.is_reproducible:
        raise ValueError(f"--at must be depth=N or nodes=N, not {text}")
    return limit


@dataclass(frozen=True)
class Comparisons:
    """Pairs of moves, each of one decision: a position that is won and has a move that loses.

    A move stands for the position after it, or for the one that a search expects in the end. Moves whose result the
    search would see are left out: nobody needs a heuristic for them.

    Attributes:
        leaves: the positions of m moves, each valued for who made the move.
        keeps: bool[m], whether the move keeps the win.
        decision: int64[m], the decision it belongs to.
        kept, lost: int64[q], the moves of each pair.
        weights: float64[q], one a decision in all.
        orbits: int64[q], the openings that pairs come from, up to symmetry.
    """

    leaves: EvaluationBatch
    keeps: NDArray[np.bool_]
    decision: Ints
    kept: Ints
    lost: Ints
    weights: Floats
    orbits: Ints

    @property
    def decisions(self) -> int:
        """How many decisions have pairs."""
        return len(np.unique(self.decision[self.kept]))

    def differences(self, values: Floats) -> Floats:
        """Return the value differences of pairs (last axis q): the move that keeps the win minus the other."""
        by_pair: Floats = values[..., self.kept] - values[..., self.lost]
        return by_pair

    def ranked(self, values: Floats) -> float:
        """The share of decisions whose best move by these values keeps the win; equals share."""
        order = np.unique(self.decision[self.kept])
        indices = np.searchsorted(order, self.decision)
        counted = (indices < len(order)) & (order[np.minimum(indices, len(order) - 1)] == self.decision)
        indices, values, keeps = indices[counted], values[counted], self.keeps[counted]
        best = np.full(len(order), -np.inf)
        np.maximum.at(best, indices, values)
        is_best = values == best[indices]
        return float((np.bincount(indices, is_best & keeps) / np.bincount(indices, is_best)).mean())


def compare_moves(
    suite: Suite, at: Limit, heuristic: CompiledHeuristic, parameters: Floats, most: int | None = None
) -> Comparisons:
    """The pairs of a suite's telling positions.

    Args:
        at: depth 1 looks at the positions after the moves; a deeper or another limit at what a search of that size
            expects, by the heuristic under these parameters. Nodes are those of a whole decision.
        most: only so many positions, the first.

    Raises:
        ArithmeticError: the heuristic raises an exception in a search.
    """
    rows = np.flatnonzero(suite.is_telling)[:most]
    chosen = suite.take(rows)
    moves = [chosen.positions[int(row)] for row in range(len(chosen))]
    after = [(*moves[row], int(cell)) for row, cell in zip(chosen.position_of, chosen.legal, strict=True)]
    children = Positions.of(after, suite.size)
    is_open = ~is_over(children)
    if at.depth != 1:
        counts = np.diff(chosen.starts)[chosen.position_of]
        nodes = None if at.nodes is None else np.maximum(1, at.nodes // counts)
        after, unproven = _expected(after, children, is_open, heuristic, parameters, at, nodes)
        is_open &= unproven
    players = chosen.positions.plies[chosen.position_of] % 2
    seen = np.flatnonzero(is_open)
    leaves = EvaluationBatch.of(Positions.of([after[move] for move in seen], suite.size), players[seen])
    orbits = np.unique(chosen.orbit, return_inverse=True)[1]
    return _paired(leaves, chosen.keeps[seen], chosen.position_of[seen], orbits)


def _expected(
    after: list[tuple[int, ...]],
    children: Positions,
    is_open: NDArray[np.bool_],
    heuristic: CompiledHeuristic,
    parameters: Floats,
    at: Limit,
    nodes: Ints | None,
) -> tuple[list[tuple[int, ...]], NDArray[np.bool_]]:
    """The positions that a search expects after each move, and whether their results are open."""
    rows = np.flatnonzero(is_open)
    depth = None if at.depth is None else at.depth - 1
    lines = expected_lines(heuristic, children.take(rows), parameters, depth, None if nodes is None else nodes[rows])
    unproven = np.zeros(len(after), bool)
    unproven[rows] = np.isfinite(lines.scores)
    extended = list(after)
    for index, row in enumerate(rows):
        extended[row] = (*after[row], *lines.cells[index, : lines.plies[index]].tolist())
    return extended, unproven


def _paired(leaves: EvaluationBatch, keeps: NDArray[np.bool_], decision: Ints, orbits: Ints) -> Comparisons:
    kept, lost, weights = [], [], []
    edges = np.flatnonzero(np.diff(decision, prepend=-1, append=-1))
    for first, end in pairwise(edges):
        good = first + np.flatnonzero(keeps[first:end])
        bad = first + np.flatnonzero(~keeps[first:end])
        if len(good) and len(bad):
            kept.append(np.repeat(good, len(bad)))
            lost.append(np.tile(bad, len(good)))
            weights.append(np.full(len(good) * len(bad), 1 / (len(good) * len(bad))))
    empty = np.zeros(0, np.int64)
    of_kept = np.concatenate([empty, *kept])
    return Comparisons(
        leaves, keeps, decision, of_kept, np.concatenate([empty, *lost]), np.concatenate([np.zeros(0), *weights]),
        orbits[decision[of_kept]],
    )  # fmt: skip
