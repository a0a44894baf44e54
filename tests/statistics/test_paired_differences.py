"""Contender against baseline: openings are the unit, and everything that is left out is said."""

import itertools
import math
from dataclasses import astuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paired import pairs_in
from scipy.stats import binomtest, f, norm, spearmanr, t

from knights_isolation.experiments.statistics.game_pairs import matchups, splits, standings
from knights_isolation.experiments.statistics.paired_differences import (
    Comparison,
    HeadToHead,
    compare,
    compare_all,
    compare_directly,
)
from knights_isolation.experiments.statistics.planning import (
    detectable_effect,
    plan_after_pilot,
    power_over_every_opponent,
)
from knights_isolation.experiments.statistics.proportions import (
    Interval,
    PairCounts,
    mean_parts,
    pair_interval,
    rate_interval,
    stretch,
)
from knights_isolation.experiments.statistics.step_down import flip, score_flip_test, step_down


def games_of(results, openings=None):
    """A frame of games from {(agent, opponent): array (openings, 2) of wins when placing first and second}."""
    rows = []
    for (agent, opponent), wins in results.items():
        ids = range(len(wins)) if openings is None else openings[agent]
        for opening, (first, second) in zip(ids, wins, strict=True):
            pair = f"{agent}/{opponent}/{opening}"
            rows.append((f"{pair}/1", pair, opening, agent, opponent, 1 if first else 2, opening % 2 == 0))
            rows.append((f"{pair}/2", pair, opening, opponent, agent, 2 if second else 1, opening % 2 == 0))
    columns = ["game_id", "pair_id", "opening_id", "agent_1", "agent_2", "winner", "same_colour"]
    return pd.DataFrame(rows, columns=columns).assign(size="7x7")


def tournament(rng, agents, opponents, openings, strength=0.0, taste=1.5):
    """Results in which an opening favours a side, and suits one agent more than another in all its games."""
    side = rng.normal(size=(openings, 1)) * np.array([1.0, -1.0])
    results = {}
    for number, agent in enumerate(agents):
        liking = rng.normal(size=(openings, 1)) * taste
        for level, opponent in enumerate(opponents):
            latent = liking + side + (strength if number else 0) - 0.2 * level
            results[agent, opponent] = rng.random((openings, 2)) < norm.cdf(latent)
    return results


OPPONENTS = ("Random", "Greedy", "MM", "AB")


def wins_per_opening(results, agent):
    return sum(wins.sum(axis=1) for (name, _), wins in results.items() if name == agent)


def test_the_p_value_of_a_comparison_is_that_of_the_sign_flips_of_whole_openings():
    results = tournament(np.random.default_rng(1), ("base", "new"), OPPONENTS, 40, 0.5)
    comparison = compare(pairs_in(games_of(results)), "new", "base")
    differences = wins_per_opening(results, "new") - wins_per_opening(results, "base")
    assert comparison.p_value == score_flip_test(differences).p_value
    assert comparison.paired
    assert comparison.openings == 40
    assert comparison.difference.estimate == pytest.approx(differences.mean() / 8, abs=1e-12)


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=7))
@settings(max_examples=20, deadline=None)
def test_the_sign_flip_test_is_exact(differences):
    sizes = np.abs(differences)
    patterns = np.array(list(itertools.product([-1, 1], repeat=len(sizes)))) * sizes
    sums = patterns.sum(axis=1)
    observed = sum(differences)
    test = score_flip_test(differences)
    assert test.p_value == pytest.approx((np.abs(sums) >= abs(observed)).mean(), abs=1e-12)
    assert test.p_better == pytest.approx((sums >= observed).mean(), abs=1e-12)
    ps = np.array([score_flip_test(pattern).p_value for pattern in patterns])
    for alpha in (0.01, 0.05, 0.2):
        assert (ps <= alpha).mean() <= alpha


@pytest.mark.slow
def test_the_sign_flip_test_agrees_with_the_sign_test_and_with_shuffling():
    ones = np.repeat([1, -1, 0], [60, 40, 100])
    assert score_flip_test(ones).p_value == pytest.approx(binomtest(60, 100).pvalue, abs=1e-12)
    rng = np.random.default_rng(0)
    differences = rng.integers(-14, 15, 3000) + (rng.random(3000) < 0.1)
    flips = rng.choice([-1, 1], size=(4000, 3000)) @ differences
    shuffled = (np.abs(flips) >= abs(differences.sum())).mean()
    assert score_flip_test(differences).p_value == pytest.approx(shuffled, abs=0.03)
    assert score_flip_test(np.ones(5000)).p_value < 1e-10


def test_no_p_value_claims_more_than_its_test_can_know():
    # sums so far out are known to twelve digits only, and of 19,999 flips none may be as far as what was seen
    certain = score_flip_test(np.ones(5000))
    assert (certain.p_value, certain.p_better) == (2e-12, 1e-12)
    many = [mean_parts(np.ones(60)), mean_parts(np.ones(60))]
    assert step_down(many, [flip(item).p_value for item in many]).adjusted == (1 / 20_000, 1 / 20_000)


