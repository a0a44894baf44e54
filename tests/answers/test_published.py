"""Published tables and old notes are read as people have them, and judged by their own numbers."""

import csv
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, fisher_exact, hypergeom, norm

from knights_isolation.experiments.published.claims import PAIRING_UNKNOWN, analyse_published
from knights_isolation.experiments.published.result_tables import (
    PublishedRow,
    PublishedTables,
    bundled_csv,
    parse_csv,
    parse_published,
)
from knights_isolation.experiments.published.stratified_tests import Stratum, homogeneity, mantel_haenszel

PUBLISHED = Path(__file__).parents[1] / "data" / "published_results.csv"

FIRST_EDITION = """\
This script evaluates the performance of the custom heuristic function by
comparing the strength of an agent using iterative deepening (ID) search.

*************************
 Evaluating: ID_Improved\x20
*************************

Playing Matches:
----------
  Match 1: ID_Improved vs   Random    \tResult: 20 to 0
  Match 2: ID_Improved vs   MM_Null   \tResult: 17 to 3
  Match 3: ID_Improved vs   MM_Open   \tResult: 13 to 7
  Match 4: ID_Improved vs MM_Improved \tResult: 12 to 8


Results:
----------
ID_Improved         77.50%

*************************
   Evaluating: Student\x20\x20\x20
*************************

Playing Matches:
----------
  Match 1:   Student   vs   Random    \tResult: 19 to 1
  Match 2:   Student   vs   MM_Null   \tResult: 18 to 2
  Match 3:   Student   vs   MM_Open   \tResult: 10 to 10
  Match 4:   Student   vs MM_Improved \tResult: 11 to 9


Results:
----------
Student             72.50%
"""

SECOND_EDITION = """\
                        *************************
                             Playing Matches
                        *************************

 Match #   Opponent    AB_Improved   AB_Custom   AB_Custom_2  AB_Custom_3
                        Won | Lost   Won | Lost   Won | Lost   Won | Lost
    1       Random       6  |   4     8  |   2    10  |   0     9  |   1
    2       MM_Open      7  |   3     6  |   4     5  |   5     7  |   3
    3      MM_Center     7  |   3     7  |   3     9  |   1     9  |   1
--------------------------------------------------------------------------
           Win Rate:      66.7%        70.0%        80.0%        83.3%

Your agents forfeited 249.0 games while there were still legal moves available to play.
"""


def row(agent, opponent, wins, losses, table="run 1", source="notes"):
    return PublishedRow(source, table, agent, opponent, wins, losses)


def test_the_first_edition_prints_a_block_per_agent():
    tables = parse_published(FIRST_EDITION)
    assert tables.problems == ()
    assert tables.rows == (
        row("ID_Improved", "Random", 20, 0),
        row("ID_Improved", "MM_Null", 17, 3),
        row("ID_Improved", "MM_Open", 13, 7),
        row("ID_Improved", "MM_Improved", 12, 8),
        row("Student", "Random", 19, 1),
        row("Student", "MM_Null", 18, 2),
        row("Student", "MM_Open", 10, 10),
        row("Student", "MM_Improved", 11, 9),
    )


def test_the_second_edition_prints_a_column_per_agent():
    tables = parse_published(SECOND_EDITION)
    assert tables.problems == ()
    assert len(tables.rows) == 12
    assert row("AB_Improved", "Random", 6, 4) in tables.rows
    assert row("AB_Custom_3", "MM_Center", 9, 1) in tables.rows


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Match 1: ID_Improved vs Random  Result: 20 to 0", row("ID_Improved", "Random", 20, 0)),
        ("  Match 1: ID_Improved vs   Random    \tResult: 20 to 0", row("ID_Improved", "Random", 20, 0)),
        ("Match 2: ID_Improved vs MM/3_Null Result: 19 to 1", row("ID_Improved", "MM_Null", 19, 1)),
        ("Match 7: ID_Improved vs AB/5_Improved   Result: 12 to 8", row("ID_Improved", "AB_Improved", 12, 8)),
        ("# Match 1: Student v1  vs   Random      Result: 168 to 32", row("Student v1", "Random", 168, 32)),
        ("> * Match 3: ID_improved_score vs MM_Open Result: 12 to 8", row("ID_improved_score", "MM_Open", 12, 8)),
        ("  Match 1: Student vs Random\tResult: 18.0 to 2.0\r", row("Student", "Random", 18, 2)),
        ("Match 1: A vs ID_Improved \nwarnings.warn(TIMEOUT)\n\tResult: 212 to 188", row("A", "ID_Improved", 212, 188)),
        ("Match 2: A vs   MM_Null   t.py:9: UserWarning: slow\n  warn(T)\n\tResult: 7 to 3", row("A", "MM_Null", 7, 3)),
    ],
)
def test_a_match_line_is_read_in_all_its_variants(line, expected):
    assert parse_published(line).rows == (expected,)


