"""Games of a gauntlet's contenders with the baseline itself: a question of their own, apart from the mean."""

import json

import numpy as np
import pytest
from invented_runs import Invented, gauntlet

from knights_isolation.experiments.analysis.analyse_file import Analysis, TrialConditions
from knights_isolation.experiments.analysis.quick_trial import FileContents, Trial
from knights_isolation.experiments.statistics.contender_verdicts import judge
from knights_isolation.experiments.statistics.frames import standings_frame, verdict_frame
from knights_isolation.experiments.statistics.paired_differences import compare_each
from knights_isolation.experiments.statistics.planning import plan_contenders
from knights_isolation.experiments.statistics.ratings import rate
from knights_isolation.experiments.statistics.run_results import RunResults, load_findings
from knights_isolation.isolation.rules.game import Size
from knights_isolation.reports.analysis.analysis_page import opponents_table
from knights_isolation.reports.charts.grids import leads
from knights_isolation.reports.pages.report_page import headline
from knights_isolation.reports.studies.headlines import compare_headline
from knights_isolation.reports.tables.compare import compare_sections
from knights_isolation.reports.tables.summary import summarize
from knights_isolation.reports.text.rendering import render_sections
from knights_isolation.reports.text.wording import finding_sentence

OPENINGS = 40
MEAN = {"Base": 0.5, "Good": 0.8, "Weak": 0.45, "Other": 0.5}
DIRECT = {"Good": 0.33, "Weak": 0.8, "Other": 0.5}


def run_of(tmp_path, name, *, with_direct=True, **options) -> RunResults:
    """Good wins more against the opponents and loses to Base, Weak beats it, Other does as well as Base in both."""
    generator = np.random.default_rng(1)
    run = Invented(**options)
    for agent in MEAN:
        run.agent(agent, "baseline" if agent == "Base" else "contender")
    run.agent("Opp_A", "opponent").agent("Opp_B", "opponent")
    for opening in range(OPENINGS):
        for agent, share in MEAN.items():
            for opponent in ("Opp_A", "Opp_B"):
                run.pair(agent, opponent, opening, generator.binomial(2, share))
        for agent, share in DIRECT.items():
            wins = generator.binomial(2, share)
            if with_direct:
                run.pair(agent, "Base", opening, wins)
    return load_findings([run.write(tmp_path / name)])


@pytest.fixture
def findings(tmp_path) -> RunResults:
    return run_of(tmp_path, "with")


def tables_of(findings: RunResults) -> dict:
    return json.loads(render_sections(compare_sections(findings), "json"))


def test_win_rates_and_differences_are_those_of_the_same_run_without_these_games(findings, tmp_path):
    before = run_of(tmp_path, "without", with_direct=False)
    frame = verdict_frame(findings)
    assert frame[frame.measure == "difference"].reset_index(drop=True).equals(verdict_frame(before))
    assert standings_frame(findings).equals(standings_frame(before))
    assert tables_of(findings)["theory"] == tables_of(before)["theory"]
    assert findings.played == before.played + 2 * OPENINGS * len(DIRECT)


def test_games_head_to_head_are_judged_as_a_family_of_their_own(findings):
    verdicts = judge(findings)
    pools = [None] * len(DIRECT)
    alone = compare_each(findings.all_pairs, [(name, "Base") for name in DIRECT], pools=pools)
    for duel, by_itself in zip(verdicts.direct, alone, strict=True):
        assert (duel.contender, duel.rate, duel.p_value) == (by_itself.contender, by_itself.rate, by_itself.p_value)
        assert (
            by_itself.adjusted_p <= duel.adjusted_p <= 1.2 * by_itself.adjusted_p
        )  # for the first look, a little more
    assert {duel.contender: duel.verdict for duel in verdicts.direct} == {
        "Good": "worse", "Weak": "better", "Other": "no significant difference",
    }  # fmt: skip
    assert {duel.family for duel in verdicts.direct} == {claim.family for claim in verdicts.claims} == {3}
    frame = verdict_frame(findings)
    assert list(frame[frame.measure == "score"].contender) == list(DIRECT)


def test_beat_is_said_of_games_head_to_head_only_and_that_the_verdicts_differ(findings):
    assert finding_sentence(findings, judge(findings)) == (
        "1 of 3 won more against the same opponents than Base: Good; none won significantly less; head to head 1 of 3 "
        "beats it: Weak, 1 loses: Good; the two verdicts differ: Good, Weak."
    )
    assert "Good" in judge(findings).disagreeing
    assert "Other" not in judge(findings).disagreeing


def test_the_page_says_of_both_questions_who_won(findings):
    sentences = " ".join(headline(findings, judge(findings)))
    assert "Won more against the same opponents than Base: Good by +" in sentences
    assert "No significant difference from Base against the same opponents yet: " in sentences
    assert "Head to head beat Base: Weak with " in sentences
    assert "Head to head lost to Base: Good with " in sentences
    assert "The verdicts against the same opponents and head to head differ: Good, Weak." in sentences