@pytest.mark.exhaustive
def test_equal_players_that_suit_different_openings_are_told_apart_no_more_often_than_alpha_but_mcnemar_does():
    rng = np.random.default_rng(7)
    by_opening = by_cell = 0
    runs = 1200
    for _ in range(runs):
        results = tournament(rng, ("base", "new"), OPPONENTS, 40)
        differences = wins_per_opening(results, "new") - wins_per_opening(results, "base")
        by_opening += score_flip_test(differences).p_value <= 0.05
        cells = np.concatenate(
            [(results["new", name].astype(int) - results["base", name]).ravel() for name in OPPONENTS]
        )
        up, down = (cells > 0).sum(), (cells < 0).sum()
        by_cell += binomtest(up, up + down).pvalue <= 0.05
    assert binomtest(by_opening, runs, 0.05, "greater").pvalue > 0.01
    assert binomtest(by_cell, runs, 0.05, "greater").pvalue < 1e-9
    assert by_cell > 0.15 * runs


def test_the_interval_of_a_difference_covers_it_and_that_of_cells_taken_as_independent_does_not():
    rng = np.random.default_rng(3)
    by_opening = by_cell = 0
    for _ in range(300):
        results = tournament(rng, ("base", "new"), OPPONENTS, 30)
        cells = np.stack([(results["new", n].mean(axis=1) - results["base", n].mean(axis=1)) for n in OPPONENTS])
        interval = mean_parts(cells.mean(axis=0), len(OPPONENTS)).alone
        by_opening += interval.low <= 0 <= interval.high
        by_cell += abs(cells.mean()) <= 1.96 * cells.std() / math.sqrt(cells.size)
    assert by_opening >= 0.93 * 300
    assert by_cell < 0.85 * 300


@pytest.mark.exhaustive
def test_two_players_on_openings_of_their_own_are_told_apart_no_more_often_than_alpha():
    rng = np.random.default_rng(5)
    rejected = covered = 0
    for _ in range(200):
        liking = rng.normal(size=(2, 30, 1))
        wins = {
            (a, o): rng.random((30, 2)) < norm.cdf(liking[n]) for n, a in enumerate(("base", "new")) for o in "ABCD"
        }
        comparisons = compare(pairs_in(games_of(wins, {"base": range(30), "new": range(30, 60)})), "new", "base")
        rejected += comparisons.p_value <= 0.05
        covered += comparisons.parts.alone.low <= 0 <= comparisons.parts.alone.high
    assert binomtest(rejected, 200, 0.05, "greater").pvalue > 0.01
    assert covered >= 0.93 * 200


def test_a_better_contender_is_found_better_and_seen_from_the_other_side_worse():
    results = tournament(np.random.default_rng(2), ("base", "new"), OPPONENTS, 150, 1.0, 0.3)
    table = pairs_in(games_of(results))
    forth, back = compare(table, "new", "base"), compare(table, "base", "new")
    assert (forth.verdict, back.verdict) == ("better", "worse")
    assert forth.p_value == back.p_value
    assert forth.difference.estimate == -back.difference.estimate
    assert forth.better_against_every_opponent
    assert not back.better_against_every_opponent
    assert forth.contender_rate - forth.baseline_rate == pytest.approx(forth.difference.estimate, abs=1e-12)


def test_better_on_average_is_not_better_against_every_opponent():
    results = tournament(np.random.default_rng(2), ("base", "new"), OPPONENTS, 150, 1.0, 0.3)
    results["new", "AB"] = results["base", "AB"]
    comparison = compare(pairs_in(games_of(results)), "new", "base")
    assert comparison.verdict == "better"
    assert not comparison.better_against_every_opponent
    same = next(effect for effect in comparison.effects if effect.opponent == "AB")
    assert same.difference.estimate == 0
    assert comparison.p_every_opponent == max(effect.p_better for effect in comparison.effects)


def test_an_effect_on_one_opponent_only_is_heterogeneous():
    rng = np.random.default_rng(9)
    uneven = tournament(rng, ("base", "new"), OPPONENTS, 200, 0.0, 0.3)
    uneven["new", "AB"] = rng.random((200, 2)) < 0.95
    assert compare(pairs_in(games_of(uneven)), "new", "base").heterogeneity[2] < 1e-6


def test_the_same_gain_against_every_opponent_is_not_heterogeneous_at_all():
    results = {("base", name): np.arange(40).reshape(20, 2) % 3 == 0 for name in OPPONENTS}
    results |= {("new", name): results["base", name] | (np.arange(20) % 4 == 1)[:, None] for name in OPPONENTS}
    comparison = compare(pairs_in(games_of(results)), "new", "base")
    assert comparison.heterogeneity[0] == pytest.approx(0, abs=1e-9)
    assert comparison.heterogeneity[2] == pytest.approx(1)
    assert comparison.heterogeneity[1] == 3