@pytest.mark.parametrize(
    "share", ["ID_Improved         71.71%", "Results: ID_Improved  71.71%", "# ID_Improved: 71.71 %"]
)
def test_a_share_that_does_not_fit_its_counts_is_a_problem(share):
    problems = parse_published(FIRST_EDITION.replace("ID_Improved         77.50%", share)).problems
    assert problems == ("line 18: ID_Improved has 71.71 % in the text, but its counts, 62 of 80, give 77.50 %",)


def test_a_win_rate_that_does_not_fit_its_column_is_a_problem():
    (problem,) = parse_published(SECOND_EDITION.replace("80.0%", "85.0%")).problems
    assert "AB_Custom_2 has 85.0 % in the text, but its counts, 24 of 30, give 80.0 %" in problem


def test_a_match_that_was_broken_off_is_a_problem():
    text = FIRST_EDITION.replace("Result: 11 to 9", "").replace("72.50%", "78.33%")
    assert parse_published(text).problems == ("line 29: a match without a result, skipped",)
    assert len(parse_published(text).rows) == 7


def test_a_share_is_checked_to_the_digits_it_is_given_in():
    assert parse_published(SECOND_EDITION.replace("83.3%", "83%")).problems == ()
    assert len(parse_published(SECOND_EDITION.replace("83.3%", "83.4%")).problems) == 1


def test_prose_and_summaries_around_the_results_are_passed_over():
    text = (
        "My agent scored 99.9%\n"
        + FIRST_EDITION
        + "\nIn the mean of all runs:\nStudent    70.1%\nIt won 75% of games.\n"
    )
    assert parse_published(text) == parse_published(FIRST_EDITION)


def test_every_repetition_of_an_agent_starts_a_new_run_named_after_its_heading():
    text = "## Tuesday\n" + FIRST_EDITION + "## Wednesday ##\n" + FIRST_EDITION
    tables = dict.fromkeys(r.table for r in parse_published(text).rows)
    assert list(tables) == ["run 1: Tuesday", "run 2: Wednesday"]


def test_agents_in_one_run_share_a_table_even_under_headings_of_their_own():
    first, second = FIRST_EDITION.split("*************************\n   Evaluating: Student")
    text = "# Baseline\n" + first + "# Mine\n*************************\n   Evaluating: Student" + second
    assert {r.table for r in parse_published(text).rows} == {"run 1: Baseline"}


def test_a_name_relabelled_in_the_header_wins_over_the_match_lines():
    text = FIRST_EDITION.replace("Evaluating: Student", "Evaluating: Student Aggressive")
    assert {r.agent for r in parse_published(text).rows} == {"ID_Improved", "Student Aggressive"}
    assert parse_published(text).problems == ()


def test_long_names_set_apart_by_one_space_are_told_apart_by_the_rows():
    header = " Match #   Opponent    AB_Improved   AB_Negative_Space AB_Custom_2  AB_Custom_3"
    text = SECOND_EDITION.replace(SECOND_EDITION.splitlines()[4], header)
    agents = dict.fromkeys(r.agent for r in parse_published(text).rows)
    assert list(agents) == ["AB_Improved", "AB_Negative_Space", "AB_Custom_2", "AB_Custom_3"]


