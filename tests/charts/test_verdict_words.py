"""One vocabulary for verdicts: `try`, `screen` and `compare` say the same of the same."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knights_isolation.experiments.analysis.quick_trial import TrialSettings
from knights_isolation.experiments.statistics.proportions import Interval, PairCounts, pair_interval
from knights_isolation.experiments.studies.screening import SuiteComparison
from knights_isolation.reports.analysis.file_answers import describe_trial
from knights_isolation.reports.studies.screening import verdict
from knights_isolation.reports.text.cell_values import Elo, Estimate, Points, Range, Share
from knights_isolation.reports.text.verdict_details import verdict_sentence
from knights_isolation.reports.text.wording import short_verdict


def against(lead, adjusted, differs=9):
    ends = Interval(lead, lead - 0.01, lead + 0.01, 0.95)
    return SuiteComparison(ends, ends, ends, adjusted, adjusted, differs)


def tried(pairs):
    trial = SimpleNamespace(
        problem=None, line=None, cost=None, python_cost=None, findings=[], screening=None,
        interval=pair_interval(PairCounts(*pairs)), settings=TrialSettings(),
    )  # fmt: skip
    return describe_trial("mine", trial)


def compared(kind):
    return SimpleNamespace(
        verdict=kind, is_census=False, is_empty=False, plays_alike=False, lead=(-0.05, 0.05), contender="A"
    )


@pytest.mark.parametrize(
    ("kind", "lead", "adjusted", "pairs", "quick"),
    [
        ("better", 0.02, 0.01, (1, 20, 60), "looks better (quick test)."),
        ("worse", -0.02, 0.01, (60, 20, 1), "looks worse (quick test)."),
        ("no significant difference", 0.02, 0.06, (20, 20, 22), "no significant difference yet."),
    ],
)
def test_try_screen_and_compare_use_the_same_words(kind, lead, adjusted, pairs, quick):
    assert verdict(against(lead, adjusted)) == kind
    assert short_verdict(compared(kind)) == kind
    assert tried(pairs).endswith(quick)


def test_in_solved_positions_the_same_moves_are_told_from_too_little_data():
    assert verdict(against(0.0, 1.0, differs=0)) == "same moves"
    assert verdict_sentence("Mine", "Base", "same moves", "") == "Mine and Base: same moves."


def number(text):
    """What a shown end says: beyond no difference by next to nothing, if it names only the side."""
    side, _, null = text.partition(" ")
    if side in ("above", "below"):
        return float(null) + (1e-9 if side == "above" else -1e-9)
    return float(text.replace("−", "-"))


@given(
    st.sampled_from([(Points, 0.0, 0.0), (Share, 0.5, 50.0), (Elo, 0.0, 0.0)]),
    st.floats(-9, -0.5),
    st.floats(0, 1),
    st.sampled_from([-1, 1]),
)
def test_a_shown_interval_contains_no_difference_exactly_where_the_interval_does(kind, size, width, side):
    make, null, shown_null = kind
    near = 10**size
    for other in (near + width, -width):
        low, high = sorted(make(null + side * end) for end in (near, other))
        if low < high:
            shown_low, shown_high = map(number, Range(low, high).text.split(" to "))
            assert (shown_low <= shown_null <= shown_high) == (low <= null <= high)
            assert f"({Range(low, high).text})" in Estimate(make((low + high) / 2), low, high).text
