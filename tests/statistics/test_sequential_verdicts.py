"""The report decides a sequential test exactly as the stop rule of the running tournament did."""

import math
from bisect import bisect_left
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from invented_runs import Invented
from numpy.typing import NDArray

from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.plan.schedule import pair_points, points_table
from knights_isolation.experiments.plan.tournament_plan import CONTROL_SUFFIX, Plan, make_plan
from knights_isolation.experiments.play.interim_results import sprt_rule
from knights_isolation.experiments.play.pools.batch_feed import BatchFeed
from knights_isolation.experiments.play.runner import play_tournament
from knights_isolation.experiments.record.log import read_games
from knights_isolation.experiments.statistics.anytime import checkpoints
from knights_isolation.experiments.statistics.contender_verdicts import judge
from knights_isolation.experiments.statistics.game_pairs import AgentPairs
from knights_isolation.experiments.statistics.proportions import elo_from_score
from knights_isolation.experiments.statistics.run_results import RunResults, load_findings
from knights_isolation.experiments.statistics.sprt import Sprt, duel_path, gauntlet_path, opening_leads, own_tests
from knights_isolation.reports.charts.interval_charts import estimates
from knights_isolation.reports.pages.report_page import report_page
from knights_isolation.reports.studies.headlines import compare_headline, summary_headline
from knights_isolation.reports.tables.compare import compare_sections
from knights_isolation.reports.tables.sequential import sprt_sections

GAUNTLET: dict[str, Any] = {
    "contenders": ["greedy", "R=random", "MM:open@depth=1"],
    "baseline": "MM:null@depth=1",
    "opponents": ["O=random", "MM:improved@depth=1"],
    "openings": "random:4",
    "pairs": 60,
    "sprt": [0, 20],
}
PLANS: dict[str, dict[str, Any]] = {
    "head to head": {**GAUNTLET, "format": "head-to-head", "opponents": None, "sprt": [0, 60]},
    "head to head in normalized Elo": {
        **GAUNTLET,
        "format": "head-to-head",
        "opponents": None,
        "sprt": [0, 60],
        "elo_model": "normalized",
    },
    "a gauntlet": GAUNTLET,
    "a contender is an opponent too": {**GAUNTLET, "opponents": ["greedy", "O=random"]},
    "two contenders are opponents too": {**GAUNTLET, "opponents": ["greedy", "R=random", "O=random"]},
    "the baseline is an opponent too": {**GAUNTLET, "opponents": ["MM:null@depth=1", "O=random"]},
    "an opponent plays like a contender": {**GAUNTLET, "opponents": ["MM_Again=MM:open@depth=1", "O=random"]},
}
STRENGTH = {"Greedy": 2.0, "MM_Open": 0.2, "R": -1.0, "O": -0.5}


def plan_of(keys: dict[str, Any]) -> Plan:
    return make_plan(load_config(None, keys))


def results(plan: Plan, seed: int) -> NDArray[np.int8]:
    """Who would win each game if all were played: by strength, the opening's favour and luck."""
    rng = np.random.default_rng(seed)
    schedule = plan.schedule
    lead = [
        STRENGTH.get(schedule.agents[match.first], 0) - STRENGTH.get(schedule.agents[match.second], 0)
        for match in schedule.matches
    ]
    favour = rng.normal(size=(schedule.rounds, 1, 1)) * [1, -1]
    luck = rng.logistic(size=(schedule.rounds, len(lead), 2))
    return (np.array(lead)[:, None] + favour + luck > 0).astype(np.int8)


def stopped(plan: Plan, outcome: NDArray[np.int8]) -> NDArray[np.int8]:
    """What is played of these games under the plan's stop rule."""
    points = points_table(plan.schedule)
    feed = BatchFeed(plan.schedule, points, 1, sprt_rule(plan))
    while len(ids := feed.take()):
        points.reshape(-1)[ids] = outcome.reshape(-1)[ids]
    return points


