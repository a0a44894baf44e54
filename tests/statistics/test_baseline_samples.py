"""Openings that the baseline alone has played: what they are worth, and to whom."""

import itertools

import numpy as np
import pytest
from paired import pairs_in
from scipy.stats import norm

from knights_isolation.experiments.statistics.paired_differences import compare, compare_all
from knights_isolation.experiments.statistics.step_down import holm, score_flip_test
from tests.statistics.test_paired_differences import OPPONENTS, games_of


def played(rng, openings, further, likeness=0.0, lead=0.0, contenders=("new",), opponents=OPPONENTS):
    """Games of a baseline, of contenders from the same openings, and of the baseline's control from further ones.

    How well an opening suits an agent decides all of its games; what suits a contender is, by `likeness`, what suits
    the baseline. `lead` is in standard deviations of the luck in a game.
    """
    suits = rng.normal(size=openings + further)

    def wins(liking):
        return rng.random((len(liking), 2)) < norm.cdf(liking[:, None] * 0.7 + np.array([0.8, -0.8]))

    results = {("base", name): wins(suits[:openings]) for name in opponents}
    results |= {("control", name): wins(suits[openings:]) for name in opponents}
    for contender in contenders:
        own = likeness * suits[:openings] + np.sqrt(1 - likeness**2) * rng.normal(size=openings)
        results |= {(contender, name): wins(own + lead / 0.7) for name in opponents}
    numbers = {"base": range(openings), "control": range(openings, openings + further)}
    return results, {**numbers, **dict.fromkeys(contenders, range(openings))}


def table_of(results, openings):
    return pairs_in(games_of(results, openings))


def rates(results, agent):
    """The agent's rate in each opening, over all opponents."""
    return np.mean([wins.mean(axis=1) for (name, _), wins in results.items() if name == agent], axis=0)


@pytest.mark.parametrize("likeness", [0.0, 0.5, 0.95])
def test_the_difference_takes_off_what_the_baseline_won_more_where_the_contender_played(likeness):
    results, openings = played(np.random.default_rng(1), 60, 180, likeness)
    comparisons = compare(table_of(results, openings), "new", "base", also=["control"])
    own, base, options = (rates(results, name) for name in ("new", "base", "control"))
    slope = min(max(np.cov(own, base)[0, 1] / base.var(ddof=1), 0), 1)
    everywhere = np.concatenate([base, options]).mean()
    assert comparisons.difference.estimate == pytest.approx(
        own.mean() - slope * (base.mean() - everywhere) - everywhere
    )
    assert (comparisons.openings, comparisons.baseline_openings, comparisons.unshared) == (60, 240, 0)
    assert comparisons.contender_rate - comparisons.baseline_rate == pytest.approx(comparisons.difference.estimate)


@pytest.mark.exhaustive
def test_further_openings_make_the_interval_narrower_as_much_as_the_contender_is_unlike_the_baseline():
    def narrowing(likeness):
        result = []
        for seed in range(10):
            table = table_of(*played(np.random.default_rng(seed), 100, 300, likeness))
            ends = [compare(table, "new", "base", also=also).difference for also in ((), ("control",))]
            result.append((ends[1].high - ends[1].low) / (ends[0].high - ends[0].low))
        return np.mean(result)

    assert narrowing(0.0) == pytest.approx(np.sqrt((1 + 1 / 4) / 2), abs=0.04)
    assert narrowing(0.0) < narrowing(0.7) < 1


def test_who_plays_alike_is_told_so_whatever_else_the_baseline_played():
    results, openings = played(np.random.default_rng(3), 40, 120)
    results |= {("new", name): results["base", name] for name in OPPONENTS}
    comparisons = compare(table_of(results, openings), "new", "base", also=["control"])
    assert comparisons.plays_alike
    assert (comparisons.difference.estimate, comparisons.p_value, comparisons.p_every_opponent) == (0, 1, 1)


