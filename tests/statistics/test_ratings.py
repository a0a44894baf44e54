"""Ratings explain who beats whom; those that cannot be known are helped, and named."""

import math

import numpy as np
import pandas as pd
import pytest
from paired import pairs_in
from scipy.special import expit

from knights_isolation.experiments.statistics import ratings as ratings_module
from knights_isolation.experiments.statistics.proportions import ELO_PER_LOGIT, ConvergenceError, elo_from_score
from knights_isolation.experiments.statistics.ratings import fit_ratings, outside_main_group, rate_agents


def games_of(results):
    """A frame from {(agent, opponent): array (openings, 2) of wins when placing first and second}."""
    rows = []
    for (agent, opponent), wins in results.items():
        for opening, (first, second) in enumerate(wins):
            pair = f"{agent}/{opponent}/{opening}"
            rows.append((f"{pair}/1", pair, opening, agent, opponent, 1 if first else 2))
            rows.append((f"{pair}/2", pair, opening, opponent, agent, 2 if second else 1))
    columns = ["game_id", "pair_id", "opening_id", "agent_1", "agent_2", "winner"]
    return pd.DataFrame(rows, columns=columns).assign(size="7x7")


def round_robin(rng, strengths, openings, side=1.0):
    favour = rng.normal(size=(openings, 1)) * side * np.array([1.0, -1.0])
    names = list(strengths)
    return {
        (first, second): rng.random((openings, 2)) < expit(strengths[first] - strengths[second] + favour)
        for i, first in enumerate(names)
        for second in names[i + 1 :]
    }


def test_two_agents_differ_by_the_elo_of_their_score():
    wins = np.zeros((20, 2))
    wins[:13] = 1
    ratings = rate_agents(pairs_in(games_of({("a", "b"): wins})), "b")
    best, other = ratings.ratings
    assert (best.agent, best.wins, best.games) == ("a", 26, 40)
    assert best.elo == pytest.approx(elo_from_score(26 / 40))
    assert (other.elo, other.low, other.high) == (0, 0, 0)
    assert best.low < best.elo < best.high


def test_the_fit_expects_exactly_the_wins_each_agent_has():
    wins = np.array([[0, 8, 3, 1], [2, 0, 6, 4], [7, 4, 0, 5], [9, 1, 2, 0]], float)
    logits = fit_ratings(wins)
    games = wins + wins.T
    expected = (games * expit(logits[:, None] - logits[None, :])).sum(axis=1)
    assert expected == pytest.approx(wins.sum(axis=1), abs=1e-8)
    assert logits.mean() == pytest.approx(0, abs=1e-12)


def test_a_stack_of_tables_is_fitted_like_each_of_them():
    rng = np.random.default_rng(0)
    stack = rng.integers(1, 30, size=(5, 4, 4)).astype(float) * (1 - np.eye(4))
    assert np.allclose(fit_ratings(stack), [fit_ratings(table) for table in stack], atol=1e-9)


def test_ratings_do_not_depend_on_which_agent_is_the_zero_but_for_a_shift():
    games = games_of(round_robin(np.random.default_rng(1), {"a": 0.5, "b": 0.0, "c": -0.5}, 30))
    table = pairs_in(games)
    free, fixed = rate_agents(table), rate_agents(table, "c")
    assert sum(rating.elo for rating in free.ratings) == pytest.approx(0, abs=1e-9)
    shifts = {f.agent: x.elo - f.elo for f, x in zip(free.ratings, fixed.ratings, strict=True)}
    assert len({round(shift, 6) for shift in shifts.values()}) == 1
    assert free.superiority == fixed.superiority
    assert [rating.agent for rating in free.ratings] == ["a", "b", "c"]


@pytest.mark.exhaustive
def test_intervals_cover_the_true_difference_although_games_share_openings():
    rng = np.random.default_rng(2)
    truth = {"a": 0.4, "b": 0.0, "c": -0.3}
    covered = 0
    for _ in range(80):
        # without a side to favour, wins have exactly the logistic chances the model assumes
        ratings = rate_agents(pairs_in(games_of(round_robin(rng, truth, 40, side=0.0))), "b", draws=200)
        best = next(rating for rating in ratings.ratings if rating.agent == "a")
        covered += best.low <= 0.4 * ELO_PER_LOGIT <= best.high
    assert covered >= 0.88 * 80