@pytest.mark.slow
def test_heterogeneity_is_claimed_no_more_often_than_alpha():
    rng = np.random.default_rng(13)
    result = 0
    for _ in range(100):
        results = tournament(rng, ("base", "new"), ("MM", "AB", "AB2"), 25)
        for level in ("AB", "AB2"):  # the same opponent thrice, by other names
            results["new", level], results["base", level] = (
                np.where(rng.random((25, 1)) < 0.5, results[agent, "MM"], rng.permuted(results[agent, "MM"], axis=1))
                for agent in ("new", "base")
            )
        result += compare(pairs_in(games_of(results)), "new", "base").heterogeneity[2] <= 0.05
    assert result <= 0.05 * 100 + 4


def test_the_standard_error_is_clustered_by_opening():
    results = tournament(np.random.default_rng(4), ("base", "new"), OPPONENTS, 60)
    comparison = compare(pairs_in(games_of(results)), "new", "base")
    sums = (wins_per_opening(results, "new") - wins_per_opening(results, "base")) / 8
    assert np.sqrt(np.mean(comparison.covariance)) == pytest.approx(sums.std(ddof=1) / math.sqrt(60), rel=1e-9)


def test_openings_alike_by_symmetry_count_as_one():
    results = tournament(np.random.default_rng(6), ("base", "new"), OPPONENTS, 30, 0.6)
    fourfold = {key: np.tile(wins, (4, 1)) for key, wins in results.items()}
    games = games_of(fourfold).assign(orbit_id=lambda frame: frame["opening_id"] % 30)
    clustered = compare(pairs_in(games, cluster="orbit_id"), "new", "base")
    naive = compare(pairs_in(games), "new", "base")
    single = compare(pairs_in(games_of(results)), "new", "base")
    assert clustered.openings == naive.openings == 120
    assert clustered.p_value == pytest.approx(single.p_value)
    assert np.mean(clustered.covariance) == pytest.approx(np.mean(single.covariance))
    assert naive.p_value < single.p_value


def test_a_census_is_exact_for_its_openings_and_half_of_one_is_surer_than_a_sample():
    results = tournament(np.random.default_rng(8), ("base", "new"), OPPONENTS, 50, 0.3)
    table = pairs_in(games_of(results))
    census, part = compare(table, "new", "base", pool=50), compare(table, "new", "base", pool=200)
    assert census.is_census
    assert census.difference.low == census.difference.high == census.difference.estimate == census.jointly.low
    assert census.verdict == ("better" if census.difference.estimate > 0 else "worse")
    assert census.p_value == 0
    assert all(effect.difference.low == effect.difference.high for effect in census.effects)
    sample = compare(table, "new", "base")
    assert not part.is_census
    assert sample.difference.low < part.difference.low < part.difference.high < sample.difference.high
    assert 0 < part.p_value < sample.p_value
    with pytest.raises(ValueError, match="49"):
        compare(table, "new", "base", pool=49)


def test_a_census_with_a_gap_is_none():
    games = games_of(tournament(np.random.default_rng(8), ("base", "new"), OPPONENTS, 50, 0.3))
    gap = compare(pairs_in(games[games["game_id"] != "new/MM/3/2"]), "new", "base", pool=50)
    assert (gap.openings, gap.is_census) == (50, False)
    assert gap.difference.low < gap.difference.high


def test_all_openings_are_no_census_if_some_of_their_games_depend_on_chance():
    games = games_of(tournament(np.random.default_rng(8), ("base", "new"), OPPONENTS, 50, 0.3))
    comparison = compare(pairs_in(games), "new", "base", pool=50, chance=OPPONENTS[:1])
    assert not comparison.is_census
    assert comparison.difference.low < comparison.difference.high


def test_a_census_of_agents_that_play_alike_finds_them_equal():
    results = tournament(np.random.default_rng(8), ("base", "new"), OPPONENTS, 50)
    results |= {("new", name): results["base", name] for name in OPPONENTS}
    comparison = compare(pairs_in(games_of(results)), "new", "base", pool=50)
    assert (comparison.verdict, comparison.p_value) == ("equal", 1)
    assert comparison.difference.low == comparison.difference.high == 0


def test_agents_with_the_same_results_where_chance_has_no_part_play_alike():
    rng = np.random.default_rng(8)
    results = tournament(rng, ("base", "new"), OPPONENTS, 50)
    results |= {("new", name): results["base", name] for name in OPPONENTS[1:]}
    table = pairs_in(games_of(results))
    assert compare(table, "new", "base", chance=["Random"]).plays_alike
    assert not compare(table, "new", "base").plays_alike
    assert not compare(table, "new", "base", chance=OPPONENTS).plays_alike


def test_a_control_on_openings_of_its_own_is_compared_as_an_independent_sample():
    rng = np.random.default_rng(11)
    results = tournament(rng, ("base", "new"), OPPONENTS, 40, 0.5)
    results |= {("control", name): wins for (_, name), wins in tournament(rng, ("c",), OPPONENTS, 40).items()}
    openings = {"base": range(40), "new": range(40), "control": range(100, 140)}
    table = pairs_in(games_of(results, openings))
    pools = {"new": 1000, "control": 1000}
    new, control = compare_all(table, "base", ["new", "control"], controls=["control"], pools=pools)
    assert new.paired
    assert not control.paired
    assert control.pool is None
    assert (control.openings, control.baseline_openings, control.unshared) == (40, 40, 0)
    assert control.adjusted_p == control.p_value
    assert new.adjusted_p == new.p_value
    assert control.verdict == "no significant difference"
    assert compare_all(table, "base", ["new", "control"], controls=["control"], pools=pools) == (new, control)


