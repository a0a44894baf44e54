"""Published or independently computed values are matched to the digits they are given in."""

import json
from pathlib import Path

import numpy as np
import pytest

from knights_isolation.experiments.statistics.planning import pairs_for_effect, sprt_plan
from knights_isolation.experiments.statistics.proportions import (
    PairCounts,
    elo_from_score,
    pair_interval,
    score_from_elo,
)
from knights_isolation.experiments.statistics.sprt import Sprt, log_likelihood_ratio, sprt_crossings
from knights_isolation.experiments.statistics.step_down import score_flip_test

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "statistics.json").read_text("utf-8"))
PLANNING = REFERENCE["planning"]


@pytest.mark.parametrize("case", REFERENCE["pairs"], ids=lambda case: str(case["pairs"]))
def test_pairs_match_the_reference(case):
    pairs = PairCounts(*case["pairs"])
    assert pairs.score == pytest.approx(case["score"], abs=1e-12)
    assert pairs.variance == pytest.approx(case["variance_per_pair"], abs=1e-12)
    assert pair_interval(pairs).elo[0] == pytest.approx(case["elo"], abs=5.1e-4)
    decided = np.repeat([-1, 1], [pairs.lost, pairs.won])
    assert score_flip_test(decided).p_value == pytest.approx(case["sign_test_p"], abs=5.1e-7)
    assert log_likelihood_ratio(case["pairs"], Sprt(0, 20)) == pytest.approx(case["llr_logistic_0_20"], abs=5.1e-8)


@pytest.mark.parametrize("case", REFERENCE["sprt"], ids=lambda case: f"{case['model']} {case['llr']}")
def test_the_log_likelihood_ratio_matches_published_tests(case):
    sprt = Sprt(case["elo0"], case["elo1"], case["alpha"], case["beta"], case["model"])
    assert log_likelihood_ratio(case["pentanomial"], sprt) == pytest.approx(case["llr"], abs=5.1e-8)
    assert sprt_crossings(case["pentanomial"], sprt) == {2.2503677: 0, 3.0101542: 1}.get(case["llr"], -1)


@pytest.mark.parametrize("elo", ["0", "10", "20"])
def test_the_plan_of_a_sequential_test_matches_the_reference(elo):
    sprt = Sprt(PLANNING["elo0"], PLANNING["elo1"], PLANNING["alpha"], PLANNING["beta"])
    plan = sprt_plan(sprt, float(elo), PLANNING["variance_per_pair"])
    assert plan.pass_probability == pytest.approx(PLANNING["sprt_pass_probability"][elo], abs=1.1e-4)
    assert plan.expected_pairs == pytest.approx(PLANNING["sprt_expected_pairs"][elo], abs=0.51)


@pytest.mark.parametrize(("elo", "pairs"), PLANNING["fixed_n_pairs_power80_two_sided_5pct"].items())
def test_the_pairs_for_an_effect_match_the_reference(elo, pairs):
    effect = score_from_elo(float(elo)) - 0.5
    assert pairs_for_effect(effect, 0.8, 0.05, PLANNING["variance_per_pair"]).pairs == pairs


def test_elo_and_score_are_inverse_and_infinite_at_the_ends():
    for score in (0.01, 0.3, 0.5, 0.999):
        assert score_from_elo(elo_from_score(score)) == pytest.approx(score, abs=1e-12)
    assert (elo_from_score(0), elo_from_score(1)) == (-float("inf"), float("inf"))
    assert score_from_elo(1e6) == 1.0
    with pytest.raises(ValueError, match=r"1\.2"):
        elo_from_score(1.2)
