"""After a sequential test the estimate is as often too high as too low, and its interval holds the truth."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from knights_isolation.experiments.statistics.proportions import elo_from_score, score_from_elo
from knights_isolation.experiments.statistics.sprt import (
    NORMALIZED_ELO_PER_SIGMA,
    Sprt,
    crossing_chance,
    sprt_path,
    stopped_estimate,
)


def pair_shares(score, split):
    won = score - split / 2
    return np.array([1 - split - won, split, won])


def estimates(sprt, shares, runs, longest, seed=1):
    """The estimate after each of so many tests, and the mean outcome that each read."""
    rng, result, means = np.random.default_rng(seed), [], []
    for _ in range(runs):
        outcomes = rng.choice(len(shares), size=longest, p=shares)
        path = sprt_path(outcomes[: longest // 4], sprt, len(shares))  # most tests are over by then
        path = path if path.decision else sprt_path(outcomes, sprt, len(shares))
        result.append(stopped_estimate(path))
        means.append(path.outcomes[: path.decided_after or longest].mean() / (len(shares) - 1))
    return result, np.array(means)


def held(result, truth):
    """How often the estimate is above the truth, and how often its interval holds it."""
    above = np.mean([interval.estimate > truth for interval in result])
    return above, np.mean([interval.low <= truth <= interval.high for interval in result])


@given(st.floats(-2, 2), st.floats(-8, -0.5), st.floats(0.5, 8))
def test_in_the_end_the_upper_bound_is_met_as_often_as_wald_says(drift, lower, upper):
    ends = [math.exp(-2 * drift * bound) for bound in (lower, upper)]
    expected = (ends[0] - 1) / (ends[0] - ends[1]) if abs(drift) > 1e-6 else lower / (lower - upper)
    assert crossing_chance(drift, 2e3, lower, upper) == pytest.approx(expected, abs=1e-4)


@given(st.floats(-2, 2), st.floats(0.5, 8), st.floats(0.1, 50))
def test_without_a_lower_bound_the_time_is_inverse_gaussian(drift, upper, time):
    root = math.sqrt(time)
    expected = ndtr((drift * time - upper) / root) + math.exp(2 * drift * upper) * ndtr((-drift * time - upper) / root)
    assert crossing_chance(drift, time, -1e3, upper) == pytest.approx(float(expected), abs=1e-9)


@pytest.mark.slow
def test_the_estimate_after_a_test_is_median_unbiased_and_its_interval_covers():
    result, means = estimates(Sprt(0, 70), pair_shares(score_from_elo(70), 0.4), 150, 250)
    above, covered = held(result, 70)
    assert 0.4 < above < 0.6
    assert covered > 0.91
    assert np.mean(means > score_from_elo(70)) > 0.6  # the plain score reads too much: 89 Elo on average
    assert np.mean([elo_from_score(mean) for mean in means]) > 80


@pytest.mark.exhaustive
def test_a_test_that_was_still_open_at_the_end_has_an_estimate_too():
    result, _ = estimates(Sprt(0, 70), pair_shares(score_from_elo(35), 0.4), 100, 40)
    above, covered = held(result, 35)
    assert 0.38 < above < 0.62
    assert covered > 0.9


@given(st.lists(st.integers(0, 14), min_size=2, max_size=60), st.booleans())
def test_far_from_both_hypotheses_the_estimate_after_an_open_test_is_the_mean(leads, is_lost):
    outcomes = np.array([0 if is_lost else 28, *leads])
    path = sprt_path(outcomes if is_lost else 28 - np.array(leads), Sprt(0.5, 0.515, model="score"), 29)
    estimate = stopped_estimate(path)
    assert estimate.low <= estimate.estimate <= estimate.high
    if not path.decision:
        assert estimate.estimate == pytest.approx(path.outcomes.mean() / 28, abs=0.03)


def test_intervals_of_open_tests_far_from_both_hypotheses_cover():
    shares = np.zeros(29)
    shares[2:13:2] = [0.1, 0.2, 0.3, 0.2, 0.1, 0.1]
    result, _ = estimates(Sprt(0.5, 0.515, model="score"), shares, 100, 20)
    above, covered = held(result, float(shares @ np.linspace(0, 1, 29)))
    assert 0.38 < above < 0.62
    assert covered > 0.9


@pytest.mark.exhaustive
@pytest.mark.parametrize(("elo", "split"), [(0, 0.5), (20, 0.88)])
def test_the_estimate_is_median_unbiased_for_small_effects(elo, split):
    result, _ = estimates(Sprt(0, 20), pair_shares(score_from_elo(elo), split), 400, 5000)
    above, covered = held(result, elo)
    assert 0.43 < above < 0.57
    assert covered > 0.925


@pytest.mark.exhaustive
@pytest.mark.parametrize("lead", [-0.03, 0.03])
def test_in_a_gauntlet_as_well(lead):
    rng = np.random.default_rng(3)
    leads = rng.binomial(14, 0.7 + lead, 200_000) - rng.binomial(14, 0.7, 200_000) + 14
    shares = np.bincount(leads, minlength=29) / leads.size
    result, _ = estimates(Sprt(0.5, 0.515, model="score"), shares, 400, 1500)
    above, covered = held(result, float(shares @ np.linspace(0, 1, 29)))
    assert 0.43 < above < 0.57
    assert covered > 0.925


@pytest.mark.exhaustive
def test_in_normalized_elo_as_well():
    split, score = 0.3, 0.549
    shares = pair_shares(score, split)
    deviation = math.sqrt(shares @ np.array([0, 0.25, 1]) - score**2)
    truth = (score - 0.5) / deviation / math.sqrt(2) * NORMALIZED_ELO_PER_SIGMA
    result, _ = estimates(Sprt(0, 60, model="normalized"), shares, 100, 400)
    above, covered = held(result, truth)
    assert 0.36 < above < 0.64
    assert covered > 0.89


@pytest.mark.exhaustive
@given(st.lists(st.integers(0, 2), min_size=1, max_size=80))
def test_the_opponents_estimate_is_the_mirror_image(outcomes):
    ours = stopped_estimate(sprt_path(outcomes, Sprt(-10, 60)))
    theirs = stopped_estimate(sprt_path(2 - np.array(outcomes), Sprt(-60, 10)))
    mirrored = (-theirs.estimate, -theirs.high, -theirs.low)
    assert (ours.estimate, ours.low, ours.high) == pytest.approx(mirrored, rel=1e-3, abs=0.02)


def test_who_passes_sooner_is_stronger_and_what_came_after_the_decision_does_not_count():
    sprt = Sprt(0, 70)
    soon, late = ([*[0, 2] * losses, *[2] * 60] for losses in (2, 8))
    paths = [sprt_path(outcomes, sprt) for outcomes in (soon, late)]
    assert [path.decision for path in paths] == ["H1", "H1"]
    assert stopped_estimate(paths[0]).estimate > stopped_estimate(paths[1]).estimate
    longer = sprt_path([*soon[: paths[0].decided_after], *[0] * 50], sprt)
    assert stopped_estimate(longer) == stopped_estimate(paths[0])
    assert stopped_estimate(sprt_path([], sprt)) is None
