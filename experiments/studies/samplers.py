"""What a tuning plays: values that SPSA or Optuna proposes, round by round, and finals.

SPSA, simultaneous perturbation stochastic approximation (Spall 1992, 1998): in round k every parameter, scaled to
[0, 1], is moved up or down at random by c_k, games between the two ends say which end is better, and all parameters
move that way. c_k = c / k^0.101, and the gain falls as 1 / (A + k)^0.602 with A a tenth of the rounds, as Spall
recommends.

A quadratic fitted to all games gives the best values, within the range that was played. The chance of one end to beat
another is the logistic of the difference of their strengths, and strength is quadratic in the parameters (Coulom 2011,
CLOP: local quadratic logistic regression). Two games of an opening with sides swapped say less, or more, than two
independent ones: standard errors are stretched by the dispersion of whole pairs. The quadratic overestimates small
effects, so the new values play finals against the old ones, on openings that were not used for the choice.

Optuna's sampler is TPE, the tree-structured Parzen estimator (Bergstra et al. 2011). The best of many vectors that
played few games looks better than it is: the best play finals, and each half of their openings judges the vector that
the other half prefers.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm

from knights_isolation.isolation.rules.parameters import Parameter

from ..statistics.proportions import ALPHA, Floats, Interval, Ints, mean_parts, rate_interval
from ..statistics.step_down import holm
from .parameter_space import Space, TunedParameter, end_of


class Meeting(NamedTuple):
    """Values that meet `other` values, or whoever stays as they are, on so many openings from a place on."""

    key: int
    values: Floats
    other: Floats | None
    first: int
    openings: int


@dataclass(frozen=True)
class BatchResult:
    """Results of a meeting: for each opening a digit, the games that its values won of two, and the games forfeited."""

    key: int
    won: str
    forfeits: int

    @classmethod
    def of(cls, key: int, wins: Ints, forfeits: int) -> BatchResult:
        """Return the result of a meeting of which so many games were won by opening: int64[n]."""
        return cls(key, "".join(map(str, wins.tolist())), forfeits)

    @property
    def each(self) -> Ints:
        """int64[n], games won of each opening's two."""
        return np.array(list(map(int, self.won)), np.int64)

    @property
    def openings(self) -> int:
        """Number of openings."""
        return len(self.won)

    @property
    def wins(self) -> int:
        """Number of games won."""
        return int(self.each.sum())


@dataclass(frozen=True)
class SpsaPlan:
    """A plan: each round plays so many `directions`, drawn by `seed`, on so many openings, two games each."""

    rounds: int
    directions: int
    openings: int
    seed: int

    @property
    def games(self) -> int:
        """Total number of games."""
        return 2 * self.rounds * self.directions * self.openings


DIRECTIONS = 8
OPTUNA_ROUNDS = 16
FINALISTS = 8
FINALS, OPTUNA_FINALS = 0.1, 0.25
"""Games of SPSA's finals, as a share of the games before them; of Optuna's, as a share of all."""


