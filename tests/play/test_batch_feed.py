"""Handing out games: each once, in order, in batches of about a second; and stop rules that ignore the clock."""

from collections.abc import Collection

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.plan.schedule import points_table, record_points
from knights_isolation.experiments.plan.tournament_plan import Plan, make_plan
from knights_isolation.experiments.play.interim_results import sprt_rule
from knights_isolation.experiments.play.pools.batch_feed import LONGEST_BATCH, BatchFeed
from knights_isolation.experiments.statistics.anytime import checkpoints


def plan_of(**keys: object) -> Plan:
    return make_plan(load_config(None, {"contenders": ["greedy", "R=random"], "baseline": "MM:open", **keys}))


PLAN = plan_of(opponents=["random", "MM:null"], pairs=60)


def drain(feed: BatchFeed, generator: np.random.Generator, workers: int) -> list[list[int]]:
    """Play everything a feed has: batches come back in any order, with any winners and durations."""
    out: list[NDArray[np.int64]] = []
    batches = []
    while True:
        while len(out) < workers and len(ids := feed.take()):
            out.append(ids)
            batches.append(ids.tolist())
        if not out:
            return batches
        ids = out.pop(int(generator.integers(len(out))))
        if generator.random() < 0.1:
            feed.give_back(ids)
            continue
        record_points(feed.points, ids, 1 + ids % 7 % 2)
        feed.learn(feed.schedule.match_of(ids[:1]), generator.random(1) / 10)


@given(st.integers(0, 2**32), st.integers(1, 6))
@settings(deadline=None, max_examples=25)
def test_every_game_is_played_once_whatever_comes_back_when(seed: int, workers: int) -> None:
    schedule = PLAN.schedule
    feed = BatchFeed(schedule, points_table(schedule), workers)
    drain(feed, np.random.default_rng(seed), workers)
    assert feed.missing == 0
    assert np.count_nonzero(feed.points >= 0) == len(schedule)


def test_games_are_handed_out_in_the_order_of_the_schedule() -> None:
    feed = BatchFeed(PLAN.schedule, points_table(PLAN.schedule), 2)
    ids = np.concatenate([feed.take() for _ in range(20)])
    assert ids.tolist() == sorted(ids.tolist())


def test_given_back_games_come_first() -> None:
    feed = BatchFeed(PLAN.schedule, points_table(PLAN.schedule), 2)
    first, second = feed.take(), feed.take()
    feed.give_back(second)
    feed.give_back(first)
    assert feed.take()[0] == first[0]


def test_games_given_back_twice_are_handed_out_once() -> None:
    feed = BatchFeed(PLAN.schedule, points_table(PLAN.schedule), 2)
    first = feed.take()
    feed.give_back(first)
    feed.give_back(first[1:])
    assert np.concatenate([feed.take() for _ in range(4)])[: len(first) + 1].tolist() == [*first, first[-1] + 1]


def test_what_a_game_takes_is_learned_from_earlier_batches_too() -> None:
    feed = BatchFeed(plan_of(opponents=["random"], pairs=2000).schedule, np.full((2000, 4, 2), -1, np.int8), 2)
    for seconds in (0.01, 0.03):
        feed.learn(np.arange(4), np.full(4, seconds))
    assert 0.9 < len(feed.take()) * 0.02 / LONGEST_BATCH < 1.1


def test_batches_last_as_long_as_they_should() -> None:
    feed = BatchFeed(
        plan_of(opponents=["random"], pairs=2000).schedule,
        points_table(plan_of(opponents=["random"], pairs=2000).schedule),
        2,
    )
    feed.learn(np.arange(4), np.full(4, 0.01))
    for _ in range(10):
        assert 0.9 < len(feed.take()) * 0.01 / LONGEST_BATCH < 1.1
    feed.learn(np.arange(4), np.full(4, 100.0))
    assert len(feed.take()) == 1


