"""No row contradicts itself: a verdict, its p-value and its interval are of one procedure."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invented_runs import gauntlet, random_wins
from paired import pairs_in
from scipy.stats import binomtest

from knights_isolation.experiments.statistics.contender_verdicts import judge
from knights_isolation.experiments.statistics.frames import verdict_frame
from knights_isolation.experiments.statistics.paired_differences import (
    Comparison,
    HeadToHead,
    compare_all,
    compare_each,
)
from knights_isolation.experiments.statistics.proportions import Interval, agree, mean_parts
from knights_isolation.experiments.statistics.run_results import load_findings
from knights_isolation.experiments.statistics.step_down import flip, score_flip_test, step_down
from knights_isolation.reports.charts.interval_charts import forest
from knights_isolation.reports.studies.headlines import compare_headline, ratings_headline, summary_headline
from knights_isolation.reports.tables.compare import compare_sections
from knights_isolation.reports.tables.ratings import rating_sections
from knights_isolation.reports.tables.sequential import sprt_sections
from knights_isolation.reports.tables.summary import summarize
from knights_isolation.reports.text.cell_values import Estimate, Points, PValue, Ratio, Share, WordedCell
from knights_isolation.reports.text.cell_values import cell_text as show
from tests.statistics.test_paired_differences import games_of, tournament

HEADLINES = (compare_headline, ratings_headline, summary_headline)


def excludes(interval, null):
    return not (math.isnan(interval.estimate) or interval.low <= null <= interval.high)


def check_row(comparison):
    null, alone = (0.5, comparison.rate) if isinstance(comparison, HeadToHead) else (0.0, comparison.difference)
    assert alone.low <= alone.estimate <= alone.high or math.isnan(alone.estimate)
    assert comparison.jointly.low <= comparison.jointly.estimate <= comparison.jointly.high or math.isnan(
        alone.estimate
    )
    assert (comparison.p_value <= comparison.alpha) == excludes(alone, null)
    assert (
        (comparison.adjusted_p <= comparison.alpha)
        == excludes(comparison.jointly, null)
        == (comparison.verdict in ("better", "worse"))
    )
    assert comparison.adjusted_p >= comparison.p_value
    if comparison.verdict == "better":
        assert comparison.lead[0] > 0
    elif comparison.verdict == "worse":
        assert comparison.lead[1] < 0
    else:
        assert math.isnan(alone.estimate) or comparison.lead[0] <= 0 <= comparison.lead[1]


@st.composite
def played(draw):
    """Random games of a baseline, contenders, a control and duels, over random openings, some of them missing."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    openings, opponents = draw(st.integers(1, 40)), "ABCDEFG"[: draw(st.integers(1, 7))]
    contenders = [f"c{number}" for number in range(draw(st.integers(1, 6)))]
    spread = draw(st.sampled_from([0.0, 0.05, 0.2, 0.5]))
    results, ids = {}, {"base": range(openings)}
    base = {name: rng.random((openings, 2)) < 0.5 for name in opponents}
    for agent in ("base", *contenders):
        strength = 0.5 if agent == "base" else rng.normal(0.5, spread)
        for name in opponents:
            fresh = rng.random((openings, 2)) < strength
            kept = rng.random((openings, 2)) < draw(st.sampled_from([0.0, 0.9])) * (agent != "base")
            results[agent, name] = np.where(kept, base[name], fresh) if agent != "base" else base[name]
        ids[agent] = range(openings)
    further = draw(st.integers(0, 30))
    if further:
        results |= {("control", name): rng.random((further, 2)) < 0.5 for name in opponents}
        ids["control"] = range(openings, openings + further)
    if draw(st.booleans()):
        results["duel", "base"] = rng.random((openings, 2)) < rng.random()
        ids["duel"] = range(openings)
        contenders.append("duel")
    games = games_of(results, ids)
    if draw(st.booleans()):
        games = games[rng.random(len(games)) < 0.95]
    pool = draw(st.sampled_from([None, openings + further, 2 * (openings + further), 5000]))
    chance = draw(st.sampled_from([(), opponents[:1], tuple(opponents)]))
    return games, contenders, pool, chance, bool(further)


@pytest.mark.exhaustive
@given(played())
@settings(max_examples=60, deadline=None)
def test_a_verdict_its_p_value_and_its_interval_say_the_same(drawn):
    games, contenders, pool, chance, has_control = drawn
    table = pairs_in(games)
    names = [name for name in contenders if name in table.agents]
    if "base" not in table.agents or not names:
        return
    controls = ["control"] if has_control and "control" in table.agents else []
    comparisons = compare_all(
        table, "base", [*names, *controls], controls, also=controls,
        pools=dict.fromkeys(names, pool) if pool else {}, chance=dict.fromkeys(names, chance),
    )  # fmt: skip
    for comparison in comparisons:
        check_row(comparison)
        for effect in getattr(comparison, "effects", ()):
            assert (effect.p_better <= comparison.alpha / 2) == (effect.difference.low > 0)
            assert effect.difference.low >= -1
            assert effect.difference.high <= 1


