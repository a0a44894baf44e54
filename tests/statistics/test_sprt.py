"""Sequential tests and live intervals err no more than they say when looked at after every pair."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from knights_isolation.experiments.statistics import sprt as likelihood
from knights_isolation.experiments.statistics.anytime import confidence_sequence
from knights_isolation.experiments.statistics.proportions import (
    ConvergenceError,
    count_pairs,
    pair_interval,
    score_from_elo,
)
from knights_isolation.experiments.statistics.sprt import (
    Sprt,
    constrain_deviations,
    constrain_mean,
    log_likelihood_ratio,
    sprt_crossings,
    sprt_path,
)


def pair_shares(score, split):
    won = score - split / 2
    return np.array([1 - split - won, split, won])


def stopping_chances(sprt, shares, longest, crossings=sprt_crossings):
    """Chances (H0 accepted, H1 accepted, still open) when looking after every pair, by following every count."""
    alive, accepted = np.ones((1, 1)), np.zeros(2)
    for n in range(1, longest + 1):
        following = np.zeros((n + 1, n + 1))
        following[:n, :n] += alive * shares[1]
        following[1:, :n] += alive * shares[0]
        following[:n, 1:] += alive * shares[2]
        lost, won = np.nonzero(following > 1e-8)
        crossed = crossings(np.stack([lost, n - lost - won, won], axis=-1), sprt)
        chances = following[lost, won]
        accepted += [chances[crossed < 0].sum(), chances[crossed > 0].sum()]
        following[lost[crossed != 0], won[crossed != 0]] = 0
        alive = following
        if alive.sum() < 1e-3:
            break
    return accepted[0], accepted[1], alive.sum()


def plain_crossings(counts, sprt):
    ratio = log_likelihood_ratio(counts, sprt)
    return (ratio >= sprt.upper_bound).astype(int) - (ratio <= sprt.lower_bound)


CASES = [(70, 0.75), (100, 0.0), (100, 0.5), (100, 0.9), (200, 0.1), (300, 0.0)]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("elo", "split"), CASES)
def test_the_sprt_errs_less_than_alpha_and_beta_when_looked_at_after_every_pair(elo, split):
    sprt = Sprt(0, elo)
    _, wrong, still_open = stopping_chances(sprt, pair_shares(0.5, split), 500)
    assert wrong + still_open < sprt.alpha
    if pair_shares(score_from_elo(elo), split).min() >= 0:
        wrong, _, still_open = stopping_chances(sprt, pair_shares(score_from_elo(elo), split), 500)
        assert wrong + still_open < sprt.beta


@pytest.mark.exhaustive
def test_the_sprt_errs_less_than_it_says_for_a_small_effect_where_openings_decide_nearly_everything():
    wrong, _, still_open = stopping_chances(Sprt(0, 20), pair_shares(score_from_elo(20), 0.93), 1200)
    assert wrong + still_open < 0.05


def test_a_decision_has_to_hold_with_half_an_observation_added_at_either_end():
    sprt, counts = Sprt(0, 70), np.array([16, 30, 33])
    ratios = [float(log_likelihood_ratio(counts + added, sprt)) for added in ([0, 0, 0], [0.5, 0, 0.5])]
    assert ratios[0] > sprt.upper_bound > ratios[1]
    assert sprt_crossings(counts, sprt) == 0
    # a quarter would not have been enough to hold it back, and one more pair won is enough to decide
    assert log_likelihood_ratio(counts + np.array([0.25, 0, 0.25]), sprt) > sprt.upper_bound
    assert sprt_crossings(counts + np.array([0, 0, 1]), sprt) == 1


def test_an_outcome_that_was_never_seen_counts_as_a_thousandth():
    for counts, filled in (([0, 40, 60], [0.001, 40, 60]), ([5, 0, 0], [5, 0.001, 0.001])):
        assert log_likelihood_ratio(counts, Sprt(0, 50)) == log_likelihood_ratio(filled, Sprt(0, 50))
    assert log_likelihood_ratio([0.01, 40, 60], Sprt(0, 50)) != log_likelihood_ratio([0, 40, 60], Sprt(0, 50))


def test_the_bounds_are_those_of_wald():
    sprt = Sprt(0, 20, alpha=0.1, beta=0.2)
    assert (sprt.lower_bound, sprt.upper_bound) == (math.log(0.2 / 0.9), math.log(0.8 / 0.1))


def test_without_its_guard_the_sprt_would_err_more_than_it_says():
    shares = pair_shares(score_from_elo(70), 0.75)
    wrong, _, _ = stopping_chances(Sprt(0, 70), shares, 500, plain_crossings)
    assert wrong > 0.05


@pytest.mark.exhaustive
def test_the_normalized_model_errs_less_than_it_says():
    for split in (0.0, 0.5, 0.9):
        _, wrong, still_open = stopping_chances(Sprt(0, 200, model="normalized"), pair_shares(0.5, split), 120)
        assert wrong + still_open < 0.05


@pytest.mark.exhaustive
@given(st.lists(st.integers(0, 2), min_size=1, max_size=60), st.sampled_from(["logistic", "normalized"]))
def test_the_path_is_the_ratio_of_every_beginning(outcomes, model):
    sprt = Sprt(0, 100, model=model)
    path = sprt_path(outcomes, sprt)
    beginnings = [np.bincount(outcomes[:n], minlength=3) for n in range(1, len(outcomes) + 1)]
    assert path.llr == pytest.approx([float(log_likelihood_ratio(counts, sprt)) for counts in beginnings], abs=1e-9)


@given(st.tuples(*[st.integers(0, 300)] * 3))
def test_the_opponents_test_is_the_mirror_image(counts):
    ours = log_likelihood_ratio(counts, Sprt(-10, 30))
    theirs = log_likelihood_ratio(counts[::-1], Sprt(-30, 10))
    assert float(ours) == pytest.approx(-float(theirs), abs=1e-7)


@given(st.lists(st.integers(0, 3000), min_size=3, max_size=3), st.floats(0.02, 0.98))
def test_the_likeliest_shares_of_a_given_mean_add_up_and_have_it(counts, mean):
    shares = np.maximum(counts, 1e-3) / np.maximum(counts, 1e-3).sum()
    fitted = constrain_mean(shares, mean)
    assert fitted.sum() == pytest.approx(1, abs=1e-6)
    assert fitted @ [0, 0.5, 1] == pytest.approx(mean, abs=1e-6)
    # no other shares of that mean are likelier: not those a little to either side along the constraint
    for step in (1e-4, -1e-4):
        other = fitted + step * np.array([1, -2, 1])
        assert (other <= 0).any() or shares @ np.log(other / fitted) <= 1e-12


@pytest.mark.parametrize("mean", [1.5, -0.2])
def test_a_mean_that_no_shares_have_is_an_error_and_no_result(mean):
    with pytest.raises(ConvergenceError, match="all of one sign"):
        constrain_mean(np.array([0.2, 0.4, 0.4]), mean)


def test_a_search_that_is_cut_short_is_an_error_and_no_result(monkeypatch):
    monkeypatch.setattr(likelihood, "_STEPS", 3)
    with pytest.raises(ConvergenceError, match="in 3 steps"):
        constrain_mean(np.array([0.1, 0.2, 0.7]), 0.3)


def test_shares_that_do_not_settle_or_are_no_numbers_are_an_error():
    with pytest.raises(ConvergenceError):
        constrain_deviations(np.array([0.4, 0.2, 0.4]), 1.5)
    with pytest.raises(ValueError, match="nan"):
        constrain_mean(np.array([0.5, np.nan, 0.5]), 0.5)


@given(st.lists(st.integers(0, 3000), min_size=3, max_size=3), st.floats(-0.7, 0.7))
def test_shares_at_a_distance_in_deviations_are_at_that_distance(counts, distance):
    shares = np.maximum(counts, 1e-3) / np.maximum(counts, 1e-3).sum()
    fitted = constrain_deviations(shares, distance)
    mean = fitted @ [0, 0.5, 1]
    deviation = np.sqrt(fitted @ [0, 0.25, 1] - mean**2)
    assert mean - 0.5 == pytest.approx(distance * deviation, abs=1e-6)


def test_a_test_stops_at_its_first_crossing_and_says_which():
    better = sprt_path([2, 2, 1, 2, 2] * 20, Sprt(0, 100))
    assert better.decision == "H1"
    assert better.decided_after is not None
    assert better.llr[better.decided_after - 1] >= Sprt(0, 100).upper_bound
    assert (better.llr[: better.decided_after - 10] < Sprt(0, 100).upper_bound).all()
    assert sprt_path([0, 1, 0, 0] * 20, Sprt(0, 100)).decision == "H0"


def test_a_test_without_pairs_is_open():
    path = sprt_path([], Sprt(0, 20))
    assert path.decision is None
    assert path.llr.size == 0
    assert log_likelihood_ratio([0, 0, 0], Sprt(0, 20)) == 0


def test_single_games_have_two_classes_and_the_ratio_of_wald():
    s0, s1 = score_from_elo(0), score_from_elo(50)
    expected = 40 * math.log(s1 / s0) + 20 * math.log((1 - s1) / (1 - s0))
    assert float(log_likelihood_ratio([20, 40], Sprt(0, 50))) == pytest.approx(expected, abs=1e-9)


LEADS = np.arange(-5, 5) / 14
LEADS_SEEN = (1, 17, 74, 170, 321, 418, 400, 195, 84, 20)
"""Leads over the baseline, in fourteenths, of 17 contenders from 100 openings of a default tournament."""


def leads_with_mean(mean):
    """Shares of `LEADS` as they were seen, tilted so that they have this mean."""

    def tilted(strength):
        weights = LEADS_SEEN * np.exp(strength * LEADS)
        return weights / weights.sum()

    return tilted(brentq(lambda strength: tilted(strength) @ LEADS - mean, -20, 20))


def gauntlet_tests(leads, shares, most, runs=600, openings=600):
    """Shares of tests between 0 and 3 points that ended with H0 and with H1, and their mean length."""
    rng = np.random.default_rng(7)
    drawn = rng.choice(np.round((leads + 1) * most).astype(int), p=shares, size=(runs, openings))
    paths = [sprt_path(game, Sprt(0.5, 0.515, model="score"), 2 * most + 1) for game in drawn]
    lengths = [path.decided_after or openings for path in paths]
    return *(np.mean([path.decision == game for path in paths]) for game in ("H0", "H1")), np.mean(lengths)


@pytest.mark.parametrize(("points", "longest"), [(0, 120), (3, 120), (5, 65)])
def test_a_gauntlets_test_decides_early_and_errs_less_than_it_says(points, longest):
    no_better, better, length = gauntlet_tests(LEADS, leads_with_mean(points / 100), 14, runs=1500)
    assert length < longest
    assert (better if points == 0 else no_better) < 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    ("leads", "shares", "most", "wrong"),
    [
        # three openings in a hundred cost, or win, half of their games; the rest makes up for it
        ((-7 / 14, -1 / 14, 0, 1 / 14), (0.03, 0.1915, 0.3785, 0.4), 14, 1),
        # a single opponent: the opening decides all, or nearly all openings are alike
        ((-0.5, 0.5), (0.5, 0.5), 2, 1),
        ((-0.5, 0.5), (0.47, 0.53), 2, 0),
        ((-1, 0, 1), (0.1, 0.8, 0.1), 2, 1),
        ((0, 0.5), (0.94, 0.06), 2, 0),
    ],
)
def test_a_gauntlets_test_errs_less_than_it_says_where_openings_weigh_unevenly(leads, shares, most, wrong):
    leads, shares = np.array(leads), np.array(shares) / np.sum(shares)
    assert gauntlet_tests(leads, shares, most, 1000, 1200)[wrong] < 0.06


@given(st.lists(st.integers(0, 28), min_size=1, max_size=60))
def test_the_baselines_test_is_the_mirror_image_of_the_contenders(outcomes):
    ours = sprt_path(outcomes, Sprt(0.5, 0.515, model="score"), 29)
    theirs = sprt_path(28 - np.array(outcomes), Sprt(0.485, 0.5, model="score"), 29)
    assert ours.llr == pytest.approx(-theirs.llr, abs=1e-9)
    assert {ours.decision, theirs.decision} in ({None}, {"H0", "H1"})


def test_differences_of_a_gauntlet_are_tested_as_scores():
    rng = np.random.default_rng(4)
    better = sprt_path(rng.binomial(28, 0.56, size=400), Sprt(0.5, 0.53, model="score"), classes=29)
    assert better.decision == "H1"


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (lambda: Sprt(20, 0), "20"),
        (lambda: Sprt(0, 20, alpha=0), "alpha"),
        (lambda: Sprt(0, 20, model="bayes"), "bayes"),
        (lambda: Sprt(0, 0.5, model="score"), "low"),
        (lambda: sprt_path([3], Sprt(0, 20)), "3"),
        (lambda: log_likelihood_ratio([1, -2, 3], Sprt(0, 20)), "-2"),
        (lambda: confidence_sequence([0.5, 2]), "2"),
        (lambda: confidence_sequence([0.5, 0.5], pool=1), "1"),
    ],
)
def test_a_wrong_argument_is_named(call, value):
    with pytest.raises(ValueError, match=value):
        call()


@pytest.mark.exhaustive
@pytest.mark.parametrize("shares", [(0.25, 0.5, 0.25), (0.02, 0.96, 0.02), (0.5, 0, 0.5), (0.01, 0.04, 0.95)])
def test_the_live_interval_misses_the_truth_less_often_than_alpha_however_often_one_looks(shares):
    rng = np.random.default_rng(11)
    truth = shares[2] + shares[1] / 2
    missed = 0
    for _ in range(300):
        sequence = confidence_sequence(rng.choice(3, size=400, p=shares) / 2, 0.9)
        missed += bool((sequence.low > truth).any() or (sequence.high < truth).any())
    assert missed <= 30


def test_the_price_of_looking_at_any_time_is_a_wider_interval_than_that_of_one_look():
    wins = np.random.default_rng(11).choice(3, size=400, p=(0.25, 0.5, 0.25))
    sequence, fixed = confidence_sequence(wins / 2, 0.9), pair_interval(count_pairs(wins), 0.9)
    width, shortest = sequence.last[1] - sequence.last[0], fixed.high - fixed.low
    assert 1.2 * shortest < width < 3 * shortest


@pytest.mark.parametrize("pool", [60, 200])
def test_the_live_interval_for_a_finite_pool_holds_and_ends_exact(pool):
    rng = np.random.default_rng(5)
    values = rng.choice(3, size=pool, p=(0.3, 0.5, 0.2)) / 2
    truth = values.mean()
    missed = 0
    for _ in range(300):
        sequence = confidence_sequence(rng.permutation(values), 0.9, pool)
        missed += bool((sequence.low > truth + 1e-12).any() or (sequence.high < truth - 1e-12).any())
        assert sequence.last == pytest.approx((truth, truth), abs=1e-9)
    assert missed <= 30


def betting_interval(values, alpha):
    """The hedged capital process written out, one candidate mean and one bet after the other."""
    kept = []
    for mean in np.linspace(0, 1, 1001)[1:-1]:
        above = below = 1.0
        total, squares, variance, is_open = 0.5, 0.25, 0.25, True
        for t, value in enumerate(values, start=1):
            # the bet is made before the value is seen, by the variance of those before it
            bet = math.sqrt(2 * math.log(2 / alpha) / (variance * t * math.log(t + 1)))
            above *= 1 + min(bet, 0.5 / mean) * (value - mean)
            below *= 1 - min(bet, 0.5 / (1 - mean)) * (value - mean)
            is_open &= max(above, below) < 2 / alpha
            total += value
            squares += (value - total / (t + 1)) ** 2
            variance = squares / (t + 1)
        if is_open:
            kept.append(mean)
    return min(kept), max(kept)


@pytest.mark.parametrize("shares", [(0.2, 0.3, 0.5), (0.02, 0.96, 0.02), (0.1, 0, 0.9)])
def test_the_live_interval_is_that_of_the_hedged_capital_process(shares):
    values = np.random.default_rng(6).choice(3, size=60, p=shares) / 2
    low, high = betting_interval(values, 0.1)
    # the ends are rounded outwards to the next thousandth
    assert confidence_sequence(values, 0.9).last == pytest.approx((low - 0.001, high + 0.001), abs=1e-9)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=80))
def test_the_live_interval_only_ever_shrinks(values):
    sequence = confidence_sequence(values)
    assert (np.diff(sequence.low) >= 0).all()
    assert (np.diff(sequence.high) <= 0).all()
    assert (sequence.low <= sequence.high).all()


def test_the_live_interval_of_a_beginning_is_the_beginning_of_the_live_interval():
    values = np.random.default_rng(2).integers(0, 3, 2000) / 2
    whole, part = confidence_sequence(values), confidence_sequence(values[:700])
    assert np.array_equal(whole.low[:700], part.low)
    assert np.array_equal(whole.high[:700], part.high)
    assert whole.mean[-1] == pytest.approx(values.mean())


def test_the_live_interval_knows_nothing_without_values_and_closes_in_with_many():
    assert confidence_sequence([]).last == (0.0, 1.0)
    low, high = confidence_sequence(np.random.default_rng(3).integers(0, 3, 20_000) / 2).last
    assert high - low < 0.04
    low, high = confidence_sequence(np.ones(200)).last
    assert low > 0.9
    assert high == 1
