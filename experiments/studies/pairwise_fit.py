"""Fit parameters to exact results by pairwise logistic regression.

A pair of moves from one position is one that keeps the win, and one that loses it. The loss of a pair is
log(1 + exp(-s d)), d by how much the move that keeps is worth more to the heuristic, s a common scale: a pairwise
logistic model (Bradley & Terry 1952; as a loss for rankings Burges et al. 2005). Each decision weighs the same. A
normal prior around the present values, whose standard deviation is half the range, keeps parameters that nothing
depends on where they are. For functions linear in their parameters the problem is convex up to the scale, and one start
is enough; others get several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import chdtrc, expit

from knights_isolation.isolation.compiling.compile_heuristic import CompiledHeuristic, CompileError, compile_heuristic
from knights_isolation.isolation.games.batches import EvaluationBatch, Positions, evaluate_all, expected_lines, is_over
from knights_isolation.isolation.rules.game import Limit
from knights_isolation.isolation.rules.parameters import bind_parameters, name_of
from knights_isolation.isolation.search.agents import SearchAgent

from ..plan import parse_limit
from ..statistics.proportions import ALPHA, Floats, Ints
from ..statistics.step_down import holm
from ..suite.suite_file import Suite
from .parameter_space import Heuristic, Space, TunedParameter, end_of, space_of
from .screening import Screening, ask, screen

Model = Callable[[Floats], tuple[Floats, Floats]]
"""For a vector, the differences of q pairs, float64[q], and their derivatives, float64[p, q]."""

STARTS = 6
ROUNDS = 3
"""How often a search is asked again what it expects, by what was fitted."""
MOST_ROUNDED_UP = 21
_GRID = 9
_GRID_OF_CURVES = 5
_STEP = 1e-3
_AT_END = 0.01
_END_WITHIN = 0.002
"""How exactly an interval's end is found, as a share of the range."""


@dataclass(frozen=True)
class FittedParameter(TunedParameter):
    """A fitted parameter, with an interval of 95 %, clustered by opening, within the range.

    It has the values around `after` of whose profile none is beyond chance. `end` is `lower` or `upper` if it ends
    there. `p_value` is of the hypothesis that the value before is as good, all others fitted again, Holm-adjusted.
    `profile` has values of the range, and how much worse each is: twice the loss of log likelihood, scaled so that 3.84
    is the 95 % limit of chance, also where openings hang together (Rotnitzky & Jewell 1990).
    """

    profile: tuple[tuple[float, float], ...] = ()

    @property
    def matters(self) -> bool:
        """Whether some value of the range, all others fitted again, is worse than the best."""
        return any(_is_worse(by) for _, by in self.profile)

    @property
    def differs(self) -> bool:
        """Whether the value is another than before, and significantly better."""
        return self.after != self.before and self.p_value <= ALPHA


@dataclass(frozen=True)
class Fit:
    """A fit of a heuristic to decisions and pairs of moves: how far a search looked, and what became of each parameter.

    `is_linear`: the heuristic is linear in the parameters. `ranked` is the share of decisions in which its best move
    keeps the win, before and after; `ranked_held_out` the same in positions of openings that were not fitted to.
    """

    heuristic: str
    at: Limit
    is_linear: bool
    decisions: int
    pairs: int
    parameters: tuple[FittedParameter, ...]
    ranked: tuple[float, float]
    ranked_held_out: tuple[float, float]

    @property
    def values(self) -> dict[str, float]:
        """The new values by name."""
        return {parameter.name: parameter.after for parameter in self.parameters}


def fit(heuristic: Heuristic, suite: Suite, held_out: Suite, at: Limit, only: Sequence[str] = (), seed: int = 1) -> Fit:
    """Fit a heuristic's parameters to the telling positions of a suite.

    Args:
        held_out: positions of other openings, for `Fit.ranked_held_out`.
        at: see `compare_moves`.
        only: fit these parameters and leave the others.

    Raises:
        ValueError: there is nothing to fit, or the heuristic runs interpreted or fails.
    """
    space, name = space_of(heuristic, only), name_of(heuristic)
    try:
        return _fit(space, name, compile_heuristic(heuristic, suite.size), suite, held_out, at, seed)
    except CompileError as error:
        why = f"runs interpreted, which is too slow for fitting (millions of calls): {error}"
    except ArithmeticError as error:
        why = f"cannot be fitted: {error}"
    raise ValueError(f"{name} {why}")