def test_both_editions_may_share_a_page():
    tables = parse_published(SECOND_EDITION + FIRST_EDITION + SECOND_EDITION)
    assert len(tables.rows) == 12 + 8 + 12
    assert len({r.table for r in tables.rows if r.agent == "AB_Improved"}) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing to see here", "no results found"),
        ("", "no results found"),
        (SECOND_EDITION.replace("9  |   1\n    2", "9\n    2"), "line 7: a row of a table"),
        (SECOND_EDITION.replace("7  |   3\n    3", "7  |   3   1  |   9\n    3"), "line 8: expected 4 columns"),
        (SECOND_EDITION.replace("MM_Open ", "Random  "), "line 8: Random is listed twice"),
        ("agent,wins,losses\nA,1,2", "opponent missing"),
        ("agent,opponent,wins,losses\nA,B,1,x", "line 2: losses must be a whole number of at least 0, not 'x'"),
        ("agent,opponent,wins,losses\nA,B,1,-2", "line 2: losses .* not '-2'"),
        ("agent,opponent,wins,losses\nA,B,1", "line 2: losses"),
        ("agent,opponent,wins,losses\n,B,1,2", "line 2: agent"),
        ("agent,opponent,wins,losses\nA,B,1,2\nA,B,1,2", "line 3: A against B is listed twice"),
    ],
)
def test_text_that_cannot_be_read_is_refused_with_the_place(text, message):
    with pytest.raises(ValueError, match=message):
        parse_published(text)


def test_csv_needs_only_agents_opponents_and_counts_and_survives_a_byte_order_mark():
    text = "\ufeffagent,opponent,wins,losses\nID_Improved,Random,9,1\n"
    assert parse_published(text, "mine").rows == (row("ID_Improved", "Random", 9, 1, table="", source="mine"),)


def test_the_published_evaluations_ship_with_the_project():
    text = PUBLISHED.read_text("utf-8")
    assert bundled_csv() == text
    rows = parse_csv(text).rows
    records = list(csv.DictReader(text.splitlines()))
    assert len(rows) == 112
    assert [(r.agent, r.opponent, str(r.wins)) for r in rows] == [
        (record["agent"], record["opponent"], record["wins"]) for record in records
    ]


def test_of_the_published_claims_only_those_beyond_luck_stand():
    analysis = analyse_published(parse_csv(bundled_csv()))
    by_name = {(c.agent, *c.tables): c for c in analysis.claims}
    assert len(by_name) == 11
    standing = {name[0] for name, claim in by_name.items() if claim.stands}
    assert standing == {"ID_accessibility_score", "ID_offensive_score"}
    best = by_name["ID_net_advantage_score", "single-heuristic evaluation"]
    assert (best.published, best.stands) == ("better", False)
    dynamic = by_name["edge_distance_dynamic", "table8"]
    assert dynamic.test.p_value < 0.05 < dynamic.adjusted_p
    assert dynamic.test.difference.estimate == pytest.approx((2006 - 1923) / 2800)


def test_two_runs_of_one_agent_taken_together_can_carry_a_claim_that_neither_carries_alone():
    analysis = analyse_published(parse_csv(bundled_csv()))
    pooled = {claim.agent: claim for claim in analysis.pooled}
    assert set(pooled) == {"edge_distance", "edge_distance_weighted", "edge_distance_dynamic"}
    dynamic = pooled["edge_distance_dynamic"]
    assert dynamic.tables == ("table7", "table8")
    assert dynamic.total.contender_games == dynamic.total.baseline_games == 4200
    assert dynamic.stands


def test_repeated_runs_of_the_baseline_are_the_experiment_that_shows_luck():
    (repetition,) = analyse_published(parse_csv(bundled_csv())).repetitions
    assert (repetition.agent, len(repetition.runs)) == ("ID_Improved", 4)
    assert repetition.largest_difference == pytest.approx(1923 / 2800 - 948 / 1400)
    assert repetition.p_value > 0.5
    assert 0.03 < repetition.expected_difference < 0.04
    assert repetition.is_luck


def test_two_runs_of_the_baseline_are_a_repetition_and_one_is_none():
    once, twice = (analyse_published(parse_published(FIRST_EDITION * times)).repetitions for times in (1, 2))
    assert once == ()
    assert [(item.agent, len(item.runs), item.largest_difference) for item in twice] == [("ID_Improved", 2, 0)]


