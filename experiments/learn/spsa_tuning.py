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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm

from ..plan.run_keeping import kept_config
from ..play.runner import Play, play_kept, play_tournament
from ..roster import make_agent, settings_text
from ..statistics.contender_verdicts import judge as judge_run
from ..statistics.game_pairs import matchups
from ..statistics.paired_differences import compare_directly
from ..statistics.proportions import ALPHA, Interval
from ..statistics.run_results import load_findings
from ..statistics.step_down import holm
from . import tuning_games
from .parameter_space import Space, Vector, end_of
from .tuning_games import Batch, BatchResult, Floats, ShowTuning, SpsaPlan, Study, TuningProgress, TuningTask

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


@dataclass(frozen=True)
class TunedParameter:
    """A tuned parameter: its range, values, interval of the best value, and whether it has an effect.

    `p_value` is adjusted for the number of parameters.
    `end` is `lower` or `upper` if the best value lies where no further games were played.
    """

    name: str
    range: tuple[float, float]
    before: float
    after: float
    low: float
    high: float
    p_value: float
    end: str

    @property
    def matters(self) -> bool:
        """Whether the effect on the results is significant."""
        return self.p_value <= ALPHA


@dataclass(frozen=True)
class Tuning:
    """Result of a tuning: the parameters, the result of the finals, the games, and the path of the search.

    `promised` is the share of games that the new values win against the old, or their gain against the opponent.
    """

    parameters: tuple[TunedParameter, ...]
    promised: Interval
    games: int
    forfeits: int
    path: Floats

    @property
    def values(self) -> dict[str, float]:
        """The new values of the parameters that matter."""
        return {parameter.name: parameter.after for parameter in self.parameters if parameter.after != parameter.before}


def tune(
    question: TuningTask, out: Path | None = None, *, show: ShowTuning = lambda progress: None, **where: Any
) -> Tuning:
    """Play the tuning, or its missing batches, and return the best values.

    The result does not depend on the number of jobs.

    Args:
        out: file of the journal.
        show: called after each round.
        where: `jobs` and `cluster`, see `parallel_mapper`.

    Raises:
        ValueError: there is nothing to tune, or `out` has other settings.
    """
    plan = question.plan
    with tuning_games.opened_study(question, out, _described, **where) as study:
        space = study.space
        path = [_scaled(space, space.start)]
        contests: list[_Contest] = []
        show(TuningProgress(0, plan.rounds, space.names, _unscaled(space, np.array(path))))
        for round_ in range(1, plan.rounds + 1):
            signs = directions(plan, round_, len(space.free))
            played = _play_round(study, ends(path[-1], signs, round_), round_)
            contests += played
            leads = np.array([result.lead for result in played])
            path.append(moved(plan, path[-1], signs, leads, round_))
            show(TuningProgress(round_, plan.rounds, space.names, _unscaled(space, np.array(path))))
        uppers, lowers = (np.array([getattr(contest, end) for contest in contests]) for end in ("upper", "lower"))
        matters = importance(uppers, lowers, np.array([contest.lead / contest.games for contest in contests]))
        tuned = _tuned(space, fit_response(_contests(contests, question.opponent is None), path[0], matters))
        promised = _finals(
            study, {parameter.name: parameter.after for parameter in tuned if parameter.after != parameter.before}
        )
    return Tuning(tuned, promised, study.games, study.forfeits, _unscaled(space, np.array(path)))


@dataclass(frozen=True)
class _Contest:
    """The two ends of a direction, scaled, and their results: against each other, or each against the opponent."""

    upper: Vector
    lower: Vector
    tallies: tuple[BatchResult, ...]

    @property
    def lead(self) -> float:
        """Wins minus losses of the upper end; against an opponent, its wins minus those of the lower end."""
        if len(self.tallies) == 1:
            return float(2 * (self.tallies[0].wins - self.tallies[0].openings))
        return float(self.tallies[0].wins - self.tallies[1].wins)

    @property
    def games(self) -> int:
        """Games of each end."""
        return 2 * self.tallies[0].openings


def _described(space: Space) -> dict[str, object]:
    ranges = [[name, low, high] for name, low, high in zip(space.names, space.low, space.high, strict=True)]
    return {"what": "tuning", "parameters": ranges}


def _play_round(study: Study, both: tuple[Vector, Vector], round_: int) -> list[_Contest]:
    question, space, count = study.question, study.space, study.question.plan.openings
    uppers, lowers = (np.array([_nearest_playable(space, point) for point in points]) for points in both)
    due: list[Batch] = []
    for index, points in enumerate(zip(uppers, lowers, strict=True)):
        contest = (round_ - 1) * len(uppers) + index
        values = [space.values(_unscaled(space, end)) for end in points]
        upper, lower = (str(tuning_games.with_values(question.spec, each)) for each in values)
        other = str(question.opponent)
        meetings = [(upper, lower)] if question.opponent is None else [(upper, other), (lower, other)]
        due += [study.pool.batch(2 * contest + n, *pair, contest * count, count) for n, pair in enumerate(meetings)]
    results = study.meet(due)
    each = len(due) // len(uppers)
    return [
        _Contest(upper, lower, tuple(results[index * each : (index + 1) * each]))
        for index, (upper, lower) in enumerate(zip(uppers, lowers, strict=True))
    ]