def test_the_p_value_is_that_of_every_way_to_turn_the_scores_over():
    results, openings = played(np.random.default_rng(4), 6, 8)
    comparisons = compare(table_of(results, openings), "new", "base", also=["control"])
    own, base, options = (rates(results, name) for name in ("new", "base", "control"))
    slope = min(max(np.cov(own, base)[0, 1] / base.var(ddof=1), 0), 1)
    usual = np.concatenate([base, options]).mean()
    elsewhere = (1 - slope) * (np.concatenate([base, options]) - usual) / 14
    scores = np.concatenate([(own - usual - slope * (base - usual)) / 6, np.zeros(8)]) - elsewhere
    sums = np.array([np.array(signs) @ scores for signs in itertools.product((1, -1), repeat=14)])
    assert comparisons.p_value == pytest.approx(np.mean(np.abs(sums) >= abs(scores.sum()) * (1 - 1e-9)), abs=0.01)


def test_scores_that_are_multiples_of_a_number_are_tested_like_whole_ones_but_for_ties():
    differences = np.random.default_rng(5).integers(-3, 5, 200)
    exact, rounded = score_flip_test(differences), score_flip_test(differences / 7)
    assert rounded.p_value == pytest.approx(exact.p_value, abs=0.03)
    assert rounded.p_better == pytest.approx(exact.p_better, abs=0.03)
    assert score_flip_test(np.full(9, 1e-18)).p_value == 1


def test_an_opening_played_under_both_names_counts_once():
    results, openings = played(np.random.default_rng(6), 30, 60)
    once = compare(table_of(results, openings), "new", "base", also=["control"])
    both = {name: np.concatenate([results["base", name][:10], results["control", name]]) for name in OPPONENTS}
    results |= {("control", name): wins for name, wins in both.items()}
    openings["control"] = [*range(10), *range(30, 90)]
    again = compare(table_of(results, openings), "new", "base", also=["control"])
    assert again.baseline_openings == 90
    assert again.difference == once.difference


def test_a_pool_leaves_the_unseen_openings_uncertain_and_all_of_them_none():
    results, openings = played(np.random.default_rng(7), 100, 300, 0.3)
    table = table_of(results, openings)
    widths = {}
    for pool in (None, 400, 1000, 100_000):
        ends = compare(table, "new", "base", pool=pool, also=["control"]).difference
        widths[pool] = ends.high - ends.low
    assert widths[100_000] == pytest.approx(widths[None], rel=0.05)
    # with all of the baseline's openings known, the contender's are left, of which a quarter was played
    own = rates(results, "new")
    left = np.sqrt(0.75 * own.var() / 100) * 2 * 1.98
    assert left * 0.9 < widths[400] < left * 1.25
    assert widths[400] < widths[1000] < widths[None]


def test_a_control_is_pooled_for_the_others_only():
    results, openings = played(np.random.default_rng(8), 40, 120, contenders=("a", "b"))
    table = table_of(results, openings)
    a, control, b = compare_all(table, "base", ["a", "control", "b"], controls=["control"], also=["control"])
    assert {item.baseline_openings for item in (a, b)} == {160}
    assert control == compare(table, "control", "base")
    assert not control.paired


@pytest.mark.slow
@pytest.mark.parametrize("likeness", [pytest.param(0.0, marks=pytest.mark.exhaustive), 0.6])
def test_equal_players_are_told_apart_no_more_often_than_alpha_and_intervals_hold(likeness):
    rng = np.random.default_rng(9)
    comparisons = [
        compare(table_of(*played(rng, 30, 70, likeness, opponents=("A", "B"))), "new", "base", also=["control"])
        for _ in range(150)
    ]
    assert np.mean([comparison.p_value <= 0.05 for comparison in comparisons]) < 0.1
    assert np.mean([comparison.difference.low <= 0 <= comparison.difference.high for comparison in comparisons]) > 0.93


@pytest.mark.exhaustive
def test_better_contenders_are_found_more_often_and_equal_ones_as_seldom_as_without():
    rng, names = np.random.default_rng(10), ("a", "b", "c", "d")
    better, any_false = np.zeros(2), np.zeros(2)
    for _ in range(30):
        for index, lead in enumerate((0.35, 0.0)):
            table = table_of(*played(rng, 50, 100, lead=lead, contenders=names, opponents=("A",)))
            for number, also in enumerate(((), ("control",))):
                p_values = [compare(table, name, "base", also=also).p_value for name in names]
                message = np.array(holm(p_values)) <= 0.05
                (better if index == 0 else any_false)[number] += message.sum() if index == 0 else message.any()
    assert better[1] > 1.15 * better[0]
    assert any_false[1] / 30 < 0.15
