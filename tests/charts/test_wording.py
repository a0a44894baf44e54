"""Results are put into words in one place, and the words follow from the facts."""

from types import SimpleNamespace

import numpy as np
import pytest

from knights_isolation.experiments.published.claims import analyse_published
from knights_isolation.experiments.published.result_tables import (
    PublishedRow,
    PublishedTables,
    bundled_csv,
    parse_csv,
    parse_published,
)
from knights_isolation.reports.studies.published import claim_words, repetition_words
from knights_isolation.reports.text.decisions import decision_sentence, decision_words
from knights_isolation.reports.text.verdict_details import control_cell, control_sentence, excluded_sentence, two_digits
from knights_isolation.reports.text.wording import p_words, verdict_words


def judged(**facts):
    usual = {
        "verdict": "no significant difference",
        "is_empty": False,
        "is_census": False,
        "plays_alike": False,
        "lead": (-0.031, 0.036),
    }
    return SimpleNamespace(**{**usual, **facts})


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"verdict": "better"}, "better"),
        ({"verdict": "worse"}, "worse"),
        ({"verdict": "better", "is_census": True}, "better on all openings"),
        ({"verdict": "equal", "is_census": True}, "equal on all openings"),
        ({}, "no significant difference"),
        ({"lead": (-0.006, 0.014)}, "no difference of 2.0"),
        ({"lead": (0.001, 0.06)}, "no significant difference"),
        ({"lead": (-1, 1)}, "too little data"),
        ({"is_empty": True, "lead": (np.nan, np.nan)}, "no significant difference: no complete pairs in common"),
    ],
)
def test_a_verdict_is_one_plain_phrase(facts, words):
    assert verdict_words(judged(**facts)) == words


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ([{}], "Good is at most 3.6 points better and at most 3.1 points worse than Base."),
        (
            [{"verdict": "better"}, {"lead": (0.001, 0.06)}],
            "Good is at most 6.0 points better and at most 0.0 points worse than Base.",
        ),
        ([{}] * 4, "4 do not differ significantly from the baseline: none is better by more than the upper end "
         "of its interval or worse by more than the lower end."),
        ([{"verdict": "worse"}, {"lead": (-1, 1)}, {"is_empty": True, "lead": (np.nan, np.nan)}], ""),
    ],
)  # fmt: skip
def test_what_is_excluded_is_a_sentence_and_no_cell(claims, words):
    assert excluded_sentence([judged(contender="Good", baseline="Base", **facts) for facts in claims]) == words


def control(p_value):
    interval = SimpleNamespace(estimate=0.012, low=-0.02, high=0.04)
    return SimpleNamespace(
        contender="Base_control", baseline="Base", openings=40, difference=interval, p_value=p_value, alpha=0.05
    )


def test_a_control_shows_luck_and_is_distrusted_where_it_differs_from_itself():
    assert control_cell(control(0.3)).text == "control: differs by chance"
    assert "is Base on 40 openings of its own. It differs from itself by +1.2 (−2.0 to +4.0)" in (
        control_sentence(control(0.3))
    )
    for p_value in (0.05, 0.0011):
        assert control_cell(control(p_value)).text == "control: differs by chance"
    for p_value in (0.001, 0.00005):
        assert control_cell(control(p_value)).text == "control: differs from itself"
        assert "do not trust this run" in control_sentence(control(p_value))


def sequential_test(decision, is_duel, exhausted=False, is_held_back=False, census=False):
    path = SimpleNamespace(decision=decision, sprt=SimpleNamespace(model="logistic"))
    return SimpleNamespace(
        path=path,
        is_duel=is_duel,
        low=-2.5,
        high=10.0,
        exhausted=exhausted,
        is_held_back=is_held_back,
        census=census,
        observations=20,
    )


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (sequential_test("H1", True), "accepted: 10 Elo (H1)"),
        (sequential_test("H0", False, True), "accepted: −2.5 points (H0)"),
        (sequential_test(None, True), "undecided"),
        (sequential_test(None, False, True), "undecided after the 20 openings played"),
        (sequential_test(None, True, True), "undecided after the 20 pairs played"),
        (sequential_test(None, True, True, census=True), "undecided when the openings ran out"),
        (
            sequential_test(None, True, False, True),
            "undecided: a bound is crossed, but not after adding half a lost and half a won pair",
        ),
    ],
)
def test_a_decision_names_the_two_differences_it_chose_between(test, words):
    assert decision_words(test) == words


@pytest.mark.parametrize(
    ("bounds", "decision", "sentence"),
    [
        ((0, 20), "H1", "X is stronger than Base (H1: +20 Elo rather than 0)."),
        ((-20, 0), "H1", "X is not weaker than Base by 20 Elo (H1: 0 Elo rather than −20)."),
        ((0, 20), "H0", "X is not stronger than Base by 20 Elo (H0: 0 Elo rather than +20)."),
        ((-20, 0), "H0", "X is weaker than Base (H0: −20 Elo rather than 0)."),
    ],
)
def test_a_decision_says_only_what_its_two_differences_allow(bounds, decision, sentence):
    test = sequential_test(decision, True)
    test.low, test.high, test.contender, test.baseline = *bounds, "X", "Base"
    test.path.decided_after = 12
    assert decision_sentence(test) == f"Decided after 12 pairs: {sentence}"


def test_published_claims_say_what_was_won_and_whether_they_stand():
    analysis = analyse_published(parse_csv(bundled_csv()))
    words = {(item.agent, *item.tables): claim_words(item) for item in (*analysis.claims, *analysis.pooled)}
    assert "does not hold: chance alone" in words["ID_net_advantage_score", "single-heuristic evaluation"]
    assert words["edge_distance_dynamic", "table7", "table8"].endswith("The claim that it is better holds.")
    (repetition,) = analysis.repetitions
    assert repetition_words(repetition).startswith("ID_Improved was measured 4 times and won between 67.7 % and 68.7 %")
    assert "something else changed" not in repetition_words(repetition)


def test_a_name_that_templates_give_comes_with_a_caveat_where_it_has_several_runs():
    results = (("ID_Improved", 9), ("Student", 19))
    text = "\n".join(f"Match 1: {name} vs Random  Result: {wins} to {20 - wins}" for name, wins in results)
    (once,) = analyse_published(parse_published(text)).claims
    (twice,) = analyse_published(parse_published(f"{text}\n{text}")).pooled
    assert "same function" not in claim_words(once)
    assert "This holds if Student was the same function in all 2 runs." in claim_words(twice)


def test_nothing_is_said_of_an_agent_that_met_none_of_the_baselines_opponents():
    rows = (PublishedRow("n", "", "ID_Improved", "A", 5, 5), PublishedRow("n", "", "B", "C", 9, 1))
    (claim,) = analyse_published(PublishedTables(rows)).claims
    assert claim_words(claim) == "B: no opponent in common with ID_Improved, so no comparison is possible."


def test_numbers_are_given_no_more_digits_than_they_are_worth():
    assert [two_digits(value) for value in (1, 96.4, 104.9, 1250)] == [1, 96, 100, 1200]
    assert [p_words(value) for value in (1.0, 0.04, 0.0005, 0.0004)] == [
        *("p = 1.000", "p = 0.040", "p = 0.001", "p < 0.001"),
    ]