def test_it_is_said_that_pairing_is_unknown_and_what_is_wrong_with_the_text():
    text = FIRST_EDITION.replace("77.50%", "80.00%")
    notes = analyse_published(parse_published(text)).notes
    assert notes[0] == PAIRING_UNKNOWN
    assert "80.00 %" in notes[1]


def test_notes_of_the_classic_scripts_are_judged_like_tables():
    (claim,) = analyse_published(parse_published(FIRST_EDITION)).claims
    assert (claim.agent, claim.baseline, claim.published, claim.stands) == ("Student", "ID_Improved", "worse", False)
    assert len(analyse_published(parse_published(SECOND_EDITION)).claims) == 3


def test_a_name_that_templates_give_may_be_another_function_in_every_run():
    (pooled,) = analyse_published(parse_published(FIRST_EDITION * 2)).pooled
    (named,) = analyse_published(parse_published(FIRST_EDITION.replace("Student", "Tortoise") * 2)).pooled
    assert pooled.is_anonymous
    assert not named.is_anonymous


def test_a_run_without_its_own_baseline_is_compared_with_those_of_the_same_source():
    head, mine = FIRST_EDITION.split("*************************\n   Evaluating: Student")
    text = head + "*************************\n   Evaluating: Student" + mine
    again = "\n*************************\n   Evaluating: Student" + mine
    claims = analyse_published(parse_published(text + again)).claims
    own, from_elsewhere = claims
    assert own.test == from_elsewhere.test


def test_without_a_baseline_nothing_is_compared_and_that_is_said():
    analysis = analyse_published(PublishedTables((row("A", "Random", 5, 5), row("B", "Random", 9, 1))))
    assert analysis.claims == ()
    assert any("no baseline" in note for note in analysis.notes)
    named = analyse_published(PublishedTables((row("A", "Random", 5, 5), row("B", "Random", 9, 1))), baseline="A")
    assert [claim.agent for claim in named.claims] == ["B"]
    with pytest.raises(ValueError, match="'C'"):
        analyse_published(PublishedTables((row("A", "Random", 5, 5),)), baseline="C")


def test_an_agent_that_met_none_of_the_baselines_opponents_says_nothing():
    rows = (row("ID_Improved", "Random", 5, 5), row("B", "MM", 9, 1))
    (claim,) = analyse_published(PublishedTables(rows)).claims
    assert math.isnan(claim.test.difference.estimate)
    assert not claim.stands


def test_one_opponent_is_fishers_exact_test():
    test = mantel_haenszel([Stratum(15, 5, 8, 12)])
    assert test.p_value == pytest.approx(fisher_exact([[15, 5], [8, 12]]).pvalue)
    assert test.difference.estimate == pytest.approx(0.35)


@pytest.mark.parametrize("strata", [1, 2, 4])
def test_one_win_and_one_loss_are_added_to_either_side_however_many_opponents_there_are(strata):
    test = mantel_haenszel([Stratum(15, 5, 8, 12)] * strata)
    games, won, lost = 20 + 2 / strata, (15 + 1 / strata, 8 + 1 / strata), (5 + 1 / strata, 12 + 1 / strata)
    centre = (won[0] - won[1]) / games
    variance = sum(w * ls / (games**2 * (games - 1)) for w, ls in zip(won, lost, strict=True)) / strata
    half = norm.ppf(0.975) * math.sqrt(variance)
    assert (test.difference.low, test.difference.high) == pytest.approx((centre - half, centre + half))


def test_the_stratified_test_matches_a_known_example():
    # admissions to six departments by sex; Mantel-Haenszel chi-squared 1.5246 on 1 degree of freedom
    strata = [
        (512, 313, 89, 19),
        (353, 207, 17, 8),
        (120, 205, 202, 391),
        (138, 279, 131, 244),
        (53, 138, 94, 299),
        (22, 351, 24, 317),
    ]
    p_value = homogeneity([[s[:2] for s in strata], [s[2:] for s in strata]])
    assert p_value == pytest.approx(chi2.sf(1.5246, 1), abs=1e-5)
    exact = mantel_haenszel([Stratum(*s) for s in strata])
    assert exact.p_value == pytest.approx(chi2.sf(1.5246, 1), abs=0.015)
    assert exact.difference.low < exact.difference.estimate < 0 < exact.difference.high