def findings_of(plan: Plan, points: NDArray[np.int8], path: Path) -> RunResults:
    """The games of a points table, read from a log of them."""
    config = plan.config.model_dump(
        include={"format", "contenders", "baseline", "opponents", "sprt", "elo_model"}, exclude_none=True
    )
    run = Invented(config=config if config["format"] != "head-to-head" else {**config, "opponents": None})
    run.pools_control = plan.pools_control
    for entrant in plan.entrants:
        name = entrant.agent.name
        run.agent(name, *entrant.roles, heuristic=name.removesuffix(CONTROL_SUFFIX))
    schedule = plan.schedule
    ids = np.flatnonzero(points.reshape(-1) >= 0)
    players, openings = schedule.players(ids), schedule.opening_rows(ids)
    first_of_match_won = points.reshape(-1)[ids] == 1
    winner = np.where(first_of_match_won == (ids % 2 == 0), 1, 2)
    for id_, pair, opening, won in zip(ids.tolist(), players, openings.tolist(), winner.tolist(), strict=True):
        first, second = (schedule.agents[index] for index in pair)
        run.pairs = id_ // 2
        run.game(first, second, opening, won == 1)
    run.planned = len(schedule)
    return load_findings([run.write(path)])


def decided_by_rule(plan: Plan, points: NDArray[np.int8]) -> set[str]:
    """The contenders that the stop rule ends, shown these games."""
    rule = sprt_rule(plan)
    assert rule
    matches = [plan.schedule.matches[number] for number in rule(pair_points(points))]
    return {plan.schedule.agents[match.first] for match in matches}


def first_decisions(plan: Plan, points: NDArray[np.int8]) -> dict[str, int]:
    """After how many rounds the stop rule would first have ended each contender, if asked after every round."""
    decided = cache(lambda rounds: decided_by_rule(plan, points[:rounds]))
    rounds = range(len(points) + 1)
    return {
        name: bisect_left(rounds, True, key=lambda number, name=name: name in decided(number))
        for name in decided(len(points))
    }


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", PLANS)
def test_the_report_decides_when_and_what_the_stop_rule_decided(kind: str, tmp_path: Path) -> None:
    plan = plan_of(PLANS[kind])
    points = stopped(plan, results(plan, 3))
    findings = findings_of(plan, points, tmp_path / "run")
    tests = {test.contender: test for test in own_tests(findings)}
    assert set(tests) == {entrant.agent.name for entrant in plan.entrants if "contender" in entrant.roles}
    decided = {name: test.path.decided_after for name, test in tests.items() if test.path.decision}
    assert decided == first_decisions(plan, points)
    assert decided
    assert all(test.is_duel == kind.startswith("head to head") for test in tests.values())
    # and it was the rule's checkpoints that ended their matches
    marks = [*checkpoints(plan.schedule.rounds), plan.schedule.rounds]
    for number, match in enumerate(plan.schedule.matches):
        after = decided.get(plan.schedule.agents[match.first])
        seen = next((index for index, mark in enumerate(marks) if after and mark >= after), None)
        end = plan.schedule.rounds if seen is None else marks[seen + 1]
        assert np.count_nonzero((points[:, number] >= 0).all(axis=1)) == min(end, match.pairs)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", PLANS)
def test_unfinished_openings_are_left_out_by_both(kind: str, tmp_path: Path) -> None:
    plan = plan_of(PLANS[kind])
    points = stopped(plan, results(plan, 5))
    points[np.random.default_rng(1).random(points.shape) < 0.04] = -1
    for index, rounds in enumerate((16, 40, 60)):
        findings = findings_of(plan, points[:rounds], tmp_path / str(index))
        tests = own_tests(findings)
        assert {test.contender for test in tests if test.path.decision} == decided_by_rule(plan, points[:rounds])


