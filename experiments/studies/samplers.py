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
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm

from knights_isolation.isolation.rules.parameters import Parameter

from ..plan import Spec
from ..statistics.proportions import ALPHA, Floats, Interval, Ints, mean_parts, rate_interval
from ..statistics.step_down import holm
from .batches import Batch, BatchResult, OpeningPool
from .parameter_space import Space, TunedParameter, end_of, with_values


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


class Outcome(NamedTuple):
    """What a search ends with: the parameters, what the finals promise, and of Optuna how many vectors it tried."""

    parameters: tuple[TunedParameter, ...]
    promised: Interval
    vectors: int | None = None


@dataclass(frozen=True)
class Study:
    """A tuning that is played: the agent, its opponent or None, the parameters to search, openings and plan."""

    spec: Spec
    opponent: Spec | None
    space: Space
    pool: OpeningPool
    plan: SpsaPlan

    @property
    def is_alone(self) -> bool:
        """Whether values meet each other or those of the agent as it is, not an opponent."""
        return self.opponent is None

    def batch(self, key: int, values: Floats, other: Floats | None, start: int, count: int) -> Batch:
        """Let values meet others, or whoever stays as they are, on so many openings from a place on."""
        first, second = (
            str(self.opponent or self.spec if point is None else with_values(self.spec, self.space.values(point)))
            for point in (values, other)
        )
        return self.pool.batch(key, first, second, start, count)


Search = Generator[tuple[Floats, list[Batch]], list[BatchResult], Outcome]
"""Yields for each round, and then for the finals, the point where it stands and batches; is sent their results."""


def _finals(
    study: Study, point: Floats, points: Sequence[Floats], keys: int, start: int, count: int
) -> Generator[tuple[Floats, list[Batch]], list[BatchResult], tuple[Ints, Ints]]:
    """Let values meet whoever stays as they are, all on the same openings, which nothing was chosen by.

    Returns:
        int64[points, n], the games won of each opening's two, and int64[n], the orbits of the openings.
    """
    key, count = keys * study.plan.rounds * study.plan.directions, max(1, min(len(study.pool), count))
    finals = [study.batch(key + n, values, None, start, count) for n, values in enumerate(points)]
    results = yield point, finals
    if not finals:
        return np.empty((0, 1), np.int64), np.zeros(1, np.int64)
    return np.array([result.each for result in results]), study.pool.orbits[list(finals[0].numbers)]