@given(st.lists(st.tuples(*[st.integers(0, 12)] * 4), min_size=1, max_size=3))
def test_swapping_contender_and_baseline_turns_the_difference_around(cells):
    strata = [Stratum(*cell) for cell in cells]
    turned = [Stratum(c, d, a, b) for a, b, c, d in cells]
    forth, back = mantel_haenszel(strata), mantel_haenszel(turned)
    assert forth.p_value == pytest.approx(back.p_value, abs=1e-9)
    assert 0 <= forth.p_value <= 1
    if not math.isnan(forth.difference.estimate):
        assert forth.difference.estimate == pytest.approx(-back.difference.estimate, abs=1e-12)
        assert forth.difference.low <= forth.difference.estimate <= forth.difference.high


def test_the_exact_test_of_published_counts_errs_no_more_often_than_alpha():
    # given the margins the chance of any table is hypergeometric: sum those the test rejects
    chances = {wins: hypergeom.pmf(wins, 40, 24, 20) for wins in range(4, 21)}
    rejected = sum(
        chance
        for wins, chance in chances.items()
        if mantel_haenszel([Stratum(wins, 20 - wins, 24 - wins, wins - 4)]).p_value <= 0.05
    )
    assert 0 < rejected <= 0.05


def test_players_that_won_everything_are_equal_with_room_for_doubt():
    test = mantel_haenszel([Stratum(20, 0, 20, 0)] * 3)
    assert test.p_value == 1
    assert test.difference.low < test.difference.estimate == 0 < test.difference.high


def test_no_games_say_nothing():
    assert mantel_haenszel([]).p_value == 1
    assert mantel_haenszel([Stratum(5, 5, 0, 0)]).p_value == 1
    assert homogeneity([]) == 1
    assert homogeneity([[(5, 5)]]) == 1
    assert homogeneity([[(5, 0)], [(7, 0)]]) == 1
    with pytest.raises(ValueError, match="same opponents"):
        homogeneity([[(5, 5)], [(5, 5), (1, 1)]])
    with pytest.raises(ValueError, match="-1"):
        mantel_haenszel([Stratum(-1, 0, 0, 0)])


@pytest.mark.exhaustive
def test_a_baseline_from_another_table_counts_once_however_many_runs_lean_on_it():
    rng = np.random.default_rng(1)
    opponents = {"Random": 0.95, "Null": 0.8, "Open": 0.6}
    claimed = 0
    for _ in range(200):
        rows = [
            PublishedRow("source", table, agent, opponent, (wins := int(rng.binomial(20, rate))), 20 - wins)
            for table, agent in (("a", "ID_Improved"), ("b", "Same"), ("c", "Same"), ("d", "Same"), ("e", "Same"))
            for opponent, rate in opponents.items()
        ]
        (claim,) = analyse_published(PublishedTables(tuple(rows))).pooled
        assert (claim.total.contender_games, claim.total.baseline_games) == (240, 60)
        claimed += claim.stands
    assert claimed <= 0.07 * 200


def test_the_interval_over_many_opponents_with_two_games_each_covers_the_difference():
    rng = np.random.default_rng(2)
    rates = np.array([0.97, 0.9, 0.78, 0.72, 0.68, 0.62, 0.57])
    covered = 0
    for _ in range(400):
        wins = rng.binomial(2, rates, (2, 7)).tolist()
        estimate = mantel_haenszel(
            [Stratum(first, 2 - first, second, 2 - second) for first, second in zip(*wins, strict=True)]
        )
        covered += estimate.difference.low <= 0 <= estimate.difference.high
    assert covered >= 0.95 * 400


def test_published_results_can_be_removed_with_their_report():
    root = Path(__file__).parents[2]
    importing = re.compile(r"^\s*(from|import)\s+\S*experiments\.published|^\s*from \.+published", re.MULTILINE)
    found = {
        path.relative_to(root).as_posix()
        for room in ("experiments", "reports", "knights_isolation/commands")
        for path in (root / room).rglob("*.py")
        if path.parent != root / "experiments" / "published" and importing.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"reports/studies/published.py"}
