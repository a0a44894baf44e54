"""Forward feature selection by gain and cost.

What a feature helps is by how much the loss a decision, that of `pairwise_fit`, falls on openings that its weights
were not fitted to. What it costs are the nanoseconds by which a node of a search gets slower when it joins the features
chosen before it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from knights_isolation.heuristics import Composite, canonical_name, get, meaning
from knights_isolation.isolation.checks.search_cost import measure_costs
from knights_isolation.isolation.compiling.compile_heuristic import CompileError, compile_heuristic
from knights_isolation.isolation.games.batches import evaluate_all
from knights_isolation.isolation.loading.load_user_code import load_heuristic
from knights_isolation.isolation.rules.game import Cost, Limit, Size
from knights_isolation.isolation.search.agents import SearchAgent

from ..plan.catalogue import Heuristic, first_line
from ..plan.user_files import named_in_file
from ..statistics.proportions import Floats
from ..suite.suite_file import Suite
from .pairwise_fit import Comparisons, compare_moves

TRIED = 5
"""Of the features that help most, so many are timed: a compiler takes a second for each."""
LEAST_COST = 0.25
"""Nanoseconds a node; smaller differences are indistinguishable from none."""
_NODES = 1000
_PRIOR = 1e-4


@dataclass(frozen=True)
class SelectedFeature:
    """A feature and what it brings to those chosen before it.

    `gain` is by how much the loss a decision falls on openings held out from the fit, in thousandths; `nanoseconds` by
    how much a node gets slower. `weights` are those of all features so far, in their order; the first is 1 or -1. For
    `ranked` see `SingleFeature`.
    """

    feature: str
    gain: float
    nanoseconds: float
    weights: tuple[float, ...]
    ranked: float


@dataclass(frozen=True)
class SingleFeature:
    """A feature by itself, and its meaning in one line.

    `loss` is that of a decision, on openings held out from the fit; log 2 is that of knowing nothing. `ranked` is the
    share of decisions, of openings that had no part in any choice, whose best move keeps the win.
    """

    feature: str
    meaning: str
    loss: float
    ranked: float


@dataclass(frozen=True)
class Selection:
    """Results of a feature selection: how far a search looked, by the heuristic `guide`, and fitted `decisions`.

    `alone` are all features by themselves, the best first, `chosen` those that were chosen, in order; after an
    interrupt more might have been.
    """

    at: Limit
    guide: str
    decisions: int
    alone: tuple[SingleFeature, ...]
    chosen: tuple[SelectedFeature, ...]
    is_interrupted: bool = False


def select_features(
    suite: Suite,
    held_out: Suite,
    names: Sequence[str],
    at: Limit,
    guide: str = "territory",
    most: int = 5,
    show: Callable[[int, int], None] = lambda done, of: None,
) -> Selection:
    """Choose features one after another; Ctrl-C ends the choice after those that were chosen so far, if there are any.

    Half of the openings of `suite` fit the weights, the other half choose; `held_out` has no part in either.

    Args:
        names: the features to choose from, as `feature_name` returns them.
        at, guide: the positions compared are those that a search of that size expects by this heuristic.
        most: so many features at most; it ends before when none helps any more.
        show: called with the number of steps done, and of all: each feature's values, twice, then each choice.

    Raises:
        ValueError: no such feature, it does not compile, or the suite has nothing to compare.
    """
    steps = itertools.count(1)

    def done() -> None:
        show(next(steps), 2 * len(names) + most)

    inside, outside = (_Table.of(part, names, at, guide, done) for part in (suite, held_out))
    if not len(inside.compared.kept):
        raise ValueError(f"suite {suite.name} has no pairs of moves to compare at {at}")
    chosen: list[SelectedFeature] = []
    is_interrupted = False
    try:
        for features, gain, cost in _steps(inside, suite.size, names, most):
            weights = inside.fitted(features)
            ranked = outside.compared.ranked(weights @ outside.values[features])
            chosen.append(SelectedFeature(names[features[-1]], gain, cost, tuple(weights / abs(weights[0])), ranked))
            done()
    except KeyboardInterrupt:
        if not chosen:
            raise
        is_interrupted = True
    alone = []
    for number, name in enumerate(names):
        ranked = outside.compared.ranked(np.sign(inside.fitted([number])[0]) * outside.values[number])
        alone.append(SingleFeature(name, _meaning(name), inside.loss([number]), ranked))
    in_order = tuple(sorted(alone, key=lambda feature: feature.loss))
    return Selection(at, guide, inside.compared.decisions, in_order, tuple(chosen), is_interrupted)


def feature_name(reference: str) -> str:
    """Return the name of a feature: the registry's for a published name, or the FILE:FUNCTION of a user's function.

    Raises:
        ValueError: there is no such function, or it does not compile.
    """
    if not _is_of_file(reference):
        return canonical_name(reference)
    path, function = named_in_file(reference)
    name = f"{path}:{function}"
    try:
        compile_heuristic(_function(name))
    except CompileError as error:
        raise ValueError(f"{name} does not compile, as a feature must: {error}") from None
    return name


def _is_of_file(name: str) -> bool:
    return name.partition(":")[0].endswith(".py")


def _function(name: str) -> Heuristic:
    return load_heuristic(*named_in_file(name)).value if _is_of_file(name) else get(name)


def _meaning(name: str) -> str:
    return first_line(_function(name)) if _is_of_file(name) else meaning(name)


@dataclass(frozen=True)
class _Table:
    """Values of k features for the moves of a suite: float64[k, m] of moves, float64[k, q] of pairs."""

    compared: Comparisons
    values: Floats
    differences: Floats
    fits: NDArray[np.bool_]

    @classmethod
    def of(cls, suite: Suite, names: Sequence[str], at: Limit, guide: str, done: Callable[[], None]) -> _Table:
        leader = compile_heuristic(get(guide), suite.size)
        compared = compare_moves(suite, at, leader, leader.parameters)
        rows = []
        for name in names:
            rows.append(evaluate_all(compile_heuristic(_function(name), suite.size), compared.leaves))
            done()
        values = np.array(rows)
        return cls(compared, values, compared.differences(values), compared.orbits % 2 == 0)

    def fitted(self, features: Sequence[int], where: NDArray[np.bool_] | slice = slice(None)) -> Floats:
        """The weights of some features that rank some of the pairs best."""
        differences, weights = self.differences[features][:, where], self.compared.weights[where]
        spread = np.sqrt((weights * differences**2).sum(axis=1) / weights.sum()) + 1e-12
        scaled = differences / spread[:, None]

        def loss(vector: Floats) -> tuple[float, Floats]:
            logits = vector @ scaled
            wrong = weights * expit(-logits)
            value = weights @ np.logaddexp(0.0, -logits) / weights.sum() + _PRIOR * (vector @ vector)
            return float(value), -(scaled @ wrong) / weights.sum() + 2 * _PRIOR * vector

        fitted_weights: Floats = minimize(loss, np.zeros(len(spread)), jac=True, method="L-BFGS-B").x / spread
        return fitted_weights

    def loss(self, features: Sequence[int]) -> float:
        """The loss a decision on the pairs that choose, by the weights of those that fit."""
        weights = self.compared.weights[~self.fits]
        logits = self.fitted(features, self.fits) @ self.differences[features][:, ~self.fits]
        return float(weights @ np.logaddexp(0.0, -logits) / weights.sum())


def _steps(table: _Table, size: Size, names: Sequence[str], most: int) -> Iterator[tuple[list[int], float, float]]:
    """The features so far, what the last one gains, in thousandths of loss, and what it costs."""
    chosen: list[int] = []
    loss = float(np.log(2))
    while len(chosen) < min(most, len(names)):
        losses = {number: table.loss([*chosen, number]) for number in range(len(names)) if number not in chosen}
        best = [number for number in sorted(losses, key=losses.__getitem__)[:TRIED] if losses[number] < loss]
        if not best:
            return
        before = [names[number] for number in chosen]
        cost, *sums = _nanoseconds([before or ["null"], *([*before, names[number]] for number in best)], size)
        costs = dict(zip(best, sums, strict=True))
        taken = max(best, key=lambda number: (loss - losses[number]) / max(LEAST_COST, costs[number] - cost))
        chosen.append(taken)
        yield chosen, 1000 * (loss - losses[taken]), costs[taken] - cost
        loss = losses[taken]


def _nanoseconds(sums: Sequence[Sequence[str]], size: Size) -> list[float]:
    """Return the cost per node of each of several sums of features."""
    composites = [Composite(phases=((1.0, tuple((1.0, _function(name)) for name in names)),)) for names in sums]
    agents = [SearchAgent("sum", "alphabeta", composite, "sum", Limit(nodes=_NODES)) for composite in composites]
    return [cost.nanoseconds for cost in measure_costs(agents, size) if isinstance(cost, Cost)]