@given(st.integers(0, 10_000), st.integers(1, 30), st.sampled_from([None, 30, 60]))
@settings(max_examples=30, deadline=None)
def test_so_do_the_rows_of_a_round_robin(seed, openings, pool):
    rng = np.random.default_rng(seed)
    names, strength = "abcd", rng.random(4)
    met = [(name, second) for name in names for second in names if name < second]
    results = {
        (first, second): rng.random((openings, 2))
        < 0.5 + (strength[names.index(first)] - strength[names.index(second)]) / 2
        for first, second in met
    }
    for first in compare_each(pairs_in(games_of(results)), met, pools=[pool] * len(met)):
        check_row(first)


def test_of_one_claim_the_p_value_is_that_of_its_flips_and_of_several_at_least_that():
    results = tournament(np.random.default_rng(12), ("base", "a", "b", "c"), ("A", "B"), 40, 0.4)
    table = pairs_in(games_of(results))
    (alone,) = compare_all(table, "base", ["a"])
    several = compare_all(table, "base")
    assert alone.adjusted_p == alone.p_value == flip(alone.parts).p_value
    assert all(comparison.p_value <= comparison.adjusted_p <= 3 * comparison.p_value + 0.01 for comparison in several)
    assert max(comparison.adjusted_p - comparison.p_value for comparison in several) > 0.01


def test_the_same_claim_twice_costs_nothing():
    values = np.random.default_rng(2).normal(0.03, 0.1, 60)
    once, twice = ([mean_parts(values)] * many for many in (1, 2))
    p_value = flip(once[0]).p_value
    judged = step_down(twice, [p_value] * 2)
    assert judged.adjusted == pytest.approx((p_value, p_value), abs=0.005)
    assert judged.intervals[0].low == pytest.approx(once[0].alone.low, abs=0.002)


def test_what_is_rejected_makes_it_easier_for_the_rest():
    rng = np.random.default_rng(3)
    close = rng.normal(size=60) / 10
    close += 0.026 - close.mean()
    clear = [0.5 + rng.normal(size=60) / 100 for _ in range(19)]
    claims = [mean_parts(close), *map(mean_parts, clear)]
    p_values = [flip(claim).p_value for claim in claims]
    among_clear = step_down(claims, p_values)
    assert among_clear.adjusted[0] == pytest.approx(p_values[0], abs=0.005)
    # what is told has intervals that hold with all others', the only one that is not told one by itself
    assert p_values[0] > 0.01
    few = step_down([mean_parts(close - 0.02), *claims[1:]], [0.4, *p_values[1:]])
    wider = [
        (joint.high - joint.low) / (comparison.alone.high - comparison.alone.low)
        for joint, comparison in zip(few.intervals, claims, strict=True)
    ]
    assert wider[0] == pytest.approx(1)
    assert min(wider[1:]) > 1.3
    unclear = [mean_parts(rng.normal(size=60) / 10) for _ in range(19)]
    assert (
        step_down([claims[0], *unclear], [p_values[0], *(flip(comparison).p_value for comparison in unclear)]).adjusted[
            0
        ]
        > 0.2
    )


def test_a_rejected_claim_whose_joint_interval_crosses_0_ends_above_it():
    rng = np.random.default_rng(5)
    close = rng.normal(size=60) / 10
    close += 0.03 - close.mean()
    claims = [mean_parts(close), *(mean_parts(0.5 + rng.normal(size=60) / 100) for _ in range(19))]
    judged = step_down(claims, [flip(claim).p_value for claim in claims])
    assert judged.adjusted[0] <= 0.05
    assert 0 < judged.intervals[0].low < 1e-6 < judged.intervals[0].high


def test_few_openings_are_never_told_apart_however_clear_they_look():
    for openings in range(1, 6):
        results = {
            (agent, name): np.full((openings, 2), agent != "base") for agent in ("base", "a", "b") for name in "AB"
        }
        for test in compare_all(pairs_in(games_of(results)), "base"):
            assert (test.verdict, test.p_value) == ("no significant difference", 2 ** (1 - openings))
            check_row(test)


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=9), st.sampled_from([0.1, 1 / 7, 1 / 3, 0.0357]))
@settings(max_examples=60, deadline=None)
def test_scores_of_few_openings_are_flipped_exactly_whatever_they_are_multiples_of(numbers, unit):
    scores = np.array(numbers) * unit
    signs = np.array(np.meshgrid(*[(1, -1)] * len(numbers))).reshape(len(numbers), -1).T
    sums = signs @ np.array(numbers)
    test = score_flip_test(scores)
    assert test.p_value == pytest.approx((np.abs(sums) >= abs(sum(numbers))).mean(), abs=1e-12)