def test_the_last_batches_are_small_so_that_workers_finish_together() -> None:
    feed = BatchFeed(PLAN.schedule, points_table(PLAN.schedule), 2)
    feed.learn(np.arange(10), np.full(10, 0.01))
    sizes = [len(batch) for batch in drain(feed, np.random.default_rng(0), 2)]
    assert max(sizes[-5:]) < max(sizes) / 2


def test_near_the_end_a_batch_is_a_quarter_of_a_worker_s_share() -> None:
    feed = BatchFeed(PLAN.schedule, points_table(PLAN.schedule), 4)
    feed.learn(np.arange(10), np.full(10, 0.005))
    assert len(PLAN.schedule) * 0.005 / 4 / 4 < LONGEST_BATCH
    assert 0.9 < len(feed.take()) / (len(PLAN.schedule) / 4 / 4) < 1.1


def every_third_match(pairs: NDArray[np.int8]) -> Collection[int]:
    """A rule that looks at results: matches whose first 16 pairs gave the first agent an even number of points."""
    if len(pairs) < 16:
        return []
    return np.flatnonzero(pairs[:16].sum(axis=0) % 2 == 0).tolist()


@given(st.integers(0, 2**32), st.integers(1, 6))
@settings(deadline=None, max_examples=25)
def test_what_a_stop_rule_leaves_unplayed_does_not_depend_on_timing(seed: int, workers: int) -> None:
    schedule = PLAN.schedule
    reference = BatchFeed(schedule, points_table(schedule), 1, every_third_match)
    drain(reference, np.random.default_rng(0), 1)
    feed = BatchFeed(schedule, points_table(schedule), workers, every_third_match)
    drain(feed, np.random.default_rng(seed), workers)
    assert np.array_equal(feed.points, reference.points)
    assert feed.missing == reference.missing == 0
    assert (feed.points < 0).any()


def test_a_rule_sees_complete_rounds_only_and_each_checkpoint_once() -> None:
    seen: list[int] = []

    def rule(pairs: NDArray[np.int8]) -> Collection[int]:
        assert (pairs >= 0).all()
        seen.append(len(pairs))
        return []

    drain(BatchFeed(PLAN.schedule, points_table(PLAN.schedule), 3, rule), np.random.default_rng(1), 3)
    assert seen == list(checkpoints(60)) == [8, 16, 24, 32, 40, 48, 56, 60]


def points_of(plan: Plan, shares: dict[str, float], seed: int = 0) -> NDArray[np.int8]:
    """Random pair points in which agents win so large a share of their games."""
    generator = np.random.default_rng(seed)
    wins = [shares[plan.schedule.agents[match.first]] for match in plan.schedule.matches]
    return generator.binomial(2, wins, size=(plan.schedule.rounds, len(wins))).astype(np.int8)


def test_sprt_decides_the_clear_duel_and_not_the_other() -> None:
    plan = plan_of(format="head-to-head", opponents=None, pairs=300, sprt=[0, 60])
    rule = sprt_rule(plan)
    assert rule
    assert rule(points_of(plan, {"Greedy": 0.8, "R": 0.5})[:60]) == [0]
    assert list(rule(points_of(plan, {"Greedy": 0.8, "R": 0.5})[:3])) == []


def test_sprt_in_a_gauntlet_stops_a_contender_against_all_its_opponents() -> None:
    plan = plan_of(opponents=["random", "MM:null"], pairs=300, control=False, sprt=[0, 10])
    rule = sprt_rule(plan)
    assert rule
    decided = rule(points_of(plan, {"Greedy": 0.95, "R": 0.45, "MM_Open": 0.4})[:30])
    first = [plan.schedule.agents[plan.schedule.matches[match].first] for match in decided]
    assert first == ["Greedy", "Greedy", "Greedy"]  # in the one with the baseline as well


def test_without_sprt_there_is_no_rule() -> None:
    assert sprt_rule(PLAN) is None
