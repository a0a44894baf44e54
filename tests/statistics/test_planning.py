"""Plans keep what they promise, and a family of claims is held together."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from knights_isolation.experiments.statistics.planning import (
    least_variance,
    openings_for_effect,
    pairs_for_effect,
    plan_after_pilot,
    sprt_plan,
)
from knights_isolation.experiments.statistics.proportions import PairCounts, score_from_elo
from knights_isolation.experiments.statistics.sprt import Sprt, sprt_path
from knights_isolation.experiments.statistics.step_down import holm, score_flip_test


def test_a_plan_finds_its_effect_as_often_as_it_says():
    plan = pairs_for_effect(0.06, power=0.8, variance=0.125 - 0.06**2)
    rng = np.random.default_rng(1)
    wins = rng.choice(3, size=(400, plan.pairs), p=(0.25 - 0.06, 0.5, 0.25 + 0.06))
    count = sum(score_flip_test(row - 1).p_value <= 0.05 for row in wins)
    assert count / 400 == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize("variance", [0.125, 0.025])
@pytest.mark.parametrize("effect", [0.1, 0.2, 0.3, 0.45])
def test_a_plan_for_a_large_effect_keeps_its_promise_although_few_pairs_are_needed(effect, variance):
    plan = pairs_for_effect(effect, power=0.8, variance=variance)
    # of the plan's variance; where openings decide nearly all, pairs that are not split are all won
    decided = min(max(4 * (plan.variance + effect**2), 2 * effect), 1)
    shares = np.array([max(decided / 2 - effect, 0), 1 - decided, decided / 2 + effect])
    pairs = np.random.default_rng(4).multinomial(plan.pairs, shares / shares.sum(), size=300).tolist()
    count = sum(score_flip_test(np.repeat([-1, 0, 1], row)).p_value <= 0.05 for row in pairs)
    assert count >= 0.7 * 300
    assert sprt_plan(Sprt(0, 20), 100, variance).variance >= 0.05


@pytest.mark.parametrize("pairs", [PairCounts(0, 90, 10), PairCounts(0, 40, 60), PairCounts(0, 0, 7)])
def test_no_pairs_of_a_lead_vary_less_than_those_of_which_none_is_lost(pairs):
    assert least_variance(pairs.score - 0.5) == pytest.approx(pairs.variance)
    assert least_variance(0.5 - pairs.score) == pytest.approx(pairs.variance)


def test_no_fewer_openings_are_planned_than_can_convince_the_test():
    assert openings_for_effect(0.4, 0.8, 0.05, 0.01).pairs == 6
    assert score_flip_test([1] * 6).p_value <= 0.05 < score_flip_test([1] * 5).p_value


@pytest.mark.slow
def test_a_sequential_plan_tells_length_and_outcome():
    sprt = Sprt(0, 60)
    plan = sprt_plan(sprt, 0.0, 0.125)
    assert plan.pass_probability == pytest.approx(0.05)
    rng = np.random.default_rng(2)
    paths = [sprt_path(rng.choice(3, size=1500, p=(0.25, 0.5, 0.25)), sprt) for _ in range(60)]
    lengths = [path.decided_after for path in paths]
    assert None not in lengths
    assert np.mean(lengths) == pytest.approx(plan.expected_pairs, rel=0.25)
    assert sprt_plan(sprt, 200).pass_probability > 0.999
    assert sprt_plan(sprt, -3000).pass_probability == pytest.approx(0)


def test_half_way_between_the_hypotheses_a_sequential_test_takes_longest():
    sprt = Sprt(0, 20)
    lengths = [sprt_plan(sprt, elo).expected_pairs for elo in (-10, 0, 10, 20, 30)]
    assert max(lengths) == lengths[2]
    exact_middle = (score_from_elo(0) + score_from_elo(20)) / 2
    elo = -400 * math.log10(1 / exact_middle - 1)
    assert sprt_plan(sprt, elo).pass_probability == pytest.approx(0.5, abs=1e-6)


def test_a_pilot_with_openings_that_decide_promises_fewer_pairs():
    decided = plan_after_pilot(PairCounts(3, 94, 3), 0.03)
    free = plan_after_pilot(PairCounts(25, 50, 25), 0.03)
    assert decided.pairs < free.pairs / 2
    assert plan_after_pilot(PairCounts(25, 50, 25), 0.3).pairs < 100 < free.pairs
    assert plan_after_pilot(PairCounts(0, 10, 0), 0.03).pairs > 100


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (lambda: pairs_for_effect(0), "0"),
        (lambda: pairs_for_effect(0.1, power=0.4), r"0\.4"),
        (lambda: pairs_for_effect(0.1, variance=-1), "-1"),
        (lambda: plan_after_pilot(PairCounts(0, 0, 0), 0.1), "no complete pairs"),
        (lambda: sprt_plan(Sprt(0, 20, model="normalized"), 10), "normalized"),
        (lambda: holm([0.5, 1.5]), r"1\.5"),
        (lambda: holm([math.nan]), "nan"),
    ],
)
def test_a_wrong_argument_is_named(call, value):
    with pytest.raises(ValueError, match=value):
        call()


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_lies_between_nothing_and_bonferroni_and_keeps_the_order(p_values):
    adjusted = holm(p_values)
    assert all(p <= a <= min(1, p * len(p_values)) + 1e-12 for p, a in zip(p_values, adjusted, strict=True))
    order = np.argsort(p_values, kind="stable")
    assert (np.diff(np.array(adjusted)[order]) >= 0).all()


def test_holm_gives_its_textbook_values():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([]) == ()


def test_holm_makes_a_false_claim_no_more_often_than_alpha_and_unadjusted_tests_do():
    rng = np.random.default_rng(3)
    shared = rng.normal(size=(3000, 1))
    null = norm.sf((shared + rng.normal(size=(3000, 6))) / math.sqrt(2))  # six true nulls that depend on each other
    real = norm.sf(rng.normal(size=(3000, 2)) + 4)
    held = sum(any(p <= 0.05 for p in holm([*a, *b])[:6]) for a, b in zip(null, real, strict=True))
    assert held <= 0.05 * 3000
    assert (null <= 0.05).any(axis=1).mean() > 0.12
