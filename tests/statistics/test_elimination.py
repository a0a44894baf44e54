"""Who drops out of a best-of: the best ever does with a chance of at most alpha, whoever is worse does soon enough."""

import math

import numpy as np
import pytest

from knights_isolation.experiments.statistics.anytime import (
    capital_above,
    checkpoints,
    confidence_sequence,
    elimination_times,
    gap_to_leader,
)


def shares_of(rates, openings, rng, games=4, decided=0.6):
    """Shares of points from openings that decide a part of the games; all contenders meet the same ones."""
    is_decided = rng.random((openings, 1, games)) < decided
    lucky = rng.random((openings, 1, games)) < 0.5
    won = rng.random((openings, len(rates), games)) < np.asarray(rates)[None, :, None]
    return np.where(is_decided, lucky, won).mean(axis=2)


def out(shares, **options):
    return elimination_times(shares, checkpoints(len(shares)), **options)


def drop_rate(rates, openings, runs, drops, seed=0, **options):
    """How often the first contender, who is the best, drops out."""
    rng = np.random.default_rng(seed)
    return np.mean([drops(shares_of(rates, openings, rng, **options))[0] > 0 for _ in range(runs)])


def out_by_looking(shares):
    """What testing each time one looks as if it were the only time would do."""
    after = np.zeros(shares.shape[1], int)
    for checkpoint in checkpoints(len(shares)):
        seen = shares[:checkpoint]
        lead = int(seen.mean(axis=0).argmax())
        for index in range(shares.shape[1]):
            leads = seen[:, lead] - seen[:, index]
            after[index] |= bool(leads.std() and leads.mean() > 1.645 * leads.std() / math.sqrt(checkpoint))
    return after


FIELDS = [
    ([0.5, 0.5], {"games": 2, "decided": 0.9}),
    ([0.5, 0.5], {"games": 14, "decided": 0.0}),
    ([0.93, 0.93, 0.93], {"games": 2, "decided": 0.0}),
    ([0.8] * 6, {"games": 4, "decided": 0.5}),
]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("rates", "kind"), FIELDS)
def test_the_best_drops_out_no_more_often_than_alpha_where_all_are_as_good(rates, kind):
    assert drop_rate(rates, 200, 300, lambda shares: out(shares, alpha=0.2), **kind) < 0.2
    assert drop_rate(rates, 200, 300, out, **kind) < 0.05


def test_looking_again_and_again_with_an_ordinary_test_would_err_often():
    assert drop_rate([0.5, 0.5], 200, 200, out_by_looking) > 0.2


@pytest.mark.exhaustive
@pytest.mark.parametrize(("rates", "kind"), [*FIELDS, ([0.9] * 40, {"games": 14}), ([0.6, *[0.59] * 9], {"games": 2})])
def test_the_best_of_many_drops_out_no_more_often_than_alpha_in_long_runs(rates, kind):
    runs = 150 if len(rates) < 20 else 60
    assert drop_rate(rates, 1500, runs, out, seed=1, **kind) < 0.05


def test_who_is_worse_drops_out_and_those_further_behind_earlier():
    after = out(shares_of([0.9, 0.8, 0.6], 400, np.random.default_rng(2), decided=0.2))
    assert after[0] == 0
    assert 0 < after[2] < after[1]


def test_whoever_dropped_out_is_not_asked_again_and_whoever_is_left_must_have_played():
    shares = shares_of([0.9, 0.85, 0.3], 60, np.random.default_rng(3), decided=0.0)
    after = out(shares)
    assert after[2] > 0
    gone, unplayed = shares.copy(), shares.copy()
    gone[after[2] :, 2] = np.nan
    assert out(gone).tolist() == after.tolist()
    unplayed[after[2] - 1, 1] = np.nan
    assert out(unplayed)[2] == 0


def test_what_is_decided_at_a_checkpoint_does_not_hang_on_what_comes_later():
    shares = shares_of([0.9, 0.8, 0.6], 300, np.random.default_rng(4), decided=0.2)
    whole = elimination_times(shares, [50, 100, 200, 300])
    for seen in (50, 100, 200, 300):
        so_far = elimination_times(shares[:seen], [50, 100, 200, 300])
        assert so_far.tolist() == [index if 0 < index <= seen else 0 for index in whole.tolist()]


@pytest.mark.parametrize("pool", [None, 80, 300])
def test_capital_is_that_of_the_confidence_sequence(pool):
    rng = np.random.default_rng(5)
    for rate in (0.3, 0.5, 0.55, 0.7):
        values = rng.integers(0, 5, 80) / 4 * 0.4 + rate - 0.2
        capital = np.maximum.accumulate(capital_above(values, 0.5, 0.025, pool))
        low = confidence_sequence(values, 0.95, pool).low
        assert ((capital >= -math.log(0.025)) == (low >= 0.5)).mean() > (0.97 if pool else 0.999)


def test_of_a_pool_that_is_played_to_its_end_only_the_best_is_left():
    rng = np.random.default_rng(6)
    for _ in range(20):
        shares = rng.integers(0, 3, (40, 4)) / 2
        totals = shares.sum(axis=0)
        left = out(shares, pool=40) == 0
        assert left.tolist() == (totals == totals.max()).tolist()


@pytest.mark.slow
def test_the_best_of_a_pool_drops_out_no_more_often_than_alpha():
    rng = np.random.default_rng(7)
    every = rng.integers(0, 5, (120, 3)) / 4
    every[:, 1:] = every[rng.permutation(120), :1]  # as many points, from other openings
    dropped = [out(rng.permutation(every)[:100], pool=120, alpha=0.1).any() for _ in range(300)]
    assert np.mean(dropped) < 0.1


def test_behind_is_the_interval_that_drop_outs_go_by():
    shares = shares_of([0.9, 0.7], 200, np.random.default_rng(8), decided=0.0)
    after = int(out(shares)[1])
    assert gap_to_leader(shares[:after, 0], shares[:after, 1], 2).low >= 0
    earlier = after - 8
    assert gap_to_leader(shares[:earlier, 0], shares[:earlier, 1], 2).low < 0
    assert gap_to_leader(shares[:, 0], shares[:, 1], 2).estimate == pytest.approx(np.diff(shares[:, ::-1]).mean())
    assert math.isnan(gap_to_leader(np.full(3, np.nan), np.ones(3), 2).estimate)