def plan_of(games: float, seed: int, rounds: int = 100) -> SpsaPlan:
    """Return a plan of about so many games; few games make fewer rounds, so that a direction has 8 openings."""
    rounds = max(1, min(rounds, int(games // (2 * DIRECTIONS * 8))))
    return SpsaPlan(rounds, DIRECTIONS, max(1, round(games / (2 * rounds * DIRECTIONS))), seed)


def sampling_plan(games: int, seed: int) -> SpsaPlan:
    """Return a plan of Optuna's of about so many games, a quarter of them for the finals."""
    return plan_of((1 - OPTUNA_FINALS) * games, seed, OPTUNA_ROUNDS)


def promise(leads: Ints, orbits: Ints, is_alone: bool) -> Interval:
    """Return the result of finals: the share of games won against the old values, or the gain against an opponent.

    Args:
        leads: int64[n], of each opening's two games, those won by the new values less those won by the old.
        is_alone: whether new and old met each other.
    """
    by_orbit, games = np.bincount(orbits, leads), 2 * np.bincount(orbits)
    met = games > 0
    if is_alone:
        return rate_interval(by_orbit[met] + games[met] / 2, games[met])
    return mean_parts(by_orbit[met] / games[met]).alone


_DECAY = 0.602
GAMMA = 0.101
STABILITY = 0.1
WIDTH = 0.25
"""The perturbation in the first round, as a share of the range: smaller ones move nothing."""
_DRIFT = 0.5
"""How far mere luck moves a parameter over a whole run, in perturbations."""


def width(round_: int) -> float:
    """Return how far parameters are moved in a round, the first of which is 1."""
    return float(WIDTH / round_**GAMMA)


def directions(plan: SpsaPlan, round_: int, parameters: int) -> Floats:
    """Return the signs of a round's perturbations, float64[directions, parameters]."""
    signs: Floats = np.random.default_rng([plan.seed, round_]).choice([-1.0, 1.0], (plan.directions, parameters))
    return signs


def ends(point: Floats, signs: Floats, round_: int) -> tuple[Floats, Floats]:
    """Return the two ends of each direction, within [0, 1]."""
    away = width(round_) * signs
    return np.clip(point + away, 0, 1), np.clip(point - away, 0, 1)


def moved(plan: SpsaPlan, point: Floats, signs: Floats, leads: Floats, round_: int) -> Floats:
    """Return the parameters after a round; `leads` are games won minus lost by the upper end of each direction."""
    pairs = plan.rounds * plan.directions * plan.openings
    late = (STABILITY * plan.rounds + round_) / (STABILITY * plan.rounds + (plan.rounds + 1) / 2)
    gain = _DRIFT / np.sqrt(pairs) / late**_DECAY
    stepped: Floats = np.clip(point + gain * width(round_) * (leads @ signs), 0, 1)
    return stepped


class Spsa:
    """SPSA: its path in shares of the ranges; by direction so far both ends, [n, p], and by how much the upper one led.

    A sampler is asked for the meetings of each round and told their results, in the same order, and so for the finals.
    `is_alone`: values meet each other or those of the agent as it is, not an opponent.
    """

    def __init__(self, space: Space, plan: SpsaPlan, is_alone: bool) -> None:
        self._space, self._plan, self._is_alone = space, plan, is_alone
        self._path = [space.shares(space.start)]
        self._uppers = self._lowers = np.empty((0, len(space.free)))
        self._leads = np.empty(0)
        self._results: list[BatchResult] = []

    @staticmethod
    def described(space: Space) -> dict[str, object]:
        """Return what determines the games beside the plan: the ranges."""
        ranges = [[name, low, high] for name, low, high in zip(space.names, space.low, space.high, strict=True)]
        return {"what": "tuning", "parameters": ranges}

    @property
    def point(self) -> Floats:
        """float64[p], the values at which it stands."""
        return self._space.at(self._path[-1])

    def ask(self, round_: int) -> list[Meeting]:
        """Return the directions of a round: both ends against each other, or each against the opponent."""
        space, count = self._space, self._plan.openings
        self._signs = directions(self._plan, round_ + 1, len(space.free))
        both = [space.playable(space.at(points)) for points in ends(self._path[-1], self._signs, round_ + 1)]
        uppers, lowers = map(space.shares, both)
        self._uppers, self._lowers = np.vstack([self._uppers, uppers]), np.vstack([self._lowers, lowers])
        meetings = []
        points = zip(space.at(uppers), space.at(lowers), strict=True)
        for contest, (upper, lower) in enumerate(points, round_ * len(uppers)):
            pairs = [(upper, lower)] if self._is_alone else [(upper, None), (lower, None)]
            meetings += [Meeting(2 * contest + n, *pair, contest * count, count) for n, pair in enumerate(pairs)]
        return meetings

    def tell(self, results: Sequence[BatchResult]) -> None:
        """Move the parameters by who won."""
        wins = np.array([float(result.wins) for result in results]).reshape(len(self._signs), -1)
        leads = 2 * (wins[:, 0] - self._plan.openings) if self._is_alone else wins[:, 0] - wins[:, 1]
        self._results += results
        self._leads = np.append(self._leads, leads)
        self._path.append(moved(self._plan, self._path[-1], self._signs, leads, len(self._path)))

    def finals(self, pool: int) -> list[Meeting]:
        """Fit the quadratic; its best values meet the old ones on a pool of openings, if they differ."""
        self._tuned = _tuned(self._space, self._fitted())
        new, plan = np.array([parameter.after for parameter in self._tuned]), self._plan
        if (new == self._space.start).all():
            return []
        first, count = plan.games // 2, max(1, min(pool, round(FINALS * plan.games / 2)))
        points, key = [new] if self._is_alone else [new, self._space.start], 2 * plan.rounds * plan.directions
        return [Meeting(key + n, point, None, first, count) for n, point in enumerate(points)]

    def conclude(self, results: Sequence[BatchResult], orbits: Ints) -> tuple[tuple[TunedParameter, ...], Interval]:
        """Return the parameters, and what may be expected of them; `orbits` are those of the finals' openings."""
        if not results:
            nothing = np.zeros(1, np.int64)
            return self._tuned, promise(nothing, nothing, self._is_alone)
        leads = results[0].each - (1 if self._is_alone else results[1].each)
        return self._tuned, promise(leads, orbits, self._is_alone)

    def _fitted(self) -> Response:
        won = [result.each for result in self._results]
        contests = Contests(
            self._uppers if self._is_alone else np.hstack([self._uppers, self._lowers]).reshape(len(won), -1),
            self._lowers if self._is_alone else None,
            np.array([each.sum() for each in won], np.float64),
            np.array([2 * len(each) for each in won], np.float64),
            np.array([float(((each - each.mean()) ** 2).sum()) for each in won]),
        )
        matters = importance(self._uppers, self._lowers, self._leads / (2 * self._plan.openings))
        return fit_response(contests, self._path[0], matters)


def _tuned(space: Space, response: Response) -> tuple[TunedParameter, ...]:
    best = space.rounded(space.at(response.best))
    low, high, edges = (space.at(point) for point in (response.low, response.high, response.edges))
    parameters = []
    for index, parameter in enumerate(space.searched):
        ends = float(parameter.low), float(parameter.high)
        end = end_of(best[index], edges[0, index], edges[1, index], 0.01 * (parameter.high - parameter.low))
        p_value, before = float(response.p_values[index]), float(parameter.default)
        after = float(best[index]) if p_value <= ALPHA else before
        values = before, after, float(low[index]), float(high[index])
        parameters.append(TunedParameter(parameter.name, ends, *values, p_value, end))
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
    """Results of n pairs of ends, float64[n, p], in parameters scaled to [0, 1].

    `lower` is None against an opponent that stays what it is. `wins` and `games`, float64[n], are of the upper end,
    `squares` the sums over pairs of games of the squared deviation of their wins from the mean of the contest.
    """

    upper: Floats
    lower: Floats | None
    wins: Floats
    games: Floats
    squares: Floats


@dataclass(frozen=True)
class Response:
    """Result of the quadratic fit, each float64[p].

    `best` is where strength is greatest between the `edges`, float64[2, p], of what was played; parameters for whose
    move nothing speaks are held at the start. `low` and `high` are the central 95 % of the best points that the games
    allow, with the same parameters held. For `p_values` see `importance`.
    """

    best: Floats
    low: Floats
    high: Floats
    p_values: Floats
    edges: Floats


def importance(upper: Floats, lower: Floats, leads: Floats) -> Floats:
    """Return for each parameter the Holm-adjusted p-value of the hypothesis that it has no effect.

    What the other parameters explain of the leads is taken away; the rest is summed with the signs of the parameter's
    own moves, drawn at random whatever else happened, as in a sign-flip test. Terms of the path itself would not do: it
    follows the leads, luck included. Once the path has reached a top, moves up and down do alike, so that early
    directions are also asked by themselves: of the two p-values the smaller counts, twice.

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
    """Fit the quadratic and find its top; parameters whose p-values say nothing are held at the start, float64[p]."""
    ends = contests.upper if contests.lower is None else np.vstack([contests.upper, contests.lower])
    edges = np.array([ends.min(axis=0), ends.max(axis=0)])
    allowed = np.where(p_values <= ALPHA, edges, start)
    beta, covariance = _coefficients(contests)
    drawn = np.random.default_rng(_SEED).multivariate_normal(beta, covariance, DRAWS, method="eigh")
    first = int(contests.lower is None)  # the strength of the opponent comes before the parameters' terms
    best = _top(beta[first:], allowed, start)
    tops = np.array([_top(terms, allowed, best) for terms in drawn[:, first:]])
    low, high = np.quantile(tops, [0.025, 0.975], axis=0)
    return Response(best, low, high, p_values, edges)


def features(points: Floats) -> Floats:
    """Return the terms of the quadratic: p linear ones, p squares, and the products where there are few parameters."""
    count = points.shape[1]
    terms = [points, points**2]
    if count <= _MOST_CROSSED:
        terms += [points[:, i : i + 1] * points[:, i + 1 :] for i in range(count - 1)]
    return np.hstack(terms)


def _coefficients(contests: Contests) -> tuple[Floats, Floats]:
    """Return the coefficients of the terms and their covariance."""
    upper, wins, games = features(contests.upper), contests.wins, contests.games
    alone = np.hstack([np.ones((len(upper), 1)), upper])
    rows = alone if contests.lower is None else upper - features(contests.lower)

    def loss(beta: Floats) -> tuple[float, Floats]:
        logits = rows @ beta
        value = games @ np.logaddexp(0, logits) - wins @ logits + beta @ beta / (2 * _PRIOR**2)
        return float(value), rows.T @ (games * expit(logits) - wins) + beta / _PRIOR**2

    solution = minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 2000})
    chances = expit(rows @ solution.x)
    information = (rows.T * (games * chances * (1 - chances))) @ rows + np.eye(rows.shape[1]) / _PRIOR**2
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
    count = edges.shape[1]
    linear, square = beta[:count], np.diag(beta[count : 2 * count])
    if count <= _MOST_CROSSED:
        rows, columns = np.triu_indices(count, 1)
        square[rows, columns] += beta[2 * count :] / 2
        square[columns, rows] += beta[2 * count :] / 2
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


Point = tuple[float, ...]
"""Values of the parameters that are tuned."""


def check_optuna() -> str:
    """Return the version of Optuna.

    Raises:
        ValueError: it is not installed.
    """
    try:
        import optuna
    except ImportError:
        raise ValueError("--sampler optuna needs Optuna: pip install 'knights-isolation[tuning]'") from None
    return str(optuna.__version__)


class OptunaSearch:
    """Optuna: every vector `tried`, with its games won and played; the values as they are come first. See `Spsa`."""

    def __init__(self, space: Space, plan: SpsaPlan, is_alone: bool) -> None:
        import optuna

        self._space, self._plan, self._is_alone = space, plan, is_alone
        self.tried: dict[Point, tuple[int, int]] = {}
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        with warnings.catch_warnings():
            # the constant liar takes vectors being played for bad ones, so that a round's are not all the same
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            sampler = optuna.samplers.TPESampler(seed=plan.seed, constant_liar=True)
        self._optuna = optuna.create_study(direction="maximize", sampler=sampler)
        self._optuna.enqueue_trial({each.name: each.checked(each.default) for each in space.searched})
        self._distributions = {parameter.name: _distribution(parameter) for parameter in space.searched}

    @staticmethod
    def described(space: Space) -> dict[str, object]:
        """Return the version of Optuna, and the ranges in words."""
        ranges = [[parameter.name, parameter.range_text] for parameter in space.searched]
        return {"what": "sampling", "sampler": f"optuna {check_optuna()}", "parameters": ranges}

    @property
    def point(self) -> Floats:
        """float64[p], the vector that has won most so far."""
        return np.array(max(self.tried, key=lambda point: _shrunk(self.tried, point), default=self._space.start))

    def ask(self, round_: int) -> list[Meeting]:
        """Return a round's vectors, each against the opponent or the values as they are."""
        plan, space = self._plan, self._space
        self._trials = [self._optuna.ask(self._distributions) for _ in range(plan.directions)]
        self._asked = [space.rounded(np.array([trial.params[name] for name in space.names])) for trial in self._trials]
        key, first = round_ * plan.directions, round_ * plan.openings
        return [Meeting(key + n, vector, None, first, plan.openings) for n, vector in enumerate(self._asked)]

    def tell(self, results: Sequence[BatchResult]) -> None:
        """Tell Optuna how many games were won."""
        for trial, vector, result in zip(self._trials, self._asked, results, strict=True):
            self._optuna.tell(trial, result.wins / (2 * result.openings))
            wins, games = self.tried.get(tuple(vector), (0, 0))
            self.tried[tuple(vector)] = wins + result.wins, games + 2 * result.openings

    def finals(self, pool: int) -> list[Meeting]:
        """Let the best meet once more, on openings that none of them was chosen by."""
        others = (point for point in self.tried if point != tuple(self._space.start))
        best = sorted(others, key=lambda point: _shrunk(self.tried, point), reverse=True)[:FINALISTS]
        self._finalists = [self._space.start, *map(np.array, best)]
        count = max(2, min(pool, round(OPTUNA_FINALS / (1 - OPTUNA_FINALS) * self._plan.games / (2 * FINALISTS))))
        key, first = self._plan.rounds * self._plan.directions, self._plan.rounds * self._plan.openings
        points = self._finalists[self._is_alone :]  # the values as they are do not meet themselves
        return [Meeting(key + n, point, None, first, count) for n, point in enumerate(points)]

    def conclude(self, results: Sequence[BatchResult], orbits: Ints) -> tuple[tuple[TunedParameter, ...], Interval]:
        """Return the parameters with the best of the finalists, or as they are, and what may be expected of it."""
        won = np.array([result.each for result in results])
        best, promised = preferred(won, orbits, self._is_alone)
        changes = zip(self._space.searched, self._space.start.tolist(), self._finalists[best].tolist(), strict=True)
        parameters = tuple(
            TunedParameter(each.name, (each.low, each.high), before, after, range_text=each.range_text)
            for each, before, after in changes
        )
        return parameters, promised


def preferred(won: Ints, orbits: Ints, is_alone: bool) -> tuple[int, Interval]:
    """Return the best of finalists, 0 for the values as they are, and what may be expected of it.

    Args:
        won: int64[finalists, n], games won of each opening's two against the values as they are; against an opponent,
            the first row is of these values.
        orbits: int64[n], of the openings.
    """
    # The values as they are lead by nothing, and are preferred to whatever does not lead.
    led = won.reshape(-1, len(orbits)) - 1 if is_alone else won[1:] - won[0]
    leads, halves = np.vstack([np.zeros(len(orbits), np.int64), led]), orbits % 2
    choices = [int(leads[:, halves == half].sum(axis=1).argmax()) for half in (1, 0)]
    promised = promise(np.where(halves == 0, leads[choices[0]], leads[choices[1]]), orbits, is_alone)
    best = int(leads.sum(axis=1).argmax())
    return (0 if promised.estimate <= (0.5 if is_alone else 0) else best), promised


def _distribution(parameter: Parameter) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if parameter.choices:
        return CategoricalDistribution(parameter.choices)
    if parameter.is_whole:
        return IntDistribution(math.ceil(parameter.low), math.floor(parameter.high))
    return FloatDistribution(parameter.low, parameter.high)


def _shrunk(tried: Mapping[Point, tuple[int, int]], point: Point) -> float:
    """The share of games that a vector won, shrunk towards that of all vectors by the games of a single trial."""
    # Vectors asked for again have played more than others, so that their shares stray less.
    won, played = np.sum(list(tried.values()), axis=0)
    wins, games = tried[point]
    prior_games = min(games for _, games in tried.values())
    return float((wins + prior_games * won / played) / (games + prior_games))
