"""Intervals for shares of games and of pairs: what they cover, and what they say at the edges."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln, xlogy

from knights_isolation.experiments.statistics.proportions import (
    PairCounts,
    agresti_coull_ends,
    count_pairs,
    pair_interval,
    wilson,
)

SHARES = [0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 1]

counts = st.integers(0, 60)


def simplex():
    """Shares (lost, split, won): the corners, the edges, openings that decide nearly all games, and the middle."""
    points = set()
    for first in SHARES:
        for second in SHARES:
            args = round(1 - first - second, 6)
            if args >= 0:
                points |= {(first, args, second), (args, first, second), (first, second, args)}
    return np.array(sorted(points))


def all_counts(n):
    lost, won = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    kept = lost + won <= n
    return np.stack([lost[kept], n - lost[kept] - won[kept], won[kept]], axis=-1)


def exact_coverage(n, shares, ends):
    """The probability that the interval holds the true score, by enumerating every possible count of n pairs."""
    outcomes = all_counts(n)
    low, high = ends(outcomes)
    ways = gammaln(n + 1) - gammaln(outcomes + 1).sum(axis=-1)
    covered = []
    for share in shares:
        chances = np.exp(ways + xlogy(outcomes, share).sum(axis=-1))
        score = share[2] + share[1] / 2
        covered.append(chances[(low <= score + 1e-12) & (score <= high + 1e-12)].sum())
    return np.array(covered)


@pytest.mark.slow
def test_the_default_interval_covers_at_least_945_in_1000_on_average_and_nowhere_under_900():
    shares = simplex()
    assert len(shares) > 400
    everywhere = []
    for n in (20, 25, 30, 40, 50, 100, 200):
        covered = exact_coverage(n, shares, agresti_coull_ends)
        assert covered.mean() >= 0.945
        assert covered.min() >= 0.90
        everywhere.append(covered)
    assert np.concatenate(everywhere).min() < 0.95  # the enumeration sees the dips there are


@pytest.mark.parametrize("confidence", [0.9, 0.99])
def test_the_default_interval_holds_at_other_levels_too(confidence):
    for n in (20, 50, 100):
        covered = exact_coverage(n, simplex(), lambda c: agresti_coull_ends(c, confidence))
        assert covered.mean() >= confidence - 0.005
        assert covered.min() >= confidence - 0.05


@pytest.mark.parametrize(("n", "pool"), [(20, 50), (45, 50), (20, 100), (90, 100), (95, 100), (100, 315), (300, 315)])
def test_the_interval_for_these_openings_covers_their_exact_score(n, pool):
    outcomes = all_counts(n)
    low, high = agresti_coull_ends(outcomes, pool=pool)
    covered = []
    for lost, split, won in np.unique(np.round(simplex()[::3] * pool), axis=0).astype(int):
        if lost + split + won != pool:
            continue
        left = np.array([lost, split, won]) - outcomes
        possible = (left >= 0).all(axis=-1)
        ways = gammaln([lost + 1, split + 1, won + 1]) - gammaln(outcomes[possible] + 1) - gammaln(left[possible] + 1)
        total = gammaln(pool + 1) - gammaln(n + 1) - gammaln(pool - n + 1)
        chances = np.exp(ways.sum(axis=-1) - total)
        score = (won + split / 2) / pool
        inside = (low[possible] <= score + 1e-9) & (score <= high[possible] + 1e-9)
        covered.append(chances[inside].sum())
    assert np.mean(covered) >= 0.945
    assert min(covered) >= 0.90


@pytest.mark.exhaustive
@given(counts, counts, counts, st.sampled_from([0.8, 0.95, 0.99]))
def test_an_interval_is_mirrored_for_the_opponent(lost, split, won, confidence):
    pairs = PairCounts(lost, split, won)
    ours, theirs = (pair_interval(p, confidence) for p in (pairs, PairCounts(won, split, lost)))
    assert 0 <= ours.low <= ours.high <= 1
    assert (ours.low, ours.high) == pytest.approx((1 - theirs.high, 1 - theirs.low), abs=1e-6)


@given(counts, counts, counts)
def test_a_census_is_exact_and_a_larger_pool_is_less_so(lost, split, won):
    pairs = PairCounts(lost, split, won)
    if not pairs.n:
        return
    census = pair_interval(pairs, pool=pairs.n)
    assert (census.low, census.high) == pytest.approx((pairs.score, pairs.score), abs=1e-12)
    widths = [i.high - i.low for i in (pair_interval(pairs, pool=pairs.n * times) for times in (1, 2, 10))]
    assert widths[0] < widths[1] <= widths[2] + 1e-12


def test_a_huge_pool_is_the_same_as_openings_at_large():
    pairs = PairCounts(10, 60, 30)
    at_large, of_many = pair_interval(pairs), pair_interval(pairs, pool=10**9)
    assert (at_large.low, at_large.high) == pytest.approx((of_many.low, of_many.high), abs=1e-6)


def test_no_pairs_say_nothing():
    interval = pair_interval(PairCounts(0, 0, 0))
    assert math.isnan(interval.estimate)
    assert (interval.low, interval.high) == (0, 1)
    assert math.isnan(interval.elo[0])


def test_one_pair_says_little():
    interval = pair_interval(PairCounts(0, 0, 1))
    assert interval.low < 0.5
    assert interval.high == 1


def test_all_won_and_all_lost_reach_the_end_of_the_scale_but_leave_room():
    won = pair_interval(PairCounts(0, 0, 50))
    assert 0.85 < won.low < 1
    assert won.high == 1
    assert won.elo[0] == won.elo[2] == math.inf
    assert math.isfinite(won.elo[1])
    assert pair_interval(PairCounts(50, 0, 0)).low == 0


def test_openings_that_decide_games_give_a_narrow_interval_around_a_half():
    decided, free = pair_interval(PairCounts(2, 96, 2)), pair_interval(PairCounts(25, 50, 25))
    assert decided.high - decided.low < (free.high - free.low) / 2


def test_pairs_are_counted_from_games_won():
    assert count_pairs([0, 1, 1, 2, 2, 2]) == PairCounts(1, 2, 3)
    assert count_pairs([]) == PairCounts(0, 0, 0)
    with pytest.raises(ValueError, match="3"):
        count_pairs([0, 3])


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (lambda: PairCounts(-1, 0, 0), "-1"),
        (lambda: PairCounts(0, 0.5, 0), "0.5"),
        (lambda: pair_interval(PairCounts(1, 1, 1), confidence=95), "95"),
        (lambda: pair_interval(PairCounts(1, 1, 1), pool=2), "2"),
        (lambda: wilson(3, 2), "3 of 2"),
        (lambda: wilson(-1, 2), "-1"),
        (lambda: wilson(1, 2, 1.0), r"1\.0"),
    ],
)
def test_a_wrong_argument_is_named(call, value):
    with pytest.raises(ValueError, match=value):
        call()


def test_wilson_gives_its_textbook_values():
    score = wilson(8, 10)
    assert (score.low, score.high) == pytest.approx((0.49016, 0.94332), abs=1e-5)


def test_no_games_all_won_and_all_lost_make_sensible_proportions():
    nothing = wilson(0, 0)
    assert math.isnan(nothing.estimate)
    assert (nothing.low, nothing.high) == (0, 1)
    assert wilson(7, 7).high == 1
    assert 0.5 < wilson(7, 7).low < 1
    assert wilson(0, 7).low == 0