@pytest.mark.parametrize(("common", "paired"), [(10, True), (9, False)])
def test_openings_are_paired_where_at_least_half_of_the_fewer_are_shared(common, paired):
    results = tournament(np.random.default_rng(31), ("base", "new"), OPPONENTS, 20)
    openings = {"base": range(20), "new": range(20 - common, 40 - common)}
    comparison = compare(pairs_in(games_of(results, openings)), "new", "base")
    assert comparison.paired == paired
    assert comparison.openings == (common if paired else 20)
    assert comparison.unshared == (2 * (20 - common) if paired else 0)


def test_half_of_the_openings_unseen_leave_the_root_of_half_of_the_doubt():
    results = tournament(np.random.default_rng(8), ("base", "new"), OPPONENTS, 100, 0.3)
    table = pairs_in(games_of(results))
    half, sample = compare(table, "new", "base", pool=200), compare(table, "new", "base")
    widths = [comparison.difference.high - comparison.difference.low for comparison in (half, sample)]
    assert widths[0] / widths[1] == pytest.approx(math.sqrt(0.5), rel=0.08)
    assert half.variance_per_opening == pytest.approx(sample.variance_per_opening, rel=0.16)


def test_heterogeneity_is_hotellings_test_of_the_differences_between_opponents():
    results = tournament(np.random.default_rng(32), ("base", "new"), OPPONENTS, 12, 0.4, 0.3)
    comparison = compare(pairs_in(games_of(results)), "new", "base")
    gains = np.stack([(results["new", n].sum(axis=1) - results["base", n].sum(axis=1)) / 2 for n in OPPONENTS], axis=1)
    contrasts = gains[:, 1:] - gains[:, :1]
    mean, spread = contrasts.mean(axis=0), np.cov(contrasts.T)
    squared = 12 * mean @ np.linalg.solve(spread, mean)
    # the opening that is added to keep the covariance invertible weighs against the claim
    assert 0.6 * squared < comparison.heterogeneity[0] < squared
    assert comparison.heterogeneity[2] == pytest.approx(
        f.sf(comparison.heterogeneity[0] * (12 - 3) / (11 * 3), 3, 12 - 3)
    )


def test_playing_an_opening_more_often_than_the_baseline_is_no_lead():
    wins = {name: np.random.default_rng(33).random((25, 2)) < 0.7 for name in OPPONENTS}
    games = games_of({(agent, name): wins[name] for agent in ("base", "new") for name in OPPONENTS})
    again = games[games["agent_1"].eq("new") | games["agent_2"].eq("new")]
    again = again.assign(game_id=again["game_id"] + "b", pair_id=again["pair_id"] + "b")
    comparison = compare(pairs_in(pd.concat([games, again])), "new", "base")
    assert (comparison.difference.estimate, comparison.p_value) == (0, 1)


def test_the_variance_of_an_opening_is_about_that_of_the_openings_seen():
    results = tournament(np.random.default_rng(34), ("base", "new"), OPPONENTS, 400, 0.1)
    gains = (wins_per_opening(results, "new") - wins_per_opening(results, "base")) / 8
    comparison = compare(pairs_in(games_of(results)), "new", "base")
    assert comparison.variance_per_opening == pytest.approx(gains.var(), rel=0.12)


def test_the_difference_of_players_on_openings_of_their_own_is_that_of_their_rates():
    results = {("new", "A"): np.ones((40, 2)), ("base", "A"): np.zeros((40, 2))}
    results["new", "A"][30:, 1] = results["base", "A"][20:, 0] = 0
    results["base", "A"][:20, 0] = 1
    interval = compare(pairs_in(games_of(results, {"new": range(40), "base": range(40, 80)})), "new", "base").difference
    assert interval.estimate == pytest.approx(0.875 - 0.25)
    assert 0.45 < interval.low < interval.estimate < interval.high < 0.75


def test_contenders_of_one_report_are_adjusted_together():
    names = ("base", "a", "b", "c")
    results = tournament(np.random.default_rng(12), names, OPPONENTS, 40, 0.6)
    comparisons = compare_all(pairs_in(games_of(results)), "base")
    assert [comparison.contender for comparison in comparisons] == ["a", "b", "c"]
    judged = step_down([c.parts for c in comparisons], [c.p_value for c in comparisons])
    assert tuple(c.adjusted_p for c in comparisons) == judged.adjusted
    assert tuple(c.jointly for c in comparisons) == judged.intervals
    assert all(c.family == 3 for c in comparisons)


