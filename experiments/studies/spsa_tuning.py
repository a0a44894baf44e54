"""Tune parameters with SPSA and a response surface; finals.

SPSA, simultaneous perturbation stochastic approximation (Spall 1992, 1998), chooses the values that play. All
parameters are scaled to [0, 1]. In round k every parameter is moved up or down at random by c_k, games between the two
ends say which end is better, and all parameters move that way. c_k = c / k^0.101, and the gain falls as
1 / (A + k)^0.602 with A a tenth of the rounds: what Spall recommends for runs of any practical length.

A quadratic fitted to all games by logistic regression gives the best values, within the range that was played;
parameters without a significant effect keep their values. The quadratic overestimates small effects, so the new values
play finals against the old ones, on openings that were not used for the choice. Openings are split by orbit: values
tuned on one half are judged on the other.

The chance of one end to beat another is the logistic of the difference of their strengths, and strength is quadratic in
the parameters (Coulom 2011, CLOP: local quadratic logistic regression). Two games of an opening with sides swapped say
less, or more, than two independent ones: standard errors are stretched by the dispersion of whole pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm

from ..statistics.proportions import ALPHA, Interval
from ..statistics.step_down import holm
from .parameter_space import Space, TunedParameter, Vector, end_of
from .tuning_games import Batch, BatchResult, Floats, SpsaPlan, Study, promise

_DECAY = 0.602
GAMMA = 0.101
STABILITY = 0.1
WIDTH = 0.25
"""The perturbation in the first round, as a share of the range: smaller ones move nothing."""
_DRIFT = 0.5
"""How far mere luck moves a parameter over a whole run, in perturbations."""


def width(round_: int) -> float:
    """How far parameters are moved in a round, the first of which is 1."""
    return float(WIDTH / round_**GAMMA)


def directions(plan: SpsaPlan, round_: int, parameters: int) -> Vector:
    """The signs of a round's perturbations, [directions, parameters]; in pairs that differ, where there are several."""
    signs: Vector = np.random.default_rng([plan.seed, round_]).choice([-1.0, 1.0], (plan.directions, parameters))
    return signs


def ends(point: Vector, signs: Vector, round_: int) -> tuple[Vector, Vector]:
    """The two ends of each direction, within [0, 1]."""
    away = width(round_) * signs
    return np.clip(point + away, 0, 1), np.clip(point - away, 0, 1)


def moved(plan: SpsaPlan, point: Vector, signs: Vector, leads: Vector, round_: int) -> Vector:
    """Return the parameters after a round.

    Args:
        leads: of each direction, games won minus games lost by the upper end.
    """
    pairs = plan.rounds * plan.directions * plan.openings
    late = (STABILITY * plan.rounds + round_) / (STABILITY * plan.rounds + (plan.rounds + 1) / 2)
    gain = _DRIFT / np.sqrt(pairs) / late**_DECAY
    stepped: Vector = np.clip(point + gain * width(round_) * (leads @ signs), 0, 1)
    return stepped


FINALS = 0.1
"""Games of the finals, as a share of the games before them."""


