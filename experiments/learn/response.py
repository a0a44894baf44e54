"""How winning depends on parameters: a quadratic of strength, fitted to all games of a run by logistic regression.

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

Floats = NDArray[np.float64]

ALPHA = 0.05
"""Up to which p-value something speaks for another value of a parameter."""
DRAWS = 300
_PRIOR = 10.0
"""The standard deviation of the coefficients' prior: a hundred to one over a tenth of the range."""
_MOST_CROSSED = 8
_SEED = 1


@dataclass(frozen=True)
class Contests:
    """Results of n pairs of ends, in parameters scaled to [0, 1].

    Attributes:
        upper: float64[n, p], one end.
        lower: float64[n, p], the other end; None against an opponent that stays what it is.
        wins, games: float64[n], of the upper end.
        squares: float64[n], the sum over pairs of games of the squared deviation of their wins from the mean of the
            contest.
    """

    upper: Floats
    lower: Floats | None
    wins: Floats
    games: Floats
    squares: Floats


@dataclass(frozen=True)
class Response:
    """What the games say.

    Attributes:
        best: float64[p], where strength is greatest within what was played; parameters for whose move
            nothing speaks are held at the start.
        low, high: float64[p], between which 95 % of the best points lie that the games allow.
        p_values: float64[p], see `importance`.
        promised: the share of games that the best point should win of the start, or gain against the opponent: what
            each half of the games says of the best point of the other half, as no game speaks fairly of a point that it
            helped to choose.
        promised_low, promised_high: its 95 % interval.
        edges: float64[2, p], between which games were played.
    """

    best: Floats
    low: Floats
    high: Floats
    p_values: Floats
    promised: float
    promised_low: float
    promised_high: float
    edges: Floats


def importance(upper: Floats, lower: Floats, leads: Floats) -> Floats:
    """For each parameter, the p-value of the hypothesis that moving it changes nothing.

    What the other parameters explain of the leads is taken away; the rest is summed with the signs of the parameter's
    own moves. These were drawn at random, whatever else happened, so the sum is as in a sign-flip test. Terms of the
    path itself would not do: it follows the leads, luck included.

    Args:
        upper, lower: float64[n, p], the two ends of n directions.
        leads: float64[n], by how much the share of games that the upper end won is larger.
    """
    count = upper.shape[1]
    found = []
    for place in range(count):
        others = np.arange(count) != place
        terms = np.hstack([(upper - lower)[:, others], (upper**2 - lower**2)[:, others]])
        rest = leads - terms @ np.linalg.lstsq(terms, leads, rcond=None)[0] if count > 1 else leads
        signs = np.sign(upper[:, place] - lower[:, place])
        spread = float(np.sqrt(np.sum((rest * signs) ** 2)))
        found.append(2 * float(norm.sf(abs(float(signs @ rest)) / spread)) if spread else 1.0)
    return np.array(found)


def respond(contests: Contests, start: Floats, p_values: Floats) -> Response:
    """Fit the quadratic and find its top.

    Args:
        start: float64[p], the point that the best one is compared with.
        p_values: float64[p], see `importance`; those for whose move nothing speaks are held at the start.
    """
    ends = contests.upper if contests.lower is None else np.vstack([contests.upper, contests.lower])
    edges = np.array([ends.min(axis=0), ends.max(axis=0)])
    allowed = np.where(p_values <= ALPHA, edges, start)
    generator = np.random.default_rng(_SEED)
    whole = _model(contests, generator)
    best = _top(whole.terms, allowed, start)
    tops = np.array([_top(terms, edges, best) for terms in whole.drawn_terms])
    low, high = np.quantile(tops, [0.025, 0.975], axis=0)
    halves = [_model(_some(contests, slice(first, None, 2)), generator) for first in (0, 1)]
    promises = [
        judging.promises(_top(choosing.terms, allowed, start), start) for judging, choosing in (halves, halves[::-1])
    ]
    promised, *drawn = np.mean(promises, axis=0)
    worst, most = np.quantile(drawn, [0.025, 0.975])
    return Response(best, low, high, p_values, float(promised), float(worst), float(most), edges)