def _fit(
    space: Space, name: str, compiled: CompiledHeuristic, suite: Suite, held_out: Suite, at: Limit, seed: int
) -> Fit:
    def compared(part: Suite, vector: Floats) -> _Compared:
        return _Compared(space, compiled, compare_moves(part, at, compiled, space.filled(vector)))

    def ranked(part: Suite, fitted: Floats) -> tuple[float, float]:
        return compared(part, space.start).ranked(space.start), compared(part, fitted).ranked(fitted)

    vector = space.start
    for _ in range(1 if at.depth == 1 else ROUNDS):
        asked = compared(suite, vector)
        if not len(asked.moves.kept):
            raise ValueError(f"suite {suite.name} has no pairs of moves to compare at {at}")
        model, is_linear = asked.model(seed)
        problem = _Problem(space, model, asked.moves.weights, asked.moves.decisions)
        vector, scale = _optimum(problem, vector, 1 if is_linear else STARTS, seed)
    fitted = space.rounded(vector)
    parameters = _judged(problem, fitted, scale, asked.moves, _GRID if is_linear else _GRID_OF_CURVES)
    decisions, pairs = asked.moves.decisions, len(asked.moves.kept)
    return Fit(name, at, is_linear, decisions, pairs, parameters, ranked(suite, fitted), ranked(held_out, fitted))


@dataclass(frozen=True)
class _Compared:
    """Pairs of moves, and what the vectors of a space mean for them."""

    space: Space
    compiled: CompiledHeuristic
    moves: Comparisons

    def values(self, vector: Floats) -> Floats:
        """Return the heuristic's values of the positions compared."""
        # raises ArithmeticError: one of them is no finite number, or the heuristic raises an exception.
        values = evaluate_all(self.compiled, self.moves.leaves, self.space.filled(vector))
        strange = values[~np.isfinite(values)]
        if len(strange):
            given = ", ".join(f"{name}={value:g}" for name, value in self.space.values(vector).items())
            what = "NaN" if np.isnan(strange[0]) else "infinity"
            raise ArithmeticError(f"it returns {what} at {len(strange)} of {len(values)} positions, with {given}")
        return values

    def ranked(self, vector: Floats) -> float:
        return self.moves.ranked(self.values(vector))

    def differences(self, vector: Floats) -> Floats:
        return self.moves.differences(self.values(vector))

    def quotients(self, at: Floats, low: Floats, high: Floats) -> Floats:
        """Return the difference quotients between two values of each parameter, the others staying."""
        rows = []
        for index in range(len(at)):
            ends = at.copy(), at.copy()
            ends[0][index], ends[1][index] = low[index], high[index]
            rows.append((self.differences(ends[1]) - self.differences(ends[0])) / (high[index] - low[index]))
        return np.array(rows)

    def model(self, seed: int) -> tuple[Model, bool]:
        """Return what vectors mean, and whether that is linear in them."""
        space = self.space
        # the differences at the start, and by how much each parameter changes them over its range
        start, slopes = self.differences(space.start), self.quotients(space.start, space.low, space.high)

        def linear(vector: Floats) -> tuple[Floats, Floats]:
            return start + (vector - space.start) @ slopes, slopes

        def curved(vector: Floats) -> tuple[Floats, Floats]:
            step = np.where(space.is_whole, 1.0, _STEP * space.width)
            ends = np.maximum(space.low, vector - step), np.minimum(space.high, vector + step)
            return self.differences(vector), self.quotients(vector, *ends)

        generator = np.random.default_rng(seed)
        for _ in range(3):
            vector = space.playable(space.at(generator.random(len(space.free))))
            expected, observed = linear(vector)[0], self.differences(vector)
            if not np.allclose(expected, observed, rtol=1e-9, atol=1e-9 * max(1.0, float(np.abs(observed).max()))):
                return curved, False
        return linear, True