class Spsa:
    """The search: the path in shares of the ranges, the ends of all directions so far, and their results."""

    def __init__(self, study: Study) -> None:
        self._study, self._plan = study, study.question.plan
        self._path = [study.space.shares(study.space.start)]
        self._uppers, self._lowers, self._leads = list[Vector](), list[Vector](), list[Floats]()
        self._results: list[BatchResult] = []

    @staticmethod
    def described(space: Space) -> dict[str, object]:
        """Return the ranges."""
        ranges = [[name, low, high] for name, low, high in zip(space.names, space.low, space.high, strict=True)]
        return {"what": "tuning", "parameters": ranges}

    @property
    def point(self) -> Vector:
        """float64[p], the values at which it stands."""
        return self._study.space.at(self._path[-1])

    def batches(self, round_: int) -> list[Batch]:
        """Return the directions of a round: both ends against each other, or each against the opponent."""
        space, pool, count = self._study.space, self._study.pool, self._plan.openings
        signs = directions(self._plan, round_ + 1, len(space.free))
        both = ends(self._path[-1], signs, round_ + 1)
        uppers, lowers = (space.shares(space.playable(space.at(points))) for points in both)
        self._signs = signs
        self._uppers, self._lowers = [*self._uppers, uppers], [*self._lowers, lowers]
        batches = []
        for contest, points in enumerate(zip(uppers, lowers, strict=True), round_ * len(signs)):
            upper, lower = (self._study.text_of(space.at(point)) for point in points)
            other = str(self._study.question.opponent)
            meetings = [(upper, lower)] if self._study.is_against_itself else [(upper, other), (lower, other)]
            batches += [pool.batch(2 * contest + n, *pair, contest * count, count) for n, pair in enumerate(meetings)]
        return batches

    def learn(self, results: Sequence[BatchResult]) -> None:
        """Move the parameters by who won."""
        wins = np.array([float(result.wins) for result in results]).reshape(len(self._signs), -1)
        leads = 2 * (wins[:, 0] - self._plan.openings) if self._study.is_against_itself else wins[:, 0] - wins[:, 1]
        self._results, self._leads = [*self._results, *results], [*self._leads, leads]
        self._path.append(moved(self._plan, self._path[-1], self._signs, leads, len(self._path)))

    def concluded(self) -> tuple[tuple[TunedParameter, ...], Interval]:
        """Fit the quadratic, and let the best values play against the old ones."""
        uppers, lowers, leads = (np.concatenate(parts) for parts in (self._uppers, self._lowers, self._leads))
        matters = importance(uppers, lowers, leads / (2 * self._plan.openings))
        alone = self._study.is_against_itself
        contests = Contests(
            uppers if alone else np.hstack([uppers, lowers]).reshape(len(self._results), -1),
            lowers if alone else None,
            np.array([result.wins for result in self._results], np.float64),
            np.array([2 * result.openings for result in self._results], np.float64),
            np.array([result.squares for result in self._results]),
        )
        parameters = _tuned(self._study.space, fit_response(contests, self._path[0], matters))
        return parameters, self._finals(np.array([parameter.after for parameter in parameters]))

    def _finals(self, new: Vector) -> Interval:
        study, plan, alone = self._study, self._plan, self._study.is_against_itself
        if (new == study.space.start).all():
            return promise(np.zeros(1, np.int64), np.zeros(1, np.int64), alone)
        first, count = plan.games // 2, max(1, min(len(study.pool), round(FINALS * plan.games / 2)))
        points = [new] if alone else [new, study.space.start]
        met = study.meet(study.against_opponent(points, 2 * plan.rounds * plan.directions, first, count))
        won = [result.each for result in met]
        return promise(won[0] - (1 if alone else won[1]), study.pool.orbits_of(first, count), alone)


def _tuned(space: Space, response: Response) -> tuple[TunedParameter, ...]:
    best = space.rounded(space.at(response.best))
    low, high, edges = (space.at(point) for point in (response.low, response.high, response.edges))
    parameters = []
    for index, parameter in enumerate(space.searched):
        end = end_of(best[index], edges[0, index], edges[1, index], 0.01 * (parameter.high - parameter.low))
        p_value, before = float(response.p_values[index]), float(parameter.default)
        after = float(best[index]) if p_value <= ALPHA else before
        values = before, after, float(low[index]), float(high[index])
        parameters.append(
            TunedParameter(parameter.name, (float(parameter.low), float(parameter.high)), *values, p_value, end)
        )
    return tuple(parameters)


DRAWS = 300
_PRIOR = 10.0
"""The standard deviation of the coefficients' prior: a hundred to one over a tenth of the range."""
_MOST_CROSSED = 8
_EARLY = 0.01
"""Of all directions, the share after which one counts half as much as the first where early ones are asked."""
_SEED = 1


@dataclass(frozen=True)
class Contests:
    """Results of n pairs of ends, in parameters scaled to [0, 1].

    `upper` and `lower` are float64[n, p]; `lower` is None against an opponent that stays what it is. `wins` and
    `games`, float64[n], are of the upper end, `squares` the sums over pairs of games of the squared deviation of their
    wins from the mean of the contest.
    """

    upper: Floats
    lower: Floats | None
    wins: Floats
    games: Floats
    squares: Floats


@dataclass(frozen=True)
class Response:
    """Result of the quadratic fit, each float64[p].

    `best` is where strength is greatest within what was played; parameters for whose move nothing speaks are held at
    the start. `low` and `high` are the central 95 % of the best points that the games allow, with the same parameters
    held. For `p_values` see `importance`. Games were played between the `edges`, float64[2, p].
    """

    best: Floats
    low: Floats
    high: Floats
    p_values: Floats
    edges: Floats


def importance(upper: Floats, lower: Floats, leads: Floats) -> Floats:
    """Return for each parameter the Holm-adjusted p-value of the hypothesis that it has no effect.

    What the other parameters explain of the leads is taken away; the rest is summed with the signs of the parameter's
    own moves. These were drawn at random, whatever else happened, so the sum is as in a sign-flip test. Terms of the
    path itself would not do: it follows the leads, luck included. Once the path has reached a top, moves up and down do
    alike, so that early directions are also asked by themselves: of the two p-values the smaller counts, twice.

    Args:
        upper, lower: float64[n, p], the two ends of n directions, in the order in which they were played.
        leads: float64[n], by how much the share of games that the upper end won is larger.
    """
    rows, count = upper.shape
    weights = np.array([np.ones(rows), 1 / (_EARLY * rows + np.arange(1, rows + 1))])
    p_values = []
    for index in range(count):
        others = np.arange(count) != index
        terms = np.hstack([(upper - lower)[:, others], (upper**2 - lower**2)[:, others]])
        residuals = leads - terms @ np.linalg.lstsq(terms, leads, rcond=None)[0] if count > 1 else leads
        signs = np.sign(upper[:, index] - lower[:, index])
        spreads = np.sqrt(np.sum((weights * residuals * signs) ** 2, axis=1))
        sums = np.abs(weights @ (residuals * signs))
        p_values.append(min(1.0, 2 * 2 * float(norm.sf((sums / spreads).max()))) if spreads.all() else 1.0)
    return np.array(holm(p_values))