def test_differences_of_any_size_are_multiples_of_a_game_and_flipped_exactly():
    rng = np.random.default_rng(4)
    whole = rng.integers(-14, 15, 40)
    signs = rng.choice([-1, 1], (40_000, 40))
    shuffled = (np.abs(signs @ whole) >= abs(whole.sum())).mean()
    assert score_flip_test(whole / 14 / 40).p_value == pytest.approx(shuffled, abs=0.01)
    assert score_flip_test(whole / 14 / 40 + rng.normal(size=40) * 1e-7).p_value == pytest.approx(shuffled, abs=0.02)


@pytest.mark.exhaustive
def test_further_contenders_that_are_as_good_make_no_false_verdict_more_often_than_alpha():
    rng = np.random.default_rng(6)
    false = covered = 0
    for _ in range(200):
        values = (rng.normal(size=(30, 1)) + rng.normal(size=(30, 8))) / 20
        claims = [mean_parts(column, 7) for column in values.T]
        judged = step_down(claims, [flip(claim).p_value for claim in claims])
        false += min(judged.adjusted) <= 0.05
        covered += all(interval.low <= 0 <= interval.high for interval in judged.intervals)
    assert false + covered == 200
    assert binomtest(false, 200, 0.05, "greater").pvalue > 0.01
    assert isinstance(judged.adjusted[0], float)


def test_chance_against_one_opponent_of_several_keeps_the_gain_of_a_finite_pool():
    rng = np.random.default_rng(7)
    results = {(agent, name): rng.random((60, 2)) < 0.5 for agent in ("base", "new") for name in "ABCDEFG"}
    table = pairs_in(games_of(results))
    fixed, mixed, free = (
        compare_all(table, "base", ["new"], pools={"new": 80}, chance={"new": chance})[0].parts.unseen
        for chance in ((), ("A",), tuple("ABCDEFG"))
    )
    assert isinstance(compare_all(table, "base", ["new"])[0], Comparison)
    assert (fixed, free) == (pytest.approx(0.25), 1)
    # three quarters of the variance of the one opponent's seventh of the mean
    assert mixed == pytest.approx(0.25 + 0.75 / 7, abs=0.04)


@pytest.mark.exhaustive
@pytest.mark.parametrize("played", [40, 80, 100])
def test_with_a_finite_pool_and_chance_against_one_opponent_intervals_hold(played):
    rng = np.random.default_rng(8)
    opponents, pool = "ABC", 100
    chances = {(agent, name): rng.beta(0.5, 0.5, (pool, 2)) for agent in ("base", "new") for name in opponents}
    fixed = {key: rng.random((pool, 2)) < chance for key, chance in chances.items()}
    expected = {key: chances[key] if key[1] == "A" else fixed[key] for key in chances}
    truth = np.mean([expected["new", name].mean() - expected["base", name].mean() for name in opponents])
    covered, widths = 0, []
    for _ in range(200):
        chosen = rng.choice(pool, played, replace=False)
        results = {
            key: (rng.random((pool, 2)) < chances[key] if key[1] == "A" else fixed[key])[chosen] for key in chances
        }
        openings = dict.fromkeys(("base", "new"), chosen.tolist())
        table = pairs_in(games_of(results, openings))
        (result,) = compare_all(table, "base", ["new"], pools={"new": pool}, chance={"new": ("A",)})
        (wider,) = compare_all(table, "base", ["new"])
        covered += result.parts.alone.low <= truth <= result.parts.alone.high
        widths.append(
            (result.parts.alone.high - result.parts.alone.low) / (wider.parts.alone.high - wider.parts.alone.low)
        )
    assert covered >= 0.93 * 200
    assert np.mean(widths) < {40: 0.92, 80: 0.8, 100: 0.7}[played]


def cells_of(sections):
    return [row for section in sections for row in section.rows]


def ends(row):
    """The intervals of a row's results as (low, high); costs are measured, and of no opening."""
    cells = (cell for cell in row.values() if isinstance(cell, Estimate))
    return [(cell.low, cell.high) for cell in cells if not isinstance(cell.value, Ratio)]


def census(tmp_path, contenders=("Good", "Bad")):
    wins = random_wins({"Good": 0.7, "Base": 0.5, "Bad": 0.3})
    run = gauntlet(24, wins, contenders=contenders, population=24, is_census=True)
    return load_findings([run.write(tmp_path / "run")])