@dataclass(frozen=True)
class _Problem:
    """The function to minimise: the loss per decision plus the prior's share."""

    space: Space
    model: Model
    weights: Floats
    decisions: int

    def loss(self, vector: Floats, log_scale: float) -> tuple[float, Floats]:
        """Return the loss, and its derivatives by the parameters and the logarithm of the scale."""
        scale = np.exp(log_scale)
        differences, slopes = self.model(vector)
        logits = scale * differences
        wrong = self.weights * expit(-logits)
        away = (vector - self.space.start) / self.space.width
        loss = self.weights @ np.logaddexp(0.0, -logits)
        slope = np.append(-scale * (slopes @ wrong) + 4 * away / self.space.width, -(wrong @ logits))
        return float(loss) / self.decisions + self.prior(vector), slope / self.decisions

    def prior(self, vector: Floats) -> float:
        """Return the prior's share of the loss."""
        away = (vector - self.space.start) / self.space.width
        return float(2 * (away @ away)) / self.decisions

    def minimised(self, start: Floats, log_scale: float, fixed: NDArray[np.bool_]) -> tuple[float, Floats, float]:
        """The least loss from a start with some parameters fixed, and where: vector and logarithm of the scale."""
        low, high, width = self.space.low, self.space.high, self.space.width
        moving = ~(fixed | self.space.is_whole)

        def scaled(point: Floats) -> tuple[float, Floats]:
            vector = start.copy()
            vector[moving] = low[moving] + point[:-1] * width[moving]
            loss, slope = self.loss(np.clip(vector, low, high), float(point[-1]))
            return loss, np.append(slope[:-1][moving] * width[moving], slope[-1])

        first = np.append(((start - low) / width)[moving], log_scale)
        bounds = [(0.0, 1.0)] * int(moving.sum()) + [(-20.0, 20.0)]
        solution = minimize(scaled, first, jac=True, bounds=bounds, method="L-BFGS-B")
        vector = start.copy()
        vector[moving] = np.clip(low[moving] + solution.x[:-1] * width[moving], low[moving], high[moving])
        return float(solution.fun), vector, float(solution.x[-1])


def _optimum(problem: _Problem, start: Floats, starts: int, seed: int) -> tuple[Floats, float]:
    space = problem.space
    others = space.playable(space.at(np.random.default_rng(seed).random((starts - 1, len(start)))))
    return min((_descended(problem, each) for each in (start, *others)), key=lambda solution: solution[0])[1:]


def _descended(problem: _Problem, start: Floats) -> tuple[float, Floats, float]:
    """The least loss near a start; whole numbers are tried one after another, as they have no slope."""
    spread = float(np.std(problem.model(start)[0])) or 1.0
    free = np.zeros(len(start), bool)
    best = problem.minimised(start, -np.log(spread), free)
    for _ in range(ROUNDS if problem.space.is_whole.any() else 0):
        before = best[0]
        for index in np.flatnonzero(problem.space.is_whole).tolist():
            low, high = int(np.ceil(problem.space.low[index])), int(np.floor(problem.space.high[index]))
            values = np.linspace(low, high, min(MOST_ROUNDED_UP, high - low + 1))
            for value in sorted({float(round(value)) for value in values}):
                vector = best[1].copy()
                vector[index] = value
                best = min(best, problem.minimised(vector, best[2], free), key=lambda solution: solution[0])
        if best[0] == before:
            break
    return best


def _judged(
    problem: _Problem, vector: Floats, log_scale: float, compared: Comparisons, points: int
) -> tuple[FittedParameter, ...]:
    space = problem.space
    stretched = _stretched(problem, vector, log_scale, compared)
    least = problem.loss(vector, log_scale)[0] - problem.prior(vector)
    parameters = []

    def worse_by(index: int, value: float) -> float:
        """Twice the loss of log likelihood, all others fitted again, as clustered openings make it; without prior."""
        start = vector.copy()
        start[index] = value
        loss, best, _ = problem.minimised(start, log_scale, np.arange(len(vector)) == index)
        return max(0.0, float(2 * problem.decisions / stretched[index] * (loss - problem.prior(best) - least)))

    unchanged = [worse_by(index, before) for index, before in enumerate(space.start)]
    p_values = holm([float(chdtrc(1, by)) for by in unchanged])
    for index, name in enumerate(space.names):
        low, high, after = space.low[index], space.high[index], vector[index]
        grid = np.linspace(low, high, points)
        looked_at = sorted(set(np.round(grid) if space.is_whole[index] else grid))
        profile = tuple((float(value), worse_by(index, value)) for value in looked_at)
        within = 1.0 if space.is_whole[index] else _END_WITHIN * float(high - low)
        ends = _interval(profile, float(after), partial(worse_by, index), within)
        end = end_of(float(after), low, high, _AT_END * (high - low))
        parameters.append(
            FittedParameter(
                name, (float(low), float(high)), float(space.start[index]), float(after), *ends,
                p_values[index], end, profile=profile,
            )
        )  # fmt: skip
    return tuple(parameters)


def _interval(
    profile: Iterable[tuple[float, float]], after: float, worse_by: Callable[[float], float], within: float
) -> tuple[float, float]:
    """The values around `after` that are not significantly worse: from the profile's points, then by bisection."""
    ends = []
    for side in (-1, 1):
        points = sorted((side * (value - after), value, by) for value, by in profile if side * (value - after) > 0)
        good = [value for _, value, _ in takewhile(lambda point: not _is_worse(point[2]), points)]
        inside, outside = [after, *good][-1], None if len(good) == len(points) else points[len(good)][1]
        while outside is not None and abs(outside - inside) > within:
            middle = (inside + outside) / 2 if within < 1 else float(round((inside + outside) / 2))
            if _is_worse(worse_by(middle)):
                outside = middle
            else:
                inside = middle
        ends.append(inside)
    return ends[0], ends[1]