def test_repeating_every_opening_in_more_matchups_does_not_fake_precision():
    wins = np.random.default_rng(3).random((30, 2)) < 0.6
    few = rate_agents(pairs_in(games_of({("a", "b"): wins, ("c", "b"): wins})), "b", seed=1)
    # "c" plays every opening exactly as "a" does, so it adds nothing
    alone = rate_agents(pairs_in(games_of({("a", "b"): wins})), "b", seed=1)
    rating, single = (next(r for r in result.ratings if r.agent == "a") for result in (few, alone))
    assert rating.high - rating.low == pytest.approx(single.high - single.low, rel=0.15)


def test_an_unbeaten_agent_gets_half_a_game_and_is_named():
    ratings = rate_agents(pairs_in(games_of({("a", "b"): np.ones((10, 2))})))
    assert ratings.half_game_added in (("a",), ("b",))
    difference = ratings.ratings[0].elo - ratings.ratings[1].elo
    assert difference == pytest.approx(elo_from_score(20.5 / 21))


def test_agents_that_never_met_are_joined_and_named():
    rng = np.random.default_rng(4)
    results = round_robin(rng, {"a": 0.3, "b": 0.0, "c": 0.0}, 30)
    results |= round_robin(rng, {"y": 0.5, "z": 0.0}, 30)
    ratings = rate_agents(pairs_in(games_of(results)))
    assert ratings.half_game_added == ("y", "z")
    assert all(math.isfinite(rating.elo) for rating in ratings.ratings)
    bounds = {rating.agent: (math.isfinite(rating.low), math.isfinite(rating.high)) for rating in ratings.ratings}
    assert bounds == {"a": (True, True), "b": (True, True), "c": (True, True), "y": (False, False), "z": (False, False)}


def test_nothing_bounds_the_rating_of_an_agent_that_never_lost():
    wins = {("best", "a"): np.ones((20, 2)), ("a", "b"): np.tile([1, 0], (20, 1)), ("a", "worst"): np.ones((20, 2))}
    ratings_by_name = {rating.agent: rating for rating in rate_agents(pairs_in(games_of(wins)), "a").ratings}
    assert 100 < ratings_by_name["best"].low < ratings_by_name["best"].elo < ratings_by_name["best"].high == math.inf
    assert (
        -math.inf == ratings_by_name["worst"].low < ratings_by_name["worst"].elo < ratings_by_name["worst"].high < -100
    )
    assert all(math.isfinite(end) for end in (ratings_by_name["b"].low, ratings_by_name["b"].high))


@pytest.mark.exhaustive
def test_intervals_over_few_openings_cover_ratings_far_from_the_zero():
    rng = np.random.default_rng(9)
    covered = 0
    for seed in range(60):
        # both games of an opening go together half of the time
        first = rng.random((20, 1)) < 0.97
        wins = np.hstack([first, np.where(rng.random((20, 1)) < 0.5, first, rng.random((20, 1)) < 0.97)])
        ratings = rate_agents(pairs_in(games_of({("a", "b"): wins})), "b", seed=seed, draws=250).ratings
        match = next(rating for rating in ratings if rating.agent == "a")
        covered += match.low <= elo_from_score(0.97) <= match.high
    assert covered >= 0.87 * 60


@pytest.mark.exhaustive
def test_few_openings_are_not_as_sure_as_their_resamples():
    ratings = rate_agents(pairs_in(games_of({("a", "b"): np.ones((7, 2))})), "b", draws=4000)
    best = ratings.ratings[0]
    # all but a hundredth of the resamples have the agent ahead, which of many openings would be enough
    assert 0.985 < ratings.superiority[0][1] < 1
    assert best.agent == "a"
    assert best.low < 0 < best.elo


def test_ratings_that_do_not_settle_are_an_error_and_no_result():
    lost_in_rounding = np.array([[0, 1e15], [1, 0]])
    with pytest.raises(ConvergenceError, match="after 200 steps"):
        fit_ratings(lost_in_rounding)
    settled = np.array([[0, 3.0], [1, 0]])
    with pytest.raises(ConvergenceError):
        fit_ratings(np.stack([settled, lost_in_rounding]))