def test_a_tournament_played_with_sprt_is_reported_as_it_was_stopped(tmp_path: Path) -> None:
    keys = {**PLANS["a contender is an opponent too"], "board": "5x5", "jobs": 1, "out": str(tmp_path / "run")}
    config = load_config(None, keys)
    assert play_tournament(config).finished
    plan = make_plan(config)
    games = read_games(tmp_path / "run", ["game_id", "winner"])
    points = points_table(plan.schedule)
    ids = games["game_id"].to_numpy()
    points.reshape(-1)[ids] = (games["winner"].to_numpy() - 1) == ids % 2
    findings = load_findings([tmp_path / "run"])
    tests = own_tests(findings)
    decided = {test.contender: test.path.decided_after for test in tests if test.path.decision}
    assert decided == first_decisions(plan, points)
    assert decided
    assert len(games) < len(plan.schedule)


def match_of(outcomes: list[int], path: Path, planned: int | None = None, **keys: Any) -> RunResults:
    run = Invented(config={"format": "head-to-head", "contenders": ["random"], "baseline": "greedy", "opponents": None,
                           "sprt": [0, 60], **keys})  # fmt: skip
    run.agent("Mine", "contender").agent("Base", "baseline")
    for opening, wins in enumerate(outcomes):
        run.pair("Mine", "Base", opening, wins)
    run.planned = 2 * len(outcomes) if planned is None else planned
    return load_findings([run.write(path)])


WON = [0, *[2, 1] * 40]


@pytest.mark.slow
def test_wherever_a_stopped_match_is_shown_its_estimate_knows_of_the_stopping(tmp_path: Path) -> None:
    findings = match_of(WON, tmp_path / "run")
    (test,) = own_tests(findings)
    assert test.path.decision == "H1"
    assert test.estimate is not None
    plain = elo_from_score(float(np.mean(WON[: test.path.decided_after])) / 2)
    assert test.estimate.low < test.estimate.estimate < plain
    output = f"H1: +60 Elo rather than 0). Median-unbiased estimate: {test.estimate.estimate:+.0f} ("
    for text in (
        compare_headline(findings).sections[0].title,
        summary_headline(findings).sections[0].title,
        report_page(findings),
    ):
        assert f"Decided after {test.path.decided_after} pairs: Mine is stronger than Base ({output}" in text
    (row, *_), *_ = (section.rows for section in sprt_sections(findings, None, None))
    assert row["estimate"].value == test.estimate.estimate


def test_a_match_asked_in_normalized_elo_is_read_so_and_another_model_may_be_asked_for(tmp_path: Path) -> None:
    findings = match_of(WON, tmp_path / "run", elo_model="normalized")
    (test,) = own_tests(findings)
    assert test.path.sprt.model == "normalized"
    models = {model: sprt_sections(findings, None, None, model=model) for model in (None, "normalized", "logistic")}
    assert models[None] == models["normalized"] != models["logistic"]
    assert "accepted: 60 normalized Elo (H1)" in models[None][0].rows[0]["decision"].text


def test_an_unfinished_run_gets_verdicts_that_hold_at_any_time_and_a_finished_one_those_of_one_look(
    tmp_path: Path,
) -> None:
    intervals = {}
    for planned, is_interim in ((400, True), (2 * len(WON), False)):
        findings = match_of(WON, tmp_path / str(planned), planned=planned, sprt=None)
        intervals[is_interim] = verdict = judge(findings).duels[0]
        (row,) = compare_sections(findings)[0].rows
        assert (row["win_rate"].low, row["win_rate"].high) == (verdict.jointly.low, verdict.jointly.high)
        assert math.isnan(verdict.adjusted_p) == is_interim
        (at_any_time,) = estimates(findings, together=True).sequences.values()
        assert (at_any_time.last == (verdict.jointly.low, verdict.jointly.high)) == is_interim
    assert intervals[True].jointly.low < intervals[False].jointly.low  # it holds at every look, so it is wider
    assert intervals[True].rate == intervals[False].rate


def test_an_open_test_has_no_estimate_yet(tmp_path: Path) -> None:
    findings = match_of(WON[:9], tmp_path / "run", planned=200)
    assert [test.estimate for test in own_tests(findings)] == [None]
    assert sprt_sections(findings, None, None)[0].rows[0]["estimate"] is None