def test_what_could_have_been_found_is_what_a_plan_by_the_same_variance_says_it_takes():
    results = tournament(np.random.default_rng(22), ("base", "new"), OPPONENTS, 30, 0.15)
    comparison = compare(pairs_in(games_of(results)), "new", "base")
    reach = detectable_effect(comparison, 0.02)
    assert reach.still_needed == plan_after_pilot(comparison, 0.02).pairs - comparison.openings > 0
    assert plan_after_pilot(comparison, reach.difference).pairs == pytest.approx(30, abs=1)
    assert detectable_effect(comparison, 1.1 * reach.difference).still_needed == 0


def test_what_a_difference_costs_depends_on_how_many_contenders_share_alpha():
    rng = np.random.default_rng(5)
    results = tournament(np.random.default_rng(22), ("base", "a", "b"), OPPONENTS, 30, 0.15)
    results |= {("c", "base"): rng.random((40, 2)) < 0.54}
    a, _, c = compare_all(pairs_in(games_of(results)), "base", ["a", "b", "c"])
    assert isinstance(a, Comparison)
    assert isinstance(c, HeadToHead)
    of_a, of_c = (plan_after_pilot(each, 0.05, alpha=a.alpha / 3).pairs for each in (a, c.pairs))
    assert detectable_effect(a, 0.05).still_needed == of_a - a.openings
    assert detectable_effect(c, 0.05).still_needed == of_c - c.openings


@pytest.mark.exhaustive
def test_joint_intervals_hold_together_where_single_ones_do_not():
    rng = np.random.default_rng(12)
    together = alone = 0
    for _ in range(100):
        values = rng.normal(size=(40, 1)) / 40 + rng.normal(size=(40, 8)) / 40
        claims = [mean_parts(column, 100) for column in values.T]
        jointly = step_down(claims, [flip(claim).p_value for claim in claims]).intervals
        alone += all(claim.alone.low <= 0 <= claim.alone.high for claim in claims)
        together += all(interval.low <= 0 <= interval.high for interval in jointly)
    assert alone < 0.9 * 100
    assert together >= 0.92 * 100
    assert stretch(Interval(0.5, 0.4, 0.7, 0.95), 2, 0.0) == Interval(0.5, pytest.approx(0.3), pytest.approx(0.9), 0.95)


@pytest.mark.slow
def test_what_errs_together_needs_less_stretching_and_one_alone_none():
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(100, 20)) / 40
    noise -= noise.mean(axis=0) - 1e-4

    def wider(columns):
        claims = [mean_parts(column, 100) for column in columns]
        (joint, *_) = step_down(claims, [flip(claim).p_value for claim in claims]).intervals
        return (joint.high - joint.low) / (claims[0].alone.high - claims[0].alone.low)

    apart = list(noise.T)
    close = [noise[:, 0] + 0.1 * column for column in noise.T]
    bonferroni = t.ppf(1 - 0.025 / 20, 99) / t.ppf(0.975, 99)
    assert wider(apart[:1]) == 1
    assert 1 < wider(close) < 1.2 < wider(apart) <= bonferroni + 1e-9
    assert wider([apart[0], np.zeros(100)]) == 1


@pytest.mark.slow
def test_better_against_every_opponent_is_shown_as_often_as_its_power_says():
    rng = np.random.default_rng(5)
    printed, foretold = 0, []
    for _ in range(60):
        results = {("base", name): rng.random((100, 2)) < 0.5 for name in OPPONENTS}
        results |= {("new", name): rng.random((100, 2)) < 0.65 for name in OPPONENTS}
        comparison = compare(pairs_in(games_of(results)), "new", "base")
        printed += comparison.better_against_every_opponent
        foretold.append(power_over_every_opponent(comparison, 0.15)[0])
    assert printed / 60 == pytest.approx(np.mean(foretold), abs=0.16)
    _, lead = power_over_every_opponent(comparison, 0.15)
    assert power_over_every_opponent(comparison, lead)[0] == pytest.approx(0.8, abs=0.01)


def test_agents_that_hardly_differ_get_intervals_about_as_wide_as_they_have_to_be():
    rng = np.random.default_rng(6)
    widths, covered = [], 0
    shares, leads = (0.03, 0.9, 0.07), np.array([-1, 0, 1]) / 14
    for _ in range(300):
        interval = mean_parts(rng.choice(leads, size=100, p=shares), 7).alone
        widths.append(interval.high - interval.low)
        covered += interval.low <= leads @ shares <= interval.high
    needed = 2 * 1.96 * math.sqrt(shares @ leads**2 - (leads @ shares) ** 2) / 10
    assert needed < np.mean(widths) < 1.3 * needed
    assert covered >= 0.93 * 300


@pytest.mark.parametrize(("openings", "covered"), [(50, 0.74), (100, 0.9), (400, 0.9)])
def test_a_disaster_in_three_openings_of_a_hundred_is_known_only_once_it_was_drawn(openings, covered):
    rng = np.random.default_rng(6)
    lost, args = 0.9, 0.9 * 0.03 / 0.97
    result = 0
    for _ in range(300):
        values = np.where(rng.random(openings) < 0.03, -lost, args + rng.choice([-1, 1], openings) / 14)
        interval = mean_parts(values, 7).alone
        result += interval.low <= 0 <= interval.high
    # the chance that none was drawn, which nothing seen can tell of, is 0.22 with 50 openings
    assert covered * 300 <= result <= (1 - 0.97**openings + 0.06) * 300