def fit_response(contests: Contests, start: Floats, p_values: Floats) -> Response:
    """Fit the quadratic and find its top.

    Args:
        start: float64[p], where parameters stand.
        p_values: float64[p], see `importance`; those for whose move nothing speaks are held at the start.
    """
    ends = contests.upper if contests.lower is None else np.vstack([contests.upper, contests.lower])
    edges = np.array([ends.min(axis=0), ends.max(axis=0)])
    allowed = np.where(p_values <= ALPHA, edges, start)
    beta, covariance = _fitted(_rows(contests), contests)
    drawn = np.random.default_rng(_SEED).multivariate_normal(beta, covariance, DRAWS, method="eigh")
    first = int(contests.lower is None)  # the strength of the opponent comes before the parameters' terms
    best = _top(beta[first:], allowed, start)
    tops = np.array([_top(terms, allowed, best) for terms in drawn[:, first:]])
    low, high = np.quantile(tops, [0.025, 0.975], axis=0)
    return Response(best, low, high, p_values, edges)


def features(points: Floats) -> Floats:
    """The terms of the quadratic: p linear ones, p squares, and the products where there are few parameters."""
    count = points.shape[1]
    terms = [points, points**2]
    if count <= _MOST_CROSSED:
        terms += [points[:, i : i + 1] * points[:, i + 1 :] for i in range(count - 1)]
    return np.hstack(terms)


def _rows(contests: Contests) -> Floats:
    upper = features(contests.upper)
    if contests.lower is None:
        return np.hstack([np.ones((len(upper), 1)), upper])
    rows: Floats = upper - features(contests.lower)
    return rows


def _fitted(rows: Floats, contests: Contests) -> tuple[Floats, Floats]:

    def loss(beta: Floats) -> tuple[float, Floats]:
        logits = rows @ beta
        value = contests.games @ np.logaddexp(0, logits) - contests.wins @ logits + beta @ beta / (2 * _PRIOR**2)
        return float(value), rows.T @ (contests.games * expit(logits) - contests.wins) + beta / _PRIOR**2

    solution = minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 2000})
    chances = expit(rows @ solution.x)
    information = (rows.T * (contests.games * chances * (1 - chances))) @ rows + np.eye(rows.shape[1]) / _PRIOR**2
    covariance = _dispersion(chances, contests) * np.linalg.inv(information)
    return solution.x, np.asarray(covariance, np.float64)


def _dispersion(chances: Floats, contests: Contests) -> float:
    """How much more whole pairs vary than independent games would."""
    pairs = contests.games / 2
    away = contests.squares + pairs * (contests.wins / np.maximum(pairs, 1) - 2 * chances) ** 2
    expected = (pairs * 2 * chances * (1 - chances)).sum()
    return float(away.sum() / max(expected, 1e-12))


def _top(beta: Floats, edges: Floats, start: Floats) -> Floats:
    """Return the maximum of the quadratic between the edges, searched from a start and from the middle."""
    linear, square = _matrices(beta, edges.shape[1])
    if (np.linalg.eigvalsh(square) < 0).all():
        top = np.asarray(np.linalg.solve(-2 * square, linear), np.float64)
        if (top >= edges[0]).all() and (top <= edges[1]).all():
            return top

    def below(point: Floats) -> tuple[float, Floats]:
        return -float(linear @ point + point @ square @ point), -(linear + 2 * square @ point)

    starts = (np.clip(start, *edges), edges.mean(axis=0))
    bounds = list(zip(*edges, strict=True))
    solutions = [minimize(below, start, jac=True, bounds=bounds, method="L-BFGS-B") for start in starts]
    return np.asarray(min(solutions, key=lambda solution: solution.fun).x, np.float64)


def _matrices(beta: Floats, count: int) -> tuple[Floats, Floats]:
    square = np.diag(beta[count : 2 * count])
    if count <= _MOST_CROSSED:
        rows, columns = np.triu_indices(count, 1)
        square[rows, columns] += beta[2 * count :] / 2
        square[columns, rows] += beta[2 * count :] / 2
    return beta[:count], square