def test_ratings_settle_for_pools_of_any_shape_and_size():
    rng = np.random.default_rng(8)
    for agents in (2, 3, 8, 20):
        for games in (1, 30, 10_000, 1_000_000):
            strength = rng.normal(size=agents) * 4
            wins = rng.binomial(games, expit(strength[:, None] - strength)) * (rng.random((agents, agents)) < 0.5)
            np.fill_diagonal(wins, 0)
            assert np.isfinite(fit_ratings(wins.astype(float))).all()


def test_the_main_group_is_the_one_with_most_agents_and_among_equals_with_most_games():
    def outside(*groups):
        """Whom `outside_main_group` marks, where in every group all have won so many games of each other."""
        agents = sum(size for size, _ in groups)
        wins, start = np.zeros((agents, agents)), 0
        for size, games in groups:
            wins[start : start + size, start : start + size] = games * (1 - np.eye(size))
            start += size
        return outside_main_group(wins).tolist()

    assert outside((2, 1000), (3, 1)) == [True, True, False, False, False]
    assert outside((2, 5), (2, 9)) == [True, True, False, False]


def test_where_the_mean_is_zero_bounds_are_sought_beside_whoever_wins_and_loses_most():
    split = np.tile([1, 0], (20, 1))
    wins = {("best", "a"): np.ones((20, 2)), ("best", "b"): np.ones((20, 2)), ("a", "b"): split}
    ratings_by_name = {rating.agent: rating for rating in rate_agents(pairs_in(games_of(wins))).ratings}
    assert all(math.isfinite(end) for name in "ab" for end in (ratings_by_name[name].low, ratings_by_name[name].high))
    assert ratings_by_name["best"].high == math.inf


def test_a_connected_pool_needs_no_help():
    wins = np.array([[0, 3, 0], [1, 0, 2], [0, 1, 0]], float)
    assert not outside_main_group(wins).any()
    assert outside_main_group(np.array([[0, 3], [0, 0]], float)).sum() == 1


def test_who_is_above_whom_does_not_depend_on_rounding(monkeypatch):
    rng = np.random.default_rng(3)
    results = {("a", "b"): np.tile([True, False], (30, 1)), ("c", "d"): rng.random((30, 2)) < 0.5}
    for other in "cd":
        # a and b do the same against everybody: in many resamples they are equal but for rounding
        results |= {("a", other): (wins := rng.random((30, 2)) < 0.6), ("b", other): wins}
    table = pairs_in(games_of(results))
    exact = rate_agents(table)

    def rounded(wins):
        logits = fit_ratings(wins)
        return logits + rng.normal(scale=1e-9, size=logits.shape)

    monkeypatch.setattr(ratings_module, "fit_ratings", rounded)
    matrices = []
    for result in (exact, rate_agents(table)):
        order = np.argsort([rating.agent for rating in result.ratings])
        matrices.append(np.array(result.superiority)[np.ix_(order, order)].tolist())
    assert matrices[0] == matrices[1]


def test_the_likelihood_of_superiority_is_a_half_for_oneself_and_adds_up_to_one():
    games = games_of(round_robin(np.random.default_rng(5), {"a": 1.0, "b": 0.0, "c": 0.0}, 60))
    ratings = rate_agents(pairs_in(games))
    matrix = np.array(ratings.superiority)
    assert np.allclose(matrix + matrix.T, 1)
    assert np.allclose(np.diag(matrix), 0.5)
    assert ratings.ratings[0].agent == "a"
    assert matrix[0, 1] > 0.99


def test_unfinished_pairs_are_left_out_and_counted():
    games = games_of(round_robin(np.random.default_rng(6), {"a": 0.5, "b": 0.0}, 20))
    ratings = rate_agents(pairs_in(games.iloc[1:]))
    assert ratings.unfinished == 1
    assert ratings.openings == 19
    assert sum(rating.games for rating in ratings.ratings) == 2 * 38


def test_no_games_make_no_ratings():
    empty = games_of({("a", "b"): np.ones((1, 2))}).iloc[:0]
    assert rate_agents(pairs_in(empty)).ratings == ()


def test_the_same_seed_gives_the_same_ratings_and_a_wrong_zero_is_named():
    table = pairs_in(games_of(round_robin(np.random.default_rng(7), {"a": 0.5, "b": 0.0}, 20)))
    assert rate_agents(table, seed=3) == rate_agents(table, seed=3)
    assert rate_agents(table, seed=3) != rate_agents(table, seed=4)
    with pytest.raises(ValueError, match="nobody"):
        rate_agents(table, "nobody")