@dataclass(frozen=True)
class _Model:
    """Coefficients of the quadratic, float64[k], others that the games allow as well, float64[draws, k], and whether
    the first of them is the strength of an opponent."""

    beta: Floats
    drawn: Floats
    has_opponent: bool

    @property
    def terms(self) -> Floats:
        """The coefficients of the parameters' terms."""
        return self.beta[int(self.has_opponent) :]

    @property
    def drawn_terms(self) -> Floats:
        """The same of the others."""
        return self.drawn[:, int(self.has_opponent) :]

    def promises(self, best: Floats, start: Floats) -> Floats:
        """What the coefficients promise of a point, and what the others do: float64[1 + draws]."""
        offset = int(self.has_opponent)
        return np.array([_promised(one, best, start, offset) for one in (self.beta, *self.drawn)])


def _model(contests: Contests, generator: np.random.Generator) -> _Model:
    beta, covariance = _fitted(_rows(contests), contests)
    drawn = generator.multivariate_normal(beta, covariance, DRAWS, method="eigh")
    return _Model(beta, drawn, contests.lower is None)


def _some(contests: Contests, rows: slice) -> Contests:
    """Some of the contests."""
    lower = None if contests.lower is None else contests.lower[rows]
    return Contests(contests.upper[rows], lower, contests.wins[rows], contests.games[rows], contests.squares[rows])


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
    """The coefficients and their covariance, by logistic regression with a wide normal prior."""

    def loss(beta: Floats) -> tuple[float, Floats]:
        logits = rows @ beta
        value = contests.games @ np.logaddexp(0, logits) - contests.wins @ logits + beta @ beta / (2 * _PRIOR**2)
        return float(value), rows.T @ (contests.games * expit(logits) - contests.wins) + beta / _PRIOR**2

    found = minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 2000})
    chances = expit(rows @ found.x)
    information = (rows.T * (contests.games * chances * (1 - chances))) @ rows + np.eye(rows.shape[1]) / _PRIOR**2
    covariance = _dispersion(chances, contests) * np.linalg.inv(information)
    return found.x, np.asarray(covariance, np.float64)


def _dispersion(chances: Floats, contests: Contests) -> float:
    """How much more whole pairs vary than independent games would."""
    pairs = contests.games / 2
    away = contests.squares + pairs * (contests.wins / np.maximum(pairs, 1) - 2 * chances) ** 2
    expected = (pairs * 2 * chances * (1 - chances)).sum()
    return float(away.sum() / max(expected, 1e-12))


def _top(beta: Floats, edges: Floats, start: Floats) -> Floats:
    """Where the quadratic is greatest between the edges, from a start and from the middle."""
    linear, square = _matrices(beta, edges.shape[1])
    if (np.linalg.eigvalsh(square) < 0).all():
        top = np.asarray(np.linalg.solve(-2 * square, linear), np.float64)
        if (top >= edges[0]).all() and (top <= edges[1]).all():
            return top

    def below(point: Floats) -> tuple[float, Floats]:
        return -float(linear @ point + point @ square @ point), -(linear + 2 * square @ point)

    starts = (np.clip(start, *edges), edges.mean(axis=0))
    bounds = list(zip(*edges, strict=True))
    found = [minimize(below, one, jac=True, bounds=bounds, method="L-BFGS-B") for one in starts]
    return np.asarray(min(found, key=lambda one: one.fun).x, np.float64)


def _matrices(beta: Floats, count: int) -> tuple[Floats, Floats]:
    """The quadratic of these coefficients as b·x + x·C·x."""
    square = np.diag(beta[count : 2 * count])
    if count <= _MOST_CROSSED:
        rows, columns = np.triu_indices(count, 1)
        square[rows, columns] += beta[2 * count :] / 2
        square[columns, rows] += beta[2 * count :] / 2
    return beta[:count], square


def _promised(beta: Floats, best: Floats, start: Floats, offset: int) -> float:
    """The share of games won of the start, or gained against the opponent."""
    at_best, at_start = features(best[None])[0], features(start[None])[0]
    if offset:
        return float(expit(beta[0] + at_best @ beta[1:]) - expit(beta[0] + at_start @ beta[1:]))
    return float(expit((at_best - at_start) @ beta))