def test_a_census_is_exact_in_every_table(tmp_path):
    findings = census(tmp_path)
    sections = [*summarize(findings), *compare_sections(findings), *rating_sections(findings)]
    rows = cells_of(
        [*sections, *sprt_sections(findings, None, None), *(item(findings).sections[0] for item in HEADLINES)]
    )
    intervals = [interval for row in rows for interval in ends(row)]
    assert len(intervals) > 40
    assert all(low == high for low, high in intervals)
    p_values = [cell for row in rows for cell in row.values() if isinstance(cell, PValue)]
    assert all(math.isnan(p) for p in p_values)
    notes = " ".join(note for section in sections if section.key != "theory" for note in section.notes)
    assert "95 %" not in notes
    assert "exact for them" in notes


def test_a_census_leaves_who_is_stronger_to_no_chance(tmp_path):
    ratings, superiority = rating_sections(census(tmp_path))
    printed = {
        show(cell) for row in superiority.rows for key, cell in row.items() if key.isdecimal() and cell is not None
    }
    assert printed <= {"0", "50", "100"}
    assert all(row["rating"].text == show(row["rating"].value) for row in ratings.rows)


def test_a_census_with_a_game_missing_is_exact_in_no_table(tmp_path):
    wins = random_wins({"Good": 0.7, "Base": 0.5})
    run = gauntlet(24, wins, population=24, is_census=True)
    run.rows.pop()
    findings = load_findings([run.write(tmp_path / "run")])
    rows = cells_of([*compare_sections(findings), *rating_sections(findings)])
    assert all(low < high for row in rows for low, high in ends(row) if row.get("agent") != "Base")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_every_row_of_every_view_agrees_with_itself(tmp_path, seed):
    rng = np.random.default_rng(seed)
    names = [f"C{number}" for number in range(8)]
    rates = {name: rng.uniform(0.35, 0.65) for name in ("Base", *names)}
    run = gauntlet(30, random_wins(rates, seed), contenders=names, population=(0, 200, 40, 30)[seed])
    findings = load_findings([run.write(tmp_path / "run")])
    verdicts = {claim.contender: claim for claim in judge(findings).claims}
    rows = [*compare_sections(findings)[0].rows, *compare_headline(findings).sections[0].rows]
    frame = verdict_frame(findings)
    for row in rows:
        verdict = row["verdict"].value if isinstance(row["verdict"], WordedCell) else row["verdict"]
        assert verdict.startswith(verdicts[row["contender"]].verdict) or verdict in (
            "too little data",
            "no difference of 2.0",
        )
        assert (row["difference"].low <= 0 <= row["difference"].high) == (verdict not in ("better", "worse"))
        if "adjusted_p" in row and not math.isnan(row["adjusted_p"]):
            assert (row["adjusted_p"] <= 0.05) == (verdict in ("better", "worse"))
    # An interval that ends at 0 is above or below it: 0 itself is not in the interval of a significant difference.
    is_open = (frame["joint_low"] < 0) & (frame["joint_high"] > 0)
    assert is_open.equals(frame["adjusted_p"] > 0.05)
    chart = forest(findings, judge(findings))
    for row in chart.rows:
        assert (row.low < 0 < row.high) == (verdicts[row.name].verdict not in ("better", "worse"))


@pytest.mark.parametrize(
    ("kind", "low", "text"),
    [
        (Points, 1e-9, "+1.8 (above 0 to +3.8)"),
        (Points, 0.0003, "+1.8 (above 0 to +3.8)"),
        (Points, 0.0, "+1.8 (0.0 to +3.8)"),
        (Points, -1e-16, "+1.8 (0.0 to +3.8)"),
        (Points, -1e-9, "+1.8 (below 0 to +3.8)"),
    ],
)
def test_an_end_that_is_open_at_0_or_rounded_to_it_is_said_to_be_above_it(kind, low, text):
    assert Estimate(kind(0.018), kind(low), kind(0.038)).text == text


def test_a_share_that_is_open_at_one_half_is_said_to_be_above_it():
    assert Estimate(Share(0.55), Share(0.5 + 1e-9), Share(0.6)).text == "55.0 % (above 50 to 60.0)"


def test_next_to_nothing_played_is_too_little_data_not_playing_alike(tmp_path):
    findings = load_findings([gauntlet(1).write(tmp_path / "run")])
    (row,) = compare_sections(findings)[0].rows
    assert row["verdict"].text == "too little data"
    assert any(
        note.startswith("Too little data: no difference is detectable with 80 % power.")
        for note in compare_sections(findings)[0].notes
    )
    assert all(
        -100 <= 100 * end <= 100 for row in cells_of(compare_sections(findings)) for at in ends(row) for end in at
    )


def test_an_interval_contains_0_exactly_where_its_test_does_not_reject_it():
    clear, unclear = Interval(0.03, 0.01, 0.05, 0.95), Interval(0.03, -0.01, 0.05, 0.95)
    assert agree(clear, False) == Interval(0.03, 0.0, 0.05, 0.95)
    assert (agree(clear, True), agree(unclear, False)) == (clear, unclear)
    assert 0 < agree(unclear, True).low < 1e-6