def record(*rows: tuple[int, int, int]) -> AgentPairs:
    """Pairs as (opponent, opening, games won)."""
    opponent, opening, wins = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    return AgentPairs(opponent, opening, opening, wins)


def test_leads_are_over_shared_opponents_once_an_opening_in_the_order_of_play() -> None:
    own = record((7, 30, 2), (8, 30, 1), (7, 20, 0), (8, 20, 0), (7, 10, 2), (9, 30, 2), (7, 30, 0))
    base = record((8, 20, 2), (7, 30, 1), (7, 20, 1), (8, 30, 1), (7, 10, 0), (8, 10, 0))
    leads, most = opening_leads(own, base)
    # 9 met one of them only; opening 10 lacks a pair with 8; the second pair with 7 from 30 is left out
    assert (leads.tolist(), most) == ([1, -3], 4)


def test_with_a_control_the_baseline_is_what_it_won_under_both_names_as_far_as_the_control_has_played() -> None:
    own = record(*((7, opening, wins) for opening, wins in enumerate([1, 1, 2, 2])))
    base = record(*((7, opening, wins) for opening, wins in enumerate([2, 0, 1, 1])))
    control = record((7, 20, 2), (7, 22, 0), (8, 22, 2), (8, 21, 2), (7, 23, 0))
    leads, most = opening_leads(own, base, control)
    # the third opening is the first to know that the contender's wins do not go with the baseline's: half counts each;
    # the fourth has no opening of the control's beside it
    assert (leads.tolist(), most) == ([-1, 1, 1.5, 1], 2)


def test_who_plays_like_the_baseline_is_compared_with_it_alone() -> None:
    base = record(*((7, opening, wins) for opening, wins in enumerate([2, 0, 1, 1, 2])))
    control = record(*((7, 10 + opening, wins) for opening, wins in enumerate([0, 0, 0, 2, 2])))
    assert opening_leads(base, base, control)[0].tolist() == [0] * 5


def test_with_a_control_tests_take_fewer_openings_and_err_no_more() -> None:
    rng, length = np.random.default_rng(1), 900
    openings = np.arange(length)

    def played(mean: float, first: int = 0) -> AgentPairs:
        wins = rng.binomial(2, mean, (7, length))
        return AgentPairs(
            np.repeat(np.arange(7), length), np.tile(openings + first, 7), np.tile(openings, 7), wins.ravel()
        )

    taken, wrong = np.zeros(2), np.zeros(2)
    for _ in range(60):
        own, base, control = played(0.5), played(0.5), played(0.5, length)
        paths = [gauntlet_path(own, base, Sprt(0, 3), other) for other in (None, control)]
        taken += [path.decided_after or length for path in paths]
        wrong += [path.decision == "H1" for path in paths]
    assert taken[1] < 0.92 * taken[0]
    assert wrong[1] <= 6


def test_without_opponents_in_common_there_is_nothing_to_read() -> None:
    leads, most = opening_leads(record((1, 5, 2)), record((2, 5, 2)))
    assert (leads.size, most) == (0, 2)


def test_the_bounds_are_elo_head_to_head_and_percentage_points_in_a_gauntlet() -> None:
    wins = [2, 1, 2, 2, 0, 1]
    own = record(*((1, opening, won) for opening, won in enumerate(wins)), (4, 9, 0))
    base = record(*((1, opening, 1) for opening in range(6)))
    asked = Sprt(-5, 20, 0.1, 0.2)
    duel, beside = duel_path(own, 1, asked), gauntlet_path(own, base, asked)
    assert duel.outcomes.tolist() == wins
    assert (duel.classes, duel.sprt.model, duel.sprt.low, duel.sprt.high) == (3, "logistic", -5, 20)
    assert beside.outcomes.tolist() == [3, 2, 3, 3, 1, 2]
    assert (beside.classes, beside.sprt.model, beside.sprt.low, beside.sprt.high) == (5, "score", 0.475, 0.6)
    assert {(path.sprt.alpha, path.sprt.beta) for path in (duel, beside)} == {(0.1, 0.2)}
