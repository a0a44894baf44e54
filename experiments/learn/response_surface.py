"""Quadratic response surface of strength, fitted to all games by logistic regression.

The chance of one end to beat another is the logistic of the difference of their strengths, and strength is quadratic in
the parameters (Coulom 2011, CLOP: local quadratic logistic regression). Two games of an opening with sides swapped say
less, or more, than two independent ones: standard errors are stretched by the dispersion of whole pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm

from ..statistics.proportions import ALPHA
from ..statistics.step_down import holm

Floats = NDArray[np.float64]

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