def test_who_shares_no_opponent_with_the_baseline_is_judged_head_to_head_in_the_same_family():
    rng = np.random.default_rng(6)
    results = tournament(rng, ("base", "a"), OPPONENTS, 40, 0.6)
    results |= {("b", "base"): rng.random((40, 2)) < 0.7, ("c", "base"): rng.random((40, 2)) < 0.6}
    a, b, c = compare_all(pairs_in(games_of(results)), "base", ["a", "b", "c"], pools={"b": 40, "c": 30})
    assert (type(a), type(b), type(c)) == (Comparison, HeadToHead, HeadToHead)
    # the census leaves nothing uncertain, so that two claims share the chance of a false one
    assert b.adjusted_p == b.p_value
    assert a.p_value <= a.adjusted_p <= 2.1 * a.p_value + 1e-3
    assert c.p_value <= c.adjusted_p <= 2.1 * c.p_value + 1e-3
    assert {item.family for item in (a, b, c)} == {3}
    wins = results["b", "base"].sum(axis=1)
    assert (b.p_value, b.verdict) == (0, "better")
    assert c.p_value == pytest.approx(score_flip_test(2 * (results["c", "base"].sum(axis=1) - 1)).p_value)
    assert b.pairs == PairCounts(*np.bincount(wins, minlength=3))
    assert b.rate.estimate == b.pairs.score == pytest.approx(wins.mean() / 2)
    # 40 pairs are a census of 40 openings, and cannot be all from 30
    assert (b.is_census, c.pool) == (True, None)
    assert b.rate.low == b.rate.high == b.rate.estimate
    assert c.rate.low < c.rate.estimate < c.rate.high


def test_openings_alike_by_symmetry_count_as_one_in_a_duel():
    wins = np.random.default_rng(6).random((30, 2)) < 0.7
    games = games_of({("new", "base"): np.tile(wins, (4, 1))}).assign(orbit=lambda frame: frame["opening_id"] % 30)
    clustered, naive = (compare_directly(pairs_in(games, by), "new", "base") for by in ("orbit", None))
    single = compare_directly(pairs_in(games_of({("new", "base"): wins})), "new", "base")
    assert clustered.pairs == naive.pairs
    assert clustered.p_value == pytest.approx(single.p_value)
    assert naive.p_value < single.p_value
    assert (clustered.rate.low, clustered.rate.high) == pytest.approx((single.rate.low, single.rate.high))


def test_a_duel_is_seen_from_the_contenders_side_and_leaves_halves_of_pairs_out():
    results = {("base", "new"): np.ones((9, 2)), ("new", "other"): np.ones((9, 2))}
    games = games_of(results)
    table = pairs_in(games[games["game_id"] != "base/new/3/2"])
    duel = compare_directly(table, "new", "base")
    assert (duel.pairs, duel.unfinished, duel.verdict) == (PairCounts(8, 0, 0), 1, "worse")
    assert compare_directly(table, "base", "new").verdict == "better"
    nothing = compare_directly(pairs_in(games.iloc[:1]), "new", "base")
    assert (nothing.is_empty, nothing.verdict, nothing.p_value) == (True, "no significant difference", 1)


def test_a_control_is_no_claim_and_leaves_the_family_as_it_was():
    results = tournament(np.random.default_rng(12), ("base", "a", "b", "c"), OPPONENTS, 40, 0.6)
    table = pairs_in(games_of(results))
    claims = compare_all(table, "base", ["a", "b"])
    with_control = compare_all(table, "base", ["a", "c", "b"], controls=["c"])
    assert (with_control[0], with_control[2]) == claims
    control = with_control[1]
    assert (control.family, control.adjusted_p) == (1, control.p_value)
    assert {claim.family for claim in claims} == {2}


def test_unfinished_pairs_are_counted_and_left_out():
    results = tournament(np.random.default_rng(14), ("base", "new"), OPPONENTS, 20, 0.4)
    games = games_of(results)
    lost = games["game_id"].isin(["new/MM/3/2", "base/AB/5/1"])
    whole, part = (compare(pairs_in(frame), "new", "base") for frame in (games, games[~lost]))
    assert (whole.unfinished, part.unfinished) == (0, 2)
    assert part.openings == 20
    assert {effect.opponent: effect.openings for effect in part.effects} == {
        "AB": 19,
        "Greedy": 20,
        "MM": 19,
        "Random": 20,
    }
    board = {standing.agent: standing for standing in standings(pairs_in(games[~lost]))}
    assert (board["new"].unfinished, board["new"].games, board["new"].pairs.n) == (1, 159, 79)


def test_an_opponent_one_of_them_never_met_is_left_out_and_named():
    results = tournament(np.random.default_rng(15), ("base", "new"), OPPONENTS, 20)
    del results["new", "Greedy"]
    comparison = compare(pairs_in(games_of(results)), "new", "base")
    assert comparison.opponents == ("AB", "MM", "Random")
    assert comparison.missing == ("Greedy",)