def spsa(study: Study) -> Search:
    """Search by SPSA, with finals between the best values of a quadratic and the old ones, if they differ."""
    space, plan, is_alone, count = study.space, study.plan, study.is_alone, study.plan.openings
    path = [space.shares(space.start)]
    uppers = lowers = np.empty((0, len(space.free)))
    all_leads, all_results = np.empty(0), list[BatchResult]()
    for round_ in range(1, plan.rounds + 1):
        signs = directions(plan, round_, len(space.free))
        both = (space.playable(space.at(points)) for points in ends(path[-1], signs, round_))
        upper, lower = (space.shares(points) for points in both)
        batches = []
        for contest, points in enumerate(zip(space.at(upper), space.at(lower), strict=True), len(uppers)):
            pairs = [points] if is_alone else [(point, None) for point in points]
            batches += [study.batch(2 * contest + n, *pair, contest * count, count) for n, pair in enumerate(pairs)]
        results = yield space.at(path[-1]), batches
        wins = np.array([float(result.wins) for result in results]).reshape(len(signs), -1)
        leads = 2 * (wins[:, 0] - count) if is_alone else wins[:, 0] - wins[:, 1]
        path.append(moved(plan, path[-1], signs, leads, round_))
        uppers, lowers = np.vstack([uppers, upper]), np.vstack([lowers, lower])
        all_leads, all_results = np.append(all_leads, leads), [*all_results, *results]
    matters = importance(uppers, lowers, all_leads / (2 * count))
    tuned = _tuned(space, fit_response(_contests(uppers, lowers, all_results, is_alone), path[0], matters))
    new = np.array([parameter.after for parameter in tuned])
    finalists = [] if (new == space.start).all() else [new] if is_alone else [new, space.start]
    finals = _finals(study, space.at(path[-1]), finalists, 2, plan.games // 2, round(FINALS * plan.games / 2))
    won, orbits = yield from finals
    lead = won[0] - (1 if is_alone else won[1]) if finalists else np.zeros(1, np.int64)
    return Outcome(tuned, promise(lead, orbits, is_alone))


def _contests(uppers: Floats, lowers: Floats, results: Sequence[BatchResult], is_alone: bool) -> Contests:
    won = [result.each for result in results]
    return Contests(
        uppers if is_alone else np.hstack([uppers, lowers]).reshape(len(won), -1),
        lowers if is_alone else None,
        np.array([each.sum() for each in won], np.float64),
        np.array([2 * len(each) for each in won], np.float64),
        np.array([float(((each - each.mean()) ** 2).sum()) for each in won]),
    )


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
Tried = dict[Point, tuple[int, int]]
"""By the values of the parameters that are tuned, the games won and played."""


def spsa_facts(space: Space) -> dict[str, object]:
    """Return what determines the games of SPSA beside the plan: the ranges."""
    ranges = [[name, low, high] for name, low, high in zip(space.names, space.low, space.high, strict=True)]
    return {"what": "tuning", "parameters": ranges}


def optuna_facts(space: Space) -> dict[str, object]:
    """Return what determines the games of Optuna beside the plan: its version, and the ranges in words."""
    ranges = [[parameter.name, parameter.range_text] for parameter in space.searched]
    return {"what": "sampling", "sampler": f"optuna {check_optuna()}", "parameters": ranges}


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


def optuna_search(study: Study) -> Search:
    """Search by Optuna, with finals between the best vectors; the values as they are come first."""
    import optuna

    space, plan = study.space, study.plan
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with warnings.catch_warnings():
        # the constant liar takes vectors being played for bad ones, so that a round's are not all the same
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(seed=plan.seed, constant_liar=True)
    optimiser = optuna.create_study(direction="maximize", sampler=sampler)
    optimiser.enqueue_trial({each.name: each.checked(each.default) for each in space.searched})
    distributions = {parameter.name: _distribution(parameter) for parameter in space.searched}
    tried: Tried = {}
    for round_ in range(plan.rounds):
        trials = [optimiser.ask(distributions) for _ in range(plan.directions)]
        vectors = [space.rounded(np.array([trial.params[name] for name in space.names])) for trial in trials]
        key, first = round_ * plan.directions, round_ * plan.openings
        batches = [study.batch(key + n, vector, None, first, plan.openings) for n, vector in enumerate(vectors)]
        results = yield _leader(space, tried), batches
        for trial, vector, result in zip(trials, vectors, results, strict=True):
            optimiser.tell(trial, result.wins / result.games)
            wins, games = tried.get(tuple(vector), (0, 0))
            tried[tuple(vector)] = wins + result.wins, games + result.games
    return (yield from optuna_finals(study, tried))


def optuna_finals(study: Study, tried: Tried) -> Search:
    """Let the best meet once more, and return the parameters with the best of these, or as they are."""
    space, plan = study.space, study.plan
    others = (point for point in tried if point != tuple(space.start))
    best = sorted(others, key=lambda point: _shrunk(tried, point), reverse=True)[:FINALISTS]
    finalists = [space.start, *map(np.array, best)]
    count = max(2, round(OPTUNA_FINALS / (1 - OPTUNA_FINALS) * plan.games / (2 * FINALISTS)))
    points = finalists[study.is_alone :]  # the values as they are do not meet themselves
    won, orbits = yield from _finals(study, _leader(space, tried), points, 1, plan.rounds * plan.openings, count)
    chosen, promised = preferred(won, orbits, study.is_alone)
    changes = zip(space.searched, space.start.tolist(), finalists[chosen].tolist(), strict=True)
    parameters = tuple(
        TunedParameter(each.name, (each.low, each.high), before, after, range_text=each.range_text)
        for each, before, after in changes
    )
    return Outcome(parameters, promised, len(tried))


def _leader(space: Space, tried: Tried) -> Floats:
    """Return the vector that has won most so far."""
    return np.array(max(tried, key=lambda point: _shrunk(tried, point), default=space.start))


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


def _shrunk(tried: Tried, point: Point) -> float:
    """The share of games that a vector won, shrunk towards that of all vectors by the games of a single trial."""
    # Vectors asked for again have played more than others, so that their shares stray less.
    won, played = np.sum(list(tried.values()), axis=0)
    wins, games = tried[point]
    prior_games = min(games for _, games in tried.values())
    return float((wins + prior_games * won / played) / (games + prior_games))
