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
from scipy.stats import chi2

Floats = NDArray[np.float64]

ALPHA = 0.05
"""Up to which p-value a parameter matters."""
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
        best: float64[p], where strength is greatest within what was played; parameters that do not matter are held at
            the start.
        low, high: float64[p], between which 95 % of the best points lie that the games allow.
        p_values: float64[p], of the hypothesis that a parameter does not matter.
        promised: the share of games that the best point should win of the start, or gain against the opponent.
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


def respond(contests: Contests, start: Floats) -> Response:
    """Fit the quadratic and find its top.

    Args:
        start: float64[p], the point that the best one is compared with.
    """
    rows = _rows(contests)
    beta, covariance, loss = _fitted(rows, contests)
    ends = contests.upper if contests.lower is None else np.vstack([contests.upper, contests.lower])
    edges = np.array([ends.min(axis=0), ends.max(axis=0)])
    offset = int(contests.lower is None)
    dispersion = _dispersion(expit(rows @ beta), contests)
    p_values = np.array([_p_value(rows, contests, place, offset, loss, dispersion) for place in range(len(start))])
    best = _top(beta[offset:], np.where(p_values <= ALPHA, edges, start), start)
    draws = np.random.default_rng(_SEED).multivariate_normal(beta, covariance, DRAWS, method="eigh")
    tops = np.array([_top(one[offset:], edges, best) for one in draws])
    low, high = np.quantile(tops, [0.025, 0.975], axis=0)
    worst, most = np.quantile([_promised(one, best, start, offset) for one in draws], [0.025, 0.975])
    promised = _promised(beta, best, start, offset)
    return Response(best, low, high, p_values, promised, float(worst), float(most), edges)


def features(points: Floats) -> Floats:
    """The terms of the quadratic: p linear ones, p squares, and the products where there are few parameters."""
    count = points.shape[1]
    terms = [points, points**2]
    if count <= _MOST_CROSSED:
        terms += [points[:, i : i + 1] * points[:, i + 1 :] for i in range(count - 1)]
    return np.hstack(terms)


def _belongs(count: int, place: int) -> NDArray[np.bool_]:
    """Which terms a parameter has a part in."""
    own = [np.arange(count) == place] * 2
    if count <= _MOST_CROSSED:
        own += [np.array([place in (i, j) for j in range(i + 1, count)], bool) for i in range(count - 1)]
    return np.concatenate(own)


def _rows(contests: Contests) -> Floats:
    upper = features(contests.upper)
    if contests.lower is None:
        return np.hstack([np.ones((len(upper), 1)), upper])
    rows: Floats = upper - features(contests.lower)
    return rows


def _fitted(rows: Floats, contests: Contests) -> tuple[Floats, Floats, float]:
    """The coefficients, their covariance, and the loss, by logistic regression with a wide normal prior."""

    def loss(beta: Floats) -> tuple[float, Floats]:
        logits = rows @ beta
        value = contests.games @ np.logaddexp(0, logits) - contests.wins @ logits + beta @ beta / (2 * _PRIOR**2)
        return float(value), rows.T @ (contests.games * expit(logits) - contests.wins) + beta / _PRIOR**2

    found = minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 2000})
    chances = expit(rows @ found.x)
    information = (rows.T * (contests.games * chances * (1 - chances))) @ rows + np.eye(rows.shape[1]) / _PRIOR**2
    covariance = _dispersion(chances, contests) * np.linalg.inv(information)
    return found.x, np.asarray(covariance, np.float64), float(found.fun)


def _dispersion(chances: Floats, contests: Contests) -> float:
    """How much more whole pairs vary than independent games would."""
    pairs = contests.games / 2
    away = contests.squares + pairs * (contests.wins / np.maximum(pairs, 1) - 2 * chances) ** 2
    expected = (pairs * 2 * chances * (1 - chances)).sum()
    return float(away.sum() / max(expected, 1e-12))


def _p_value(rows: Floats, contests: Contests, place: int, offset: int, loss: float, dispersion: float) -> float:
    """By the likelihood ratio of the fit without all terms of a parameter."""
    count = contests.upper.shape[1]
    kept = np.concatenate([np.ones(offset, bool), ~_belongs(count, place)])
    worse = _fitted(rows[:, kept], contests)[2] if kept.any() else float(contests.games.sum() * np.log(2))
    return float(chi2.sf(max(0.0, 2 * (worse - loss)) / max(dispersion, 1e-12), int((~kept).sum())))


def _top(beta: Floats, edges: Floats, start: Floats) -> Floats:
    """Where the quadratic is greatest between the edges, from a start and from the middle."""
    count = edges.shape[1]

    def below(point: Floats) -> float:
        return -float(features(point[None])[0] @ beta)

    starts = (np.clip(start, *edges), edges.mean(axis=0))
    found = [minimize(below, one, bounds=list(zip(*edges, strict=True)), method="L-BFGS-B") for one in starts]
    best = min(found, key=lambda one: one.fun).x
    return np.asarray(best, np.float64).reshape(count)


def _promised(beta: Floats, best: Floats, start: Floats, offset: int) -> float:
    """The share of games won of the start, or gained against the opponent."""
    at_best, at_start = features(best[None])[0], features(start[None])[0]
    if offset:
        return float(expit(beta[0] + at_best @ beta[1:]) - expit(beta[0] + at_start @ beta[1:]))
    return float(expit((at_best - at_start) @ beta))