def test_an_opponent_without_a_complete_pair_is_left_out_and_named():
    games = games_of(tournament(np.random.default_rng(15), ("base", "new"), OPPONENTS, 20))
    stopped = (games["agent_1"] == "new") & (games["agent_2"] == "Greedy")
    comparison = compare(pairs_in(games[~stopped]), "new", "base")
    assert comparison.missing == ("Greedy",)
    assert comparison.unfinished == 20


def test_openings_only_one_of_them_played_are_left_out_and_counted():
    results = tournament(np.random.default_rng(16), ("base", "new"), OPPONENTS, 20)
    games = games_of(results)
    stopped = (games["agent_1"].eq("new") | games["agent_2"].eq("new")) & (games["opening_id"] >= 15)
    comparison = compare(pairs_in(games[~stopped]), "new", "base")
    assert comparison.paired
    assert (comparison.openings, comparison.unshared) == (15, 5)


def test_one_opening_says_nothing_and_no_complete_pair_even_less():
    games = games_of(tournament(np.random.default_rng(17), ("base", "new"), ("MM",), 1))
    single = compare(pairs_in(games), "new", "base")
    assert single.verdict == "no significant difference"
    assert (single.difference.low, single.difference.high) == (-1, 1)
    none = compare(pairs_in(games.iloc[::2]), "new", "base", pool=5)
    assert math.isnan(none.difference.estimate)
    assert none.is_empty
    assert none.verdict == "no significant difference"
    assert none.opponents == ()
    assert none.p_value == 1


def test_all_won_against_all_lost_is_better_everywhere():
    results = {("new", "MM"): np.ones((30, 2)), ("base", "MM"): np.zeros((30, 2))}
    comparison = compare(pairs_in(games_of(results)), "new", "base")
    assert comparison.verdict == "better"
    assert comparison.difference.estimate == comparison.difference.high == 1
    assert 0.7 < comparison.difference.low < 1


def test_an_interval_by_itself_is_the_same_whoever_else_is_compared():
    results = tournament(np.random.default_rng(18), ("base", "a", "b"), OPPONENTS, 30)
    table = pairs_in(games_of(results))
    alone, together = compare(table, "b", "base"), compare_all(table, "base")[1]
    assert together.difference == alone.difference
    assert together.p_value == alone.p_value


def test_several_pairs_from_one_opening_stay_one_opening():
    results = tournament(np.random.default_rng(19), ("base", "new"), OPPONENTS, 25, 0.4)
    games = games_of(results)
    again = games.assign(game_id=games["game_id"] + "b", pair_id=games["pair_id"] + "b")
    once, twice = (compare(pairs_in(f), "new", "base") for f in (games, pd.concat([games, again])))
    assert twice.openings == once.openings
    assert twice.p_value == once.p_value
    assert twice.difference == once.difference


def test_openings_of_different_boards_are_different_openings():
    results = tournament(np.random.default_rng(20), ("base", "new"), ("MM",), 10)
    games = games_of(results)
    larger = games.assign(game_id=games["game_id"] + "L", pair_id=games["pair_id"] + "L", size="9x9")
    assert compare(pairs_in(pd.concat([games, larger])), "new", "base").openings == 20


def test_standings_of_one_opponent_have_the_default_pair_interval():
    results = {("new", "MM"): np.random.default_rng(23).random((40, 2)) < [0.9, 0.4]}
    table = pairs_in(games_of(results))
    best = standings(table)[0]
    (matchup,) = matchups(table, "new")
    interval = pair_interval(matchup.pairs)
    assert best.agent == "new"
    assert (best.rate.low, best.rate.high) == pytest.approx((interval.low, interval.high), abs=1e-12)
    assert (matchup.rate.low, matchup.rate.high) == pytest.approx((interval.low, interval.high), abs=1e-12)
    assert (matchup.wins, matchup.games) == (best.wins, best.games) == (results["new", "MM"].sum(), 80)
    (mirrored,) = matchups(table, "MM")
    assert astuple(mirrored.pairs) == astuple(matchup.pairs)[::-1]


def test_a_pair_that_lacks_a_game_counts_its_one_game_for_either_agent():
    games = games_of({("new", "MM"): np.array([[1, 1], [0, 1]])})
    table = pairs_in(games[games["game_id"] != "new/MM/1/2"])
    (ours,), (theirs,) = matchups(table, "new"), matchups(table, "MM")
    assert [(item.wins, item.games, item.pairs.n) for item in (ours, theirs)] == [(2, 3, 1), (1, 3, 1)]
    assert {standing.agent: (standing.wins, standing.games) for standing in standings(table)} == {
        "new": (2, 3),
        "MM": (1, 3),
    }