def _is_worse(by: float) -> bool:
    return bool(chdtrc(1, by) < ALPHA)


def _stretched(problem: _Problem, vector: Floats, log_scale: float, compared: Comparisons) -> Floats:
    """Return how much larger clustered variances (the sandwich of Huber and White) are than those of independent
    decisions; at least 1."""
    scale = np.exp(log_scale)
    differences, slopes = problem.model(vector)
    logits = scale * differences
    wrong = expit(-logits)
    rows = np.vstack([scale * slopes, logits])
    bread = (rows * (problem.weights * wrong * (1 - wrong))) @ rows.T
    bread[range(len(vector)), range(len(vector))] += 4 / problem.space.width**2
    pull = rows * (problem.weights * wrong)
    by_orbit = np.array([np.bincount(compared.orbits, row) for row in pull])
    inverse = np.linalg.pinv(bread)
    robust = np.diag(inverse @ (by_orbit @ by_orbit.T) @ inverse)[:-1]
    plain = np.diag(inverse)[:-1]
    stretched: Floats = np.maximum(1.0, robust / np.maximum(plain, 1e-300))
    return stretched


def screened(heuristic: Heuristic, values: Mapping[str, float], held_out: Suite, limit: Limit) -> Screening:
    """Screen the heuristic under new values beside itself as it is."""
    before, after = (
        ask(SearchAgent(name, "alphabeta", function, name, limit), held_out.positions)
        for name, function in (("before", heuristic), ("after", bind_parameters(heuristic, values)))
    )
    return screen(held_out, before, [after])


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
        keeps, decision: bool[m] and int64[m], whether the move keeps the win, and the decision it belongs to.
        kept, lost, weights: int64[q] and float64[q], the moves of each pair, and weights, one a decision in all.
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
        """Return the share of decisions whose best move by these values keeps the win; equals share."""
        order = np.unique(self.decision[self.kept])
        counted = np.isin(self.decision, order)
        indices, values = np.searchsorted(order, self.decision[counted]), values[counted]
        best = np.full(len(order), -np.inf)
        np.maximum.at(best, indices, values)
        is_best = values == best[indices]
        kept = np.bincount(indices, is_best & self.keeps[counted])
        return float((kept / np.bincount(indices, is_best)).mean())


def compare_moves(suite: Suite, at: Limit, heuristic: CompiledHeuristic, parameters: Floats) -> Comparisons:
    """Return the pairs of a suite's telling positions.

    Args:
        at: depth 1 looks at the positions after the moves; a deeper or another limit at what a search of that size
            expects, by the heuristic under these parameters. Nodes are those of a whole decision.

    Raises:
        ArithmeticError: the heuristic raises an exception in a search.
    """
    chosen = suite.telling
    moves = [chosen.positions[int(row)] for row in range(len(chosen))]
    after = [(*moves[row], int(cell)) for row, cell in zip(chosen.position_of, chosen.legal, strict=True)]
    children = Positions.of(after, suite.size)
    is_open = ~is_over(children)
    if at.depth != 1:
        rows = np.flatnonzero(is_open)
        counts = np.diff(chosen.starts)[chosen.position_of[rows]]
        nodes = None if at.nodes is None else np.maximum(1, at.nodes // counts)
        depth = None if at.depth is None else at.depth - 1
        lines = expected_lines(heuristic, children.take(rows), parameters, depth, nodes)
        is_open[rows] = np.isfinite(lines.scores)
        for index, row in enumerate(rows):
            after[row] = (*after[row], *lines.cells[index, : lines.plies[index]].tolist())
    players, orbits = chosen.positions.turns[chosen.position_of], np.unique(chosen.orbit, return_inverse=True)[1]
    seen = np.flatnonzero(is_open)
    leaves = EvaluationBatch.of(Positions.of([after[move] for move in seen], suite.size), players[seen])
    keeps, decision = chosen.keeps[seen], chosen.position_of[seen]
    good, bad = np.flatnonzero(keeps), np.flatnonzero(~keeps)
    first, end = (np.searchsorted(decision[bad], decision[good], side) for side in ("left", "right"))
    kept, lost = np.repeat(good, end - first), bad[np.concatenate([np.arange(0), *map(np.arange, first, end)])]
    weights = 1 / np.bincount(decision[kept])[decision[kept]]
    return Comparisons(leaves, keeps, decision, kept, lost, weights, orbits[decision[kept]])