def test_the_win_rate_against_the_baseline_is_a_column_with_its_interval(findings):
    tables = tables_of(findings)
    row = {row["contender"]: row for row in tables["verdicts"]}["Weak"]
    duel = judge(findings).against_baseline("Weak")
    assert (row["head_to_head"], row["head_to_head_low"], row["head_to_head_high"]) == pytest.approx(
        (duel.jointly.estimate, duel.jointly.low, duel.jointly.high)
    )
    assert {row["contender"]: row["verdict"] for row in tables["head_to_head"]}["Weak"] == "better"
    assert "head_to_head" in compare_headline(findings).sections[0].rows[0]
    opponents = {row["opponent"] for section in summarize(findings) if section.key == "opponents"
                 for row in section.rows if row["agent"] == "Weak"}  # fmt: skip
    assert opponents == {"Opp_A", "Opp_B", "Base"}
    assert any("not in them: see the table opponents" in note for note in summarize(findings)[0].notes)
    cells = leads(findings, judge(findings))
    assert cells["Weak", "Base"].rate == pytest.approx(duel.rate.estimate)
    assert ("Base", "Weak") not in cells


def test_a_log_without_such_games_is_read_as_before(tmp_path):
    findings = run_of(tmp_path, "without", with_direct=False)
    assert not judge(findings).direct
    assert finding_sentence(findings, judge(findings)).endswith("Base: Good; none won significantly less.")
    tables = tables_of(findings)
    assert "head_to_head" not in tables
    assert "head_to_head" not in tables["verdicts"][0]


def test_ratings_are_of_all_games(findings):
    games = {rating.agent: rating.games for rating in rate(findings).ratings}
    assert games["Weak"] == 2 * OPENINGS * 3
    assert games["Base"] == 2 * OPENINGS * 5


def test_a_baseline_among_the_opponents_has_been_met_there(tmp_path):
    run = Invented().agent("Base", "baseline", "opponent").agent("Good", "contender").agent("Opp_A", "opponent")
    for opening in range(20):
        run.pair("Base", "Opp_A", opening, 1).pair("Good", "Opp_A", opening, 2).pair("Good", "Base", opening, 0)
    findings = load_findings([run.write(tmp_path / "run")])
    verdicts = judge(findings)
    assert verdicts.claims[0].opponents == ("Opp_A",)
    assert [(duel.contender, duel.verdict) for duel in verdicts.direct] == [("Good", "worse")]
    assert {standing.agent: standing.games for standing in findings.standings}["Good"] == 80


def test_another_baseline_is_compared_over_the_same_opponents(findings):
    other = load_findings([findings.sources[0].info.path], baseline="Good")
    verdicts = judge(other)
    assert {claim.opponents for claim in verdicts.claims} == {("Opp_A", "Opp_B")}
    assert [duel.contender for duel in verdicts.direct] == ["Base"]


def test_an_unfinished_run_has_a_verdict_head_to_head_that_is_valid_at_any_time(tmp_path):
    run = gauntlet(7, planned=400)
    for opening in range(7):
        run.pair("Good", "Base", opening, 2 if opening else 1)
    (duel,) = judge(load_findings([run.write(tmp_path / "unfinished")])).direct
    assert duel.p_value <= 0.05
    assert duel.verdict == "no significant difference"
    assert duel.jointly.low < 0.5
    run.planned = None
    (duel,) = judge(load_findings([run.write(tmp_path / "finished")])).direct
    assert duel.verdict == "better"


def test_games_still_to_be_played_include_those_with_the_baseline(findings, tmp_path):
    before = run_of(tmp_path, "without", with_direct=False)
    plans = [{plan.contender: plan for plan in plan_contenders(run, 0.01)} for run in (before, findings)]
    for name in DIRECT:
        assert plans[1][name].still_needed == plans[0][name].still_needed > 0
        assert plans[1][name].games == plans[0][name].games + 2 * plans[0][name].still_needed


def test_control_games_are_no_claim_head_to_head(tmp_path):
    run = gauntlet(10).agent("Base_control", "control", heuristic="Base")
    for opening in range(10, 20):
        run.pair("Base_control", "Opp_A", opening, 1).pair("Base_control", "Base", opening, 1)
    assert [duel.contender for duel in judge(load_findings([run.write(tmp_path / "run")])).direct] == []


def test_a_slow_function_of_a_file_that_plays_apart_has_its_games_with_the_baseline_in_the_same_row(tmp_path):
    apart = Invented().agent("Base", "baseline").agent("Slow", "contender")
    apart.agent("Opp_A", "opponent").agent("Opp_B", "opponent")
    for opening in range(OPENINGS):
        for opponent in ("Opp_A", "Opp_B"):
            apart.pair("Base", opponent, opening, 1).pair("Slow", opponent, opening, 1)
        apart.pair("Slow", "Base", opening, 2)
    runs = {"nodes": run_of(tmp_path, "with"), "dear-nodes": load_findings([apart.write(tmp_path / "apart")])}
    trials = {name: Trial(None, None, None, None, [], None, None) for name in (*DIRECT, "Slow")}
    contents = FileContents("mine.py", "", {}, (), Size(7, 7), {})
    last = opponents_table(Analysis(contents, TrialConditions(), trials, None, {}, (), runs)).rows[-1]
    assert last["win rate against"] == "Base, head to head"
    assert last["Slow"] == 1
    assert 0 < last["Good"] < last["Weak"] < 1