@pytest.mark.slow
def test_the_interval_against_one_opponent_knows_which_openings_are_alike():
    rng = np.random.default_rng(27)
    covered = as_if_independent = 0
    for _ in range(150):
        favoured = np.repeat(rng.random((30, 1)) < 0.5, 4, axis=0)
        games = games_of({("new", "MM"): rng.random((120, 2)) < np.where(favoured, 0.9, 0.5)})
        games["orbit"] = games["opening_id"] // 4
        (matchup,) = matchups(pairs_in(games, cluster="orbit"), "new")
        covered += matchup.rate.low <= 0.7 <= matchup.rate.high
        independent = pair_interval(matchup.pairs)
        as_if_independent += independent.low <= 0.7 <= independent.high
    assert covered >= 0.93 * 150
    assert as_if_independent < 0.87 * 150


def test_the_interval_of_a_standing_knows_that_openings_are_shared():
    rng = np.random.default_rng(24)
    covered = naive = 0
    for _ in range(300):
        liking = rng.normal(size=(30, 1)) * 1.5
        wins = rng.random((30, 16)) < norm.cdf(liking)
        interval = rate_interval(wins.sum(axis=1), np.full(30, 16), 8)
        covered += interval.low <= 0.5 <= interval.high
        naive += abs(wins.mean() - 0.5) < 1.96 * math.sqrt(0.25 / wins.size)
    assert covered >= 0.93 * 300
    assert naive < 0.7 * 300


@pytest.mark.parametrize("opponents", [2, 7, 20])
@pytest.mark.parametrize("rate", [0.75, 0.88, 0.97])
@pytest.mark.parametrize("shared", [0, 0.6, 1])
def test_the_interval_of_a_high_rate_over_several_opponents_covers_it(opponents, rate, shared):
    rng = np.random.default_rng(26)
    covered = 0
    for _ in range(300):
        liking = rng.normal(size=(50, 1)) * math.sqrt(shared)
        wins = liking + rng.normal(size=(50, 2 * opponents)) * math.sqrt(1 - shared) < norm.ppf(rate)
        interval = rate_interval(wins.sum(axis=1), np.full(50, 2 * opponents), opponents)
        covered += interval.low <= rate <= interval.high
    assert covered >= 0.92 * 300


def test_splits_by_side_and_colour_add_up_to_all_games():
    results = tournament(np.random.default_rng(25), ("base", "new"), OPPONENTS, 20)
    table = pairs_in(games_of(results))
    first_same = results["new", "MM"][::2, 0].sum() + sum(results["new", n][::2, 0].sum() for n in ("Random", "AB"))
    result = splits(table, "new")
    assert sum(split.games for split in result) == 4 * 40
    chosen = next(split for split in result if split.placed_first and split.same_colour)
    assert chosen.wins == first_same + results["new", "Greedy"][::2, 0].sum()
    assert sum(split.wins for split in result) == wins_per_opening(results, "new").sum()
    mine = sum(split.wins for split in splits(table, "MM"))
    assert mine == 80 - results["new", "MM"].sum() - results["base", "MM"].sum()


def test_no_games_make_no_standings():
    empty = games_of({("a", "b"): np.zeros((1, 2))}).iloc[:0]
    table = pairs_in(empty)
    assert standings(table) == ()
    assert table.unfinished == 0
    with pytest.raises(ValueError, match="none"):
        compare(table, "a", "b")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda g: g.assign(agent_2=g["agent_1"]), "plays itself"),
        (lambda g: g.assign(pair_id="p"), "pair p"),
        (lambda g: g.assign(opening_id=range(len(g))), "different openings"),
        (lambda g: pd.concat([g, g.assign(game_id=g["game_id"] + "x")]), "same sides"),
    ],
)
def test_games_that_are_no_pairs_are_refused(change, message):
    games = games_of({("new", "MM"): np.ones((3, 2)), ("base", "MM"): np.ones((3, 2))})
    with pytest.raises(ValueError, match=message):
        pairs_in(change(games))


def test_impossible_comparisons_are_refused():
    results = tournament(np.random.default_rng(26), ("base", "new"), ("MM",), 3)
    results["other", "Alone"] = np.ones((3, 2))
    table = pairs_in(games_of(results))
    for contender, message in (("new2", "new2"), ("base", "differ"), ("other", "common opponent")):
        with pytest.raises(ValueError, match=message):
            compare(table, contender, "base")


def test_the_smallest_gauntlet_agrees_with_the_sign_test_of_its_pairs():
    results = {("new", "MM"): np.ones((12, 2)), ("base", "MM"): np.zeros((12, 2))}
    results["new", "MM"][:4] = 0
    comparison = compare(pairs_in(games_of(results)), "new", "base")
    assert comparison.p_value == pytest.approx(binomtest(8, 8).pvalue)


def test_the_effects_rank_opponents_by_how_much_the_contender_gained():
    rng = np.random.default_rng(27)
    results = {}
    for gain, opponent in zip((0.0, 0.1, 0.2, 0.3), OPPONENTS, strict=True):
        results["base", opponent] = rng.random((400, 2)) < 0.4
        results["new", opponent] = rng.random((400, 2)) < 0.4 + gain
    effects = {e.opponent: e.difference.estimate for e in compare(pairs_in(games_of(results)), "new", "base").effects}
    assert spearmanr([effects[name] for name in OPPONENTS], range(4)).statistic == 1