def _contests(contests: Sequence[_Contest], against_itself: bool) -> Contests:
    tallies = [tally for contest in contests for tally in contest.tallies]
    uppers, lowers = (np.array([getattr(contest, end) for contest in contests]) for end in ("upper", "lower"))
    return Contests(
        uppers if against_itself else np.hstack([uppers, lowers]).reshape(len(tallies), -1),
        lowers if against_itself else None,
        np.array([tally.wins for tally in tallies], np.float64),
        np.array([2 * tally.openings for tally in tallies], np.float64),
        np.array([tally.squares for tally in tallies]),
    )


def _tuned(space: Space, response: Response) -> tuple[TunedParameter, ...]:
    best = space.rounded(_unscaled(space, response.best))
    low, high, edges = (_unscaled(space, point) for point in (response.low, response.high, response.edges))
    width = space.high - space.low
    parameters = []
    for index, name in enumerate(space.names):
        end = end_of(best[index], edges[0, index], edges[1, index], 0.01 * width[index])
        before = float(space.start[index])
        after = float(best[index]) if response.p_values[index] <= ALPHA else before
        parameters.append(
            TunedParameter(
                name, (float(space.low[index]), float(space.high[index])), before, after, float(low[index]),
                float(high[index]), float(response.p_values[index]), end,
            )
        )  # fmt: skip
    return tuple(parameters)


def _finals(study: Study, values: dict[str, float]) -> Interval:
    """Play new values against the old ones, or both against the opponent, on openings kept for this."""
    question, pool, plan = study.question, study.pool, study.question.plan
    against_itself = question.opponent is None
    if not values:
        return tuning_games.promise(np.zeros(1, np.int64), np.zeros(1, np.int64), against_itself)
    first, count = plan.games // 2, max(1, min(len(pool), round(FINALS * plan.games / 2)))
    new, old = str(tuning_games.with_values(question.spec, values)), str(question.spec)
    meetings = [(new, old)] if against_itself else [(agent, str(question.opponent)) for agent in (new, old)]
    key = 2 * plan.rounds * plan.directions
    due = [pool.batch(key + n, *meeting, first, count) for n, meeting in enumerate(meetings)]
    won = [result.each for result in study.meet(due)]
    return tuning_games.promise(
        won[0] - (1 if against_itself else won[1]), pool.orbits[list(due[0].numbers)], against_itself
    )


def _scaled(space: Space, vector: Vector) -> Vector:
    scaled: Vector = (vector - space.low) / (space.high - space.low)
    return scaled


def _unscaled(space: Space, points: Floats) -> Floats:
    values: Floats = space.low + points * (space.high - space.low)
    return values


def _nearest_playable(space: Space, point: Vector) -> Vector:
    vector = _unscaled(space, point)
    return _scaled(space, np.where(space.is_whole, np.round(vector), vector))


@dataclass(frozen=True)
class Judgement:
    """Results of new values on held-out openings, each played twice, and the directory of the games.

    `rate` is the share of games that the new values won against the old ones, its `p_value` against one half. `before`
    and `after` are the shares of games won against the opponent, if there is one, `gain` is their difference.
    """

    run: Path
    pairs: int
    rate: Interval
    p_value: float
    before: Interval | None = None
    after: Interval | None = None
    gain: Interval | None = None
    gain_p_value: float = float("nan")


def judge(
    question: TuningTask,
    values: Mapping[str, float],
    pairs: int,
    *,
    jobs: int = 0,
    cluster: str | None = None,
    out: Path | None = None,
    play: Play = play_tournament,
) -> Judgement:
    """Play the new values against the old ones, and both against the opponent, on held-out openings.

    Args:
        jobs, cluster: see `Config`; a cluster replaces the processes of this machine.
        out: directory of the run; the default is one below `runs/` that the same call finds again.

    Raises:
        KeyboardInterrupt: the run was interrupted; calling this again with the same arguments resumes it.
    """
    old, opponent = question.spec, question.opponent
    new = replace(tuning_games.with_values(old, values), name=f"{old.name}_tuned")
    keys: dict[str, Any] = {
        "format": "gauntlet" if opponent else "head-to-head", "contenders": (str(new),), "baseline": str(old),
        "board": question.size, "openings": f"random:{question.plies},screen", "pairs": pairs,
        "seed": question.plan.seed, "limit": str(old.limit),
    }  # fmt: skip
    if opponent:
        keys |= {"opponents": (str(opponent), str(old)), "control": False}
    players = [settings_text(spec, make_agent(spec)) for spec in (new, old, opponent) if spec]
    where = {"jobs": 0 if cluster else jobs, "cluster": cluster}
    results = load_findings([play_kept(kept_config("tune", keys, players, out, where), play)])
    names = (new.name, old.name)
    duel = compare_directly(results.pairs, *names, pool=results.pool_of(names))
    judgement = Judgement(results.sources[0].info.path, duel.pairs.n, duel.rate, duel.p_value)
    if not opponent:
        return judgement
    (comparison,) = judge_run(results).claims
    after, before = (
        {matchup.opponent: matchup.rate for matchup in matchups(results.pairs, name)}[opponent.name] for name in names
    )
    return replace(judgement, before=before, after=after, gain=comparison.difference, gain_p_value=comparison.p_value)


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
