import io
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from invented_runs import Invented, gauntlet, random_wins

import knights_isolation
from cli import main
from knights_isolation.experiments.plan import make_agent, parse_spec, settings_text
from knights_isolation.experiments.plan.run_keeping import finish
from knights_isolation.experiments.record.run_directory import missing_sentence
from knights_isolation.experiments.statistics.contender_verdicts import judge
from knights_isolation.experiments.statistics.frames import verdict_frame
from knights_isolation.experiments.statistics.move_statistics import Distribution, Effort, measure_effort, over_moves
from knights_isolation.experiments.statistics.planning import plan_contenders
from knights_isolation.experiments.statistics.ratings import rate
from knights_isolation.experiments.statistics.run_results import load_findings
from knights_isolation.experiments.statistics.sprt import run_tests
from knights_isolation.reports.charts.grids import differences, leads
from knights_isolation.reports.lab.run_pages import run_state
from knights_isolation.reports.pages.report_page import finding_of, headline, report_page
from knights_isolation.reports.plots import draw_kind
from knights_isolation.reports.studies.headlines import compare_headline, ratings_headline, summary_headline
from knights_isolation.reports.tables.compare import compare_sections
from knights_isolation.reports.tables.ratings import rating_sections
from knights_isolation.reports.tables.summary import summarize
from knights_isolation.reports.text.cell_values import Estimate, Points
from knights_isolation.reports.text.rendering import Section, render_sections, section_called


def rows_of(sections, key):
    return json.loads(render_sections([section_called(sections, key)], "json"))[key]


def by(rows, key, value):
    return [row for row in rows if row[key] == value]


def better_on_all(agent, opponent, opening):
    return 2 if agent == "Good" else 1


def robin(openings=20):
    run = Invented(config={"format": "round-robin", "contenders": ["random", "greedy"]})
    for name in ("A", "B", "C"):
        run.agent(name, "contender")
    for opening in range(openings):
        run.pair("A", "B", opening, 2).pair("A", "C", opening, opening % 2).pair("B", "C", opening, 1)
    return run


def test_a_round_robin_is_compared_each_against_each(tmp_path):
    findings = load_findings([robin().write(tmp_path / "run")])
    rows = rows_of(compare_sections(findings), "each_against_each")
    rows_by_name = {(row["agent"], row["against"]): row for row in rows}
    assert rows_by_name["A", "B"]["verdict"] == "better"
    assert rows_by_name["C", "A"]["verdict"] == "better"
    assert rows_by_name["B", "C"]["verdict"] == "no significant difference"
    assert rows_by_name["A", "B"]["adjusted_p"] <= 0.05 < rows_by_name["B", "C"]["adjusted_p"]
    assert rows_by_name["A", "B"]["win_rate_low"] > 0.5 > rows_by_name["B", "C"]["win_rate_low"]


def test_a_round_robin_with_a_baseline_named_is_compared_with_that(tmp_path):
    findings = load_findings([robin().write(tmp_path / "run")], baseline="A")
    assert {row["contender"] for row in rows_of(compare_sections(findings), "verdicts")} == {"B", "C"}


def test_a_round_robin_is_a_pilot_for_every_two_of_its_agents(tmp_path):
    plans = plan_contenders(load_findings([robin().write(tmp_path / "run")]), 0.05)
    assert {plan.contender for plan in plans} == {"A – B", "C – A", "B – C"}
    assert [plan.plan.alpha for plan in plans] == pytest.approx([0.05 / 3] * 3)


def test_forfeits_stand_before_all_that_is_said_of_a_run(tmp_path):
    run = Invented().agent("A", "contender").agent("Base", "baseline")
    for opening in range(10):
        run.pair("A", "Base", opening, 0, reason="hang")
    section = section_called(compare_sections(load_findings([run.write(tmp_path / "run")])), "head_to_head")
    assert section.notes[0] == "20 of 20 games (100.0 %) were forfeits: A lost 20 games by hang."


def test_a_sequential_test_of_a_round_robin_says_what_works_there(tmp_path):
    findings = load_findings([robin().write(tmp_path / "run")])
    with pytest.raises(ValueError, match=r"--baseline; agents: A, B, C\. .*isolation results"):
        run_tests(findings, 0, 20)


def test_standings_count_wins_and_pairs(tmp_path):
    findings = load_findings([gauntlet(10, better_on_all).write(tmp_path / "run")])
    (good,) = by(rows_of(summarize(findings), "standings"), "agent", "Good")
    assert (good["games"], good["wins"], good["losses"]) == (40, 40, 0)
    assert (good["both_won"], good["split"], good["both_lost"]) == (20, 0, 0)
    assert good["win_rate"] == 1.0
    assert good["win_rate_low"] < 1 <= good["win_rate_high"]


def test_every_table_of_a_summary_speaks_every_format(tmp_path):
    sections = summarize(load_findings([gauntlet(4).write(tmp_path / "run")]))
    for output in ("table", "json", "csv", "markdown"):
        text = render_sections(sections, output)
        assert "Good" in text
    assert set(json.loads(render_sections(sections, "json"))) > {"standings", "opponents", "sides", "search"}
    alone = render_sections(sections, "csv", only="opponents").splitlines()
    assert alone[0].startswith("agent,opponent,wins")
    assert len(alone) == 1 + 4


def test_an_unknown_table_is_refused_with_those_there_are(tmp_path):
    sections = summarize(load_findings([gauntlet(2).write(tmp_path / "run")]))
    with pytest.raises(ValueError, match="no table is called 'nonsense'; there are standings, opponents"):
        render_sections(sections, "csv", only="nonsense")


def test_sides_and_colours_are_told_apart(tmp_path):
    run = Invented().agent("A", "contender").agent("B", "baseline")
    for opening in range(6):
        run.pair("A", "B", opening, 1)  # A wins exactly the games in which it places first
    sides = rows_of(summarize(load_findings([run.write(tmp_path / "run")])), "sides")
    first = by(by(sides, "agent", "A"), "places", "first")
    assert [(row["colours"], row["games"], row["wins"]) for row in first] == [("same", 3, 3), ("other", 3, 3)]
    assert all(row["wins"] == 0 for row in by(by(sides, "agent", "A"), "places", "second"))


def test_forfeits_name_the_loser_the_reason_and_the_game(tmp_path):
    run = gauntlet(2)
    run.rows[1] |= {"winner": 1, "reason": "error", "detail": "ZeroDivisionError: <b>"}
    loser = run.rows[1]["agent_2"]
    (row,) = rows_of(summarize(load_findings([run.write(tmp_path / "run")])), "forfeits")
    assert (row["agent"], row["reason"], row["games"]) == (loser, "error", 1)
    assert row["detail"] == "ZeroDivisionError: <b>"
    assert row["first_in"].endswith("run 1")


def test_effort_counts_each_player_s_own_moves_after_the_opening(tmp_path):
    run = Invented().agent("A", "contender").agent("B", "baseline").pair("A", "B", 0, 1, plies=7)
    search = rows_of(summarize(load_findings([run.write(tmp_path / "run")])), "search")
    (a,) = by(search, "agent", "A")
    # plies 2, 4, 6 in the game it places first, plies 3, 5 in the other
    assert a["moves"] == 5
    assert a["mean_depth"] == (3 * 3 + 2 * 5) / 5
    assert a["mean_nodes"] == (3 * 100 + 2 * 1000) / 5
    assert a["ns_a_node"] is None


def test_a_summary_shows_what_a_node_costs_where_the_run_has_measured_it(tmp_path):
    findings = load_findings([gauntlet(2).costing(Base=1.0, Good=2.5).write(tmp_path / "run")])
    message = {row["agent"]: row["ns_a_node"] for row in rows_of(summarize(findings), "search")}
    assert message == {"Base": 4.0, "Good": 10.0, "Opp_A": None, "Opp_B": None}


def test_costs_are_over_whichever_baseline_is_asked_for(tmp_path):
    path = gauntlet(4, contenders=("Good", "Other")).costing(Base=1.0, Good=2.0, Other=3.0).write(tmp_path / "run")
    rows = rows_of(compare_sections(load_findings([path], baseline="Good")), "verdicts")
    assert {row["contender"]: row["cost"] for row in rows} == {"Base": 0.5, "Other": 1.5}


def test_of_several_runs_the_first_that_knows_both_says_what_a_contender_costs(tmp_path):
    rates = random_wins({"Base": 0.4, "Good": 0.8})
    paths = [
        gauntlet(4, rates).costing(**costs).write(tmp_path / str(index))
        for index, costs in enumerate(({"Good": 9.0}, {"Base": 1.0, "Good": 2.0}, {"Base": 1.0, "Good": 3.0}))
    ]
    (row,) = rows_of(compare_sections(load_findings(paths)), "verdicts")
    assert row["cost"] == 2.0


def test_costs_that_nobody_knows_are_not_explained_at_length_and_engines_not_said_to_leave_things_to_chance(tmp_path):
    run = gauntlet(3, random_wins({"Base": 0.4, "Good": 0.8}))
    run.agent("Opp_A", "opponent", kind="engine").agent("Opp_B", "opponent", options=["random_ties"])
    notes = compare_sections(load_findings([run.write(tmp_path / "run")]))[0].notes
    (cost,) = [note for note in notes if "Cost" in note]
    assert cost == "Cost: not measured; only agents that search by nodes are measured, when a run begins."
    (message,) = [note for note in notes if "on chance" in note]
    assert message.startswith(
        "Opp_B depends on chance or a clock, and whether Opp_A plays deterministically is unknown: no result"
    )


def test_effort_is_summed_over_an_agent_s_own_moves(tmp_path):
    run = Invented().agent("A", "contender").agent("B", "baseline").pair("A", "B", 0, 1, plies=7)
    effort = measure_effort(load_findings([run.write(tmp_path / "run")]))["A"]
    assert effort == Effort(5, 3 * 100 + 2 * 1000, 3 * 10 + 2 * 50, depth=3 * 3 + 2 * 5)


def good_and_alike(agent, opponent, opening):
    """Good wins a game more of every second opening; Alike loses as many openings to the baseline as it wins."""
    if agent == "Good":
        return 1 + opening % 2
    return 1 if agent == "Base" else (0, 2)[opening % 2]


def test_each_side_of_a_game_has_its_own_moves(tmp_path):
    run = Invented().agent("A", "contender").agent("B", "baseline").game("A", "B", 0, True, plies=7)
    efforts = measure_effort(load_findings([run.write(tmp_path / "run")]))
    # plies 2, 4, 6 are the first player's own, plies 3 and 5 the second's
    assert (efforts["A"].moves, efforts["A"].nodes, efforts["A"].microseconds) == (3, 300, 30)
    assert (efforts["B"].moves, efforts["B"].nodes, efforts["B"].microseconds) == (2, 2000, 100)


def test_a_chosen_move_knows_its_ply_and_whether_its_mover_won(tmp_path):
    run = (
        Invented().agent("A", "contender").agent("B", "baseline").pair("A", "B", 0, 2, plies=6).game("A", "B", 1, False)
    )
    findings = load_findings([run.write(tmp_path / "run")])
    ((of_a,),), ((of_b,),) = (over_moves(findings, "depth", [name], list) for name in "AB")
    assert of_a.ply.tolist() == [2, 4, 3, 5, 2, 4]
    assert of_a.won.tolist() == [True, True, True, True, False, False]
    assert of_b.ply.tolist() == [3, 5, 2, 4, 3, 5]
    assert of_b.won.tolist() == [False, False, False, False, True, True]
    assert set(of_a.value.tolist()) | set(of_b.value.tolist()) == {3, 5}


def test_a_census_is_one_only_when_all_of_it_is_played(tmp_path):
    whole, begun, halved = (gauntlet(20, population=20, is_census=True) for _ in range(3))
    begun.planned = len(begun.rows) + 2
    halved.rows.pop()
    result = [load_findings([run.write(tmp_path / str(index))]) for index, run in enumerate((whole, begun, halved))]
    assert [item.is_census for item in result] == [True, False, False]
    sampled = load_findings([gauntlet(20, population=40).write(tmp_path / "sampled")])
    assert not sampled.is_census


def test_a_clear_winner_is_called_better_and_who_wins_as_often_is_not(tmp_path):
    run = gauntlet(60, good_and_alike, contenders=("Good", "Alike"))
    verdicts = {
        comparison.contender: comparison
        for comparison in judge(load_findings([run.write(tmp_path / "run")])).comparisons
    }
    assert verdicts["Good"].verdict == "better"
    assert verdicts["Good"].better_against_every_opponent
    assert verdicts["Alike"].verdict == "no significant difference"
    assert verdicts["Alike"].p_value == 1
    assert verdicts["Good"].family == 2


def with_control(run, **settings):
    run.agent("Base_control", "control", **settings)
    for opening in range(100, 120):
        for opponent in ("Opp_A", "Opp_B"):
            run.pair("Base_control", opponent, opening, 1)
    return run


def test_a_control_is_no_claim_and_said_to_show_no_difference(tmp_path):
    run = with_control(gauntlet(20))
    sections = compare_sections(load_findings([run.write(tmp_path / "run")]))
    rows = rows_of(sections, "verdicts")
    (control,) = by(rows, "contender", "Base_control")
    assert control["adjusted_p"] == 1
    assert control["verdict"] == "control"
    assert any("differs from itself" in note for note in sections[0].notes)


def test_whose_games_count_as_the_baseline_s_is_said_at_once(tmp_path):
    run = with_control(gauntlet(20, good_and_alike, pools_control=True), heuristic="Base").write(tmp_path / "run")
    findings = load_findings([run])
    for first in (compare_headline(findings), summary_headline(findings)):
        assert any("the games of Base_control count for Base" in note for note in first.sections[0].notes)
    alone = load_findings([with_control(gauntlet(20, good_and_alike)).write(tmp_path / "alone")])
    for first in (compare_headline(alone), summary_headline(alone)):
        assert not any("count for" in note for note in first.sections[0].notes)


def test_the_map_of_opponents_shows_the_differences_of_the_comparison(tmp_path):
    run = gauntlet(20, good_and_alike, pools_control=True).agent("Base_control", "control", heuristic="Base")
    for opening in range(100, 130):
        run.pair("Base_control", "Opp_A", opening, 2).pair("Base_control", "Opp_B", opening, 0)
    findings = load_findings([run.write(tmp_path / "run")])
    verdicts = judge(findings)
    (good,) = verdicts.claims
    grid = differences(findings, leads(findings, verdicts), {}, rate(findings))
    rows = dict(grid.rows)
    columns_by_name = {other: cell.text for other, cell in zip(grid.columns, rows["Good"], strict=True)}
    assert columns_by_name == {effect.opponent: Points(effect.difference.estimate).text for effect in good.effects}
    # 20 pairs with one game won, 30 with both or none
    assert dict(zip(grid.columns, [cell.text for cell in rows["Base"]], strict=True)) == {
        "Opp_A": "80.0",
        "Opp_B": "20.0",
    }


def test_agents_that_all_met_are_by_rank_in_rows_and_columns_of_the_map_alike(tmp_path):
    run = Invented().agent("Weak").agent("Best").agent("Middle")
    for opening, wins in enumerate([2, 2, 1]):
        run.pair("Best", "Weak", opening, wins).pair("Best", "Middle", opening, wins).pair("Middle", "Weak", opening, 1)
    run.pair("Middle", "Weak", 3, 2)
    findings = load_findings([run.write(tmp_path / "run")])
    grid = differences(findings, leads(findings, None), {}, rate(findings))
    assert grid.columns == tuple(name for name, _ in grid.rows) == ("Best", "Middle", "Weak")
    assert grid.ranks == ("1", "2", "3")
    assert grid.title == "Win rate by opponent"
    assert differences(findings, leads(findings, None), {}, rate(findings), "Who beats whom").title == "Who beats whom"
    assert [cells[number].text for number, (_, cells) in enumerate(grid.rows)] == ["–", "–", "–"]


def test_a_control_does_not_make_the_verdicts_of_the_others_any_harder(tmp_path):
    runs = (gauntlet(20, good_and_alike), with_control(gauntlet(20, good_and_alike)))
    findings = [load_findings([run.write(tmp_path / str(number))]) for number, run in enumerate(runs)]
    alone, controlled = (judge(finding) for finding in findings)
    assert alone.claims == controlled.claims
    assert (alone.family, controlled.family) == (1, 1)
    plans = [plan_contenders(finding, 0.03) for finding in findings]
    assert plans[0] == plans[1]
    assert [plan.contender for plan in plans[1]] == ["Good"]
    assert [test.contender for test in run_tests(findings[1], 0, 3)] == ["Good"]


def test_a_control_counts_as_the_baseline_where_its_run_was_designed_so(tmp_path):
    result = []
    for pools in (False, True):
        run = with_control(gauntlet(20, good_and_alike, pools_control=pools), heuristic="Base")
        result.append(load_findings([run.write(tmp_path / str(pools))]))
    apart, pooled = (judge(findings) for findings in result)
    assert [item.baseline_openings for item in (*apart.claims, *pooled.claims)] == [20, 40]
    assert [
        comparison.baseline_openings for comparison in pooled.comparisons if comparison.contender == "Base_control"
    ] == [20]
    notes = [compare_sections(findings)[0].notes for findings in result]
    assert not any("including its control" in note for note in notes[0])
    assert any("from 20 openings, and 40 of Base including its control" in note for note in notes[1])
    assert any("may deviate from that of the win rates shown" in note for note in notes[1])
    (plan,) = plan_contenders(result[1], 0.002)
    assert plan.games == plan.still_needed * 2 * 2 * 3


def test_a_baseline_that_is_an_opponent_meets_its_control_and_is_compared_all_the_same(tmp_path):
    run = with_control(gauntlet(20, good_and_alike, pools_control=True), heuristic="Base")
    run.agents["Base"]["roles"] = ["baseline", "opponent"]
    for opening in range(20):
        run.pair("Good", "Base", opening, 2).pair("Base_control", "Base", 100 + opening, 1 + opening % 2)
    plain = with_control(gauntlet(20, good_and_alike, pools_control=True), heuristic="Base")
    met, apart = (load_findings([item.write(tmp_path / name)]) for name, item in (("met", run), ("apart", plain)))
    (good,), (expected,) = judge(met).claims, judge(apart).claims
    assert good.effects == expected.effects
    assert good.baseline_openings == 40
    assert good.missing == ()
    assert [test.path.outcomes.tolist() for test in run_tests(met, 0, 3)] == [
        test.path.outcomes.tolist() for test in run_tests(apart, 0, 3)
    ]
    for first in (compare_headline(met), summary_headline(met)):
        assert any("the games of Base_control count for Base" in note for note in first.sections[0].notes)


def test_a_control_counts_as_nobody_else(tmp_path):
    run = with_control(gauntlet(20, good_and_alike, pools_control=True), heuristic="Base").write(tmp_path / "run")
    assert load_findings([run]).pooled_controls == ("Base_control",)
    assert load_findings([run], baseline="Good").pooled_controls == ()
    other = with_control(gauntlet(20, good_and_alike, pools_control=True)).write(tmp_path / "other")
    assert load_findings([other]).pooled_controls == ()


def test_a_control_head_to_head_is_no_claim_either(tmp_path):
    run = Invented().agent("A", "contender").agent("Twin", "control").agent("B", "baseline")
    for opening in range(12):
        run.pair("A", "B", opening, 2 if opening < 9 else 0).pair("Twin", "B", 100 + opening, 1 + opening % 2)
    verdicts = judge(load_findings([run.write(tmp_path / "run")]))
    (contender, control) = verdicts.duels
    assert (verdicts.family, contender.family, control.family) == (1, 1, 1)
    # One look at the planned openings may spend nine tenths of the error level.
    assert (contender.adjusted_p, control.adjusted_p) == (pytest.approx(contender.p_value / 0.9), control.p_value)


def test_a_census_is_exact_for_its_openings(tmp_path):
    run = gauntlet(20, lambda agent, _, opening: 1 + (agent == "Good" and opening < 10), population=20, is_census=True)
    findings = load_findings([run.write(tmp_path / "run")])
    (row,) = rows_of(compare_sections(findings), "verdicts")
    assert row["difference_low"] == row["difference"] == row["difference_high"] == 0.25
    # nothing is uncertain, so that there is no p-value
    assert (row["verdict"], row["adjusted_p"], row["heterogeneity_p"]) == ("better", None, None)
    assert "all of which were played: they are exact." in " ".join(compare_sections(findings)[0].notes)
    standings, opponents = summarize(findings)[:2]
    assert any(note.startswith("Census") for note in standings.notes)
    for section in (standings, opponents):
        assert all(row["win_rate"].low == row["win_rate"].high for row in section.rows)


def test_random_opponents_never_make_a_census(tmp_path):
    run = gauntlet(20, better_on_all, population=20)
    run.agent("Opp_A", "opponent", kind="random", method=None, limit=None)
    (row,) = rows_of(compare_sections(load_findings([run.write(tmp_path / "run")])), "verdicts")
    assert row["difference_low"] < row["difference_high"]


def test_head_to_head_reports_pairs_and_elo(tmp_path):
    run = Invented(config={"format": "head-to-head", "contenders": ["random"], "baseline": "greedy"})
    run.agent("A", "contender").agent("B", "baseline")
    for opening in range(30):
        run.pair("A", "B", opening, 2 if opening < 20 else 1)
    (row,) = rows_of(compare_sections(load_findings([run.write(tmp_path / "run")])), "head_to_head")
    assert (row["both_won"], row["split"], row["both_lost"]) == (20, 10, 0)
    assert row["elo_low"] < row["elo"] < row["elo_high"]
    assert row["verdict"] == "better"


def test_unfinished_pairs_are_counted_and_left_out(tmp_path):
    run = gauntlet(5, better_on_all, planned=999)
    run.rows.pop()
    findings = load_findings([run.write(tmp_path / "run")])
    assert findings.pairs.unfinished == 1
    notes = " ".join(summarize(findings)[0].notes)
    assert "1 unfinished pair" in notes
    assert "39 of 999 planned games" in summarize(findings)[0].caveat


def test_a_stopped_run_says_so_on_every_surface_and_nowhere_gives_a_verdict_of_one_look(tmp_path):
    path = gauntlet(8, better_on_all, planned=999).write(tmp_path / "runs" / "run")
    findings, games = load_findings([path]), "64 of 999"
    for first in (compare_headline(findings), summary_headline(findings), ratings_headline(findings)):
        assert first.sections[0].title.startswith(f"Stopped at {games} games: ")
    titles = [finding_of(findings, judge(findings)), draw_kind("forest", findings).get_suptitle()]
    for title in titles:
        assert title.startswith(f"Stopped at {games} games: No significant")
    for sections in (compare_sections(findings), summarize(findings), rating_sections(findings)):
        for section in sections:
            for output in ("table", "markdown", "json"):
                assert f"Stopped: {games} planned games" in render_sections([section], output)
            assert {row["run_state"] for row in section.flat} <= {"stopped"}
    assert f"Stopped: {games} planned games" in report_page(findings)
    live = run_state(path)
    assert (live["state"], live["race"]["rows"][0]["role"]) == ("stopped", "")
    assert f"Stopped: {games} planned games" in live["caveat"]
    assert (verdict_frame(findings)["verdict"] == "no significant difference").all()
    assert (verdict_frame(findings)["run_state"] == "stopped").all()
    assert f"Stopped: {games} planned games" in knights_isolation.compare(path)._repr_html_()


def test_csv_is_one_table_that_pandas_reads_and_json_has_numbers_only_where_numbers_belong(tmp_path):
    path = gauntlet(8, better_on_all).write(tmp_path / "run")
    for command in ("results", "ratings"):
        printed = CliRunner().invoke(main, [command, str(path), "--format", "csv"], catch_exceptions=False)
        frame = pd.read_csv(io.StringIO(printed.stdout))
        assert set(frame["run_state"]) == {"finished"}
        assert "CSV is one table" in printed.stderr
        assert "inf" not in printed.stdout
    sections = (*compare_sections(load_findings([path])), *rating_sections(load_findings([path])))
    data = json.loads(render_sections(sections, "json"))
    open_at_zero = Estimate(Points(0.05), Points(1e-9), Points(0.1))
    (row,) = Section("effects", "", ({"difference": open_at_zero},)).flat
    assert row == {"difference": 0.05, "difference_low": 0.0, "difference_high": 0.1}
    assert all(isinstance(row["rating_high"], float | None) for row in data["ratings"])
    assert any(row["rating_high"] is None for row in data["ratings"])


@pytest.mark.parametrize("word", ["--no-open", "--no-browser"])
def test_the_lab_is_served_without_a_browser_under_either_name_of_the_option(word, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("knights_isolation.reports.lab.server.serve", lambda *arguments: opened.append(arguments[-1]))
    CliRunner().invoke(main, ["lab", "--runs", str(tmp_path), word], catch_exceptions=False)
    assert opened == [False]
    assert "--no-browser" not in CliRunner().invoke(main, ["lab", "--help"]).output


def test_a_match_that_its_test_stopped_is_headlined_by_the_test_and_not_by_the_interval_of_one_look(tmp_path):
    run = Invented(config={"format": "head-to-head", "contenders": ["Good"], "sprt": (0.0, 20.0)}, planned=999)
    run.agent("Good", "contender").agent("Base", "baseline")
    for opening in range(60):
        run.pair("Good", "Base", opening, 1 + (opening % 3 > 0))
    path = run.write(tmp_path / "run")
    finish(path, 120, 0, reproducible=True)
    findings = load_findings([path])
    title = finding_of(findings, judge(findings))
    assert title.startswith("Decided after ")
    assert title in compare_headline(findings).sections[0].title
    assert "beats" not in " ".join(headline(findings, judge(findings)))


def test_a_run_its_stop_rule_ended_says_what_that_means(tmp_path):
    path = gauntlet(5, planned=999, config={"sprt": (0.0, 5.0)}).write(tmp_path / "run")
    finish(path, 40, 0, reproducible=True)
    first = compare_sections(load_findings([path]))[0]
    notes = " ".join([first.caveat, *first.notes])
    assert "Stopped early, after 40 of at most 999 games" in notes
    assert "missing" not in notes


@pytest.mark.parametrize("words", [["results"], ["results", "--full"], ["games"], ["games", "--format", "json"]])
def test_a_finished_run_of_which_a_part_is_lost_says_so_and_how_to_get_it_back(words, tmp_path):
    path = gauntlet(5, config={"sprt": (0.0, 5.0)}).write(tmp_path / "run")
    finish(path, 100, 0, reproducible=True)
    text = " ".join(CliRunner().invoke(main, [*words, str(path)]).output.split())
    assert f"60 of the 100 games of {path} are missing from its log." in text
    assert f"isolation tournament --resume {path}" in text
    assert "Stopped early" not in text


def test_a_finished_run_that_is_whole_misses_nothing(tmp_path):
    path = gauntlet(5).write(tmp_path / "run")
    assert missing_sentence(path) == ""
    finish(path, 40, 0, reproducible=True)
    assert missing_sentence(path) == ""


def test_a_damaged_end_of_a_run_is_refused_by_name(tmp_path):
    path = gauntlet(5).write(tmp_path / "run")
    finish(path, 40, 0, reproducible=True)
    (path / "finished.json").write_text((path / "finished.json").read_text().replace("40", "48"))
    with pytest.raises(ValueError, match=r"finished\.json: cannot be read: checksum mismatch"):
        missing_sentence(path)


def test_a_run_without_games_says_so_everywhere(tmp_path):
    run = gauntlet(0, planned=100).write(tmp_path / "run")
    findings = load_findings([run])
    for sections in (summarize(findings), compare_sections(findings)):
        for output in ("table", "json", "csv", "markdown"):
            render_sections(sections, output)
    assert "0 of 100 planned games are in the log." in compare_sections(findings)[0].caveat


def test_one_pair_is_analysed_and_proves_nothing(tmp_path):
    (row,) = rows_of(compare_sections(load_findings([gauntlet(1, better_on_all).write(tmp_path / "run")])), "verdicts")
    assert row["verdict"] == "no significant difference"


def test_programs_get_verdicts_as_columns_and_people_as_sentences(tmp_path):
    wins = random_wins({"Good": 0.55, "Base": 0.5})
    sections = compare_sections(load_findings([gauntlet(20, wins).write(tmp_path / "run")]))
    (row,) = rows_of(sections, "verdicts")
    assert row["verdict"] == "no significant difference"
    assert row["more_pairs"] > 0
    assert row["not_better_by"] == row["difference_high"] > 0
    assert row["could_have_found"] > 0
    for output in ("table", "markdown"):
        assert "Good is at most " in render_sections(sections, output)


def test_what_a_difference_worth_having_costs_is_said_and_never_more_than_there_are(tmp_path):
    wins = random_wins({"Good": 0.55, "Base": 0.5})
    findings = load_findings([gauntlet(20, wins, population=5000).write(tmp_path / "run")])
    cheap, dear = (" ".join(compare_sections(findings, worth)[0].notes) for worth in (0.05, 0.002))
    assert "Detecting 5.0 points" in cheap
    assert "openings more than the 20 played, of 5,000 on the board" in cheap
    assert "Detecting 0.2 points (set by --worth) takes more openings than the 5,000 of this kind" in dear


def test_of_whom_no_game_but_those_of_chance_tells_apart_it_is_said_in_how_many_games_that_was_seen(tmp_path):
    wins = random_wins({"Good": 0.5, "Base": 0.5})
    run = gauntlet(20, lambda agent, opponent, opening: wins(agent, opponent, opening) if opponent == "Opp_A" else 1)
    run.agent("Opp_A", "opponent", kind="random", method=None, limit=None)
    run.agent("Good", "contender", code="1").agent("Base", "baseline", code="2")
    sections = compare_sections(load_findings([run.write(tmp_path / "run")]))
    (row,) = rows_of(sections, "verdicts")
    assert any(note.endswith("against 1 opponent; the functions differ.") for note in sections[0].notes)
    assert (row["verdict"], row["plays_alike"]) == ("no significant difference", True)
    text = render_sections(sections, "table")
    assert "equal results in all 40 games of 20 openings against 1 opponent" in text
    assert "apart from chance" not in text


def test_an_opponent_only_one_has_met_is_left_out_and_named(tmp_path):
    run = gauntlet(10, better_on_all)
    run.rows = [row for row in run.rows if {row["agent_1"], row["agent_2"]} != {"Good", "Opp_B"}]
    sections = compare_sections(load_findings([run.write(tmp_path / "run")]))
    assert [row["opponent"] for row in rows_of(sections, "effects")] == ["Opp_A", "mean"]
    assert any("Excluded" in note and "Opp_B" in note for note in sections[0].notes)


def test_games_that_two_runs_share_count_once(tmp_path):
    first = gauntlet(10, better_on_all).write(tmp_path / "one")
    second = gauntlet(15, better_on_all).write(tmp_path / "two")
    findings = load_findings([first, second])
    assert findings.repeated == 10 * 2 * 2 * 2
    assert len(findings.games) == 15 * 2 * 2 * 2
    assert findings.pairs.unfinished == 0


def test_players_that_leave_things_to_chance_are_not_taken_for_repetitions(tmp_path):
    runs = []
    for number in range(2):
        run = gauntlet(10, config={"seed": number})
        run.agent("Opp_A", "opponent", kind="random", method=None, limit=None)
        runs.append(run.write(tmp_path / str(number)))
    findings = load_findings(runs)
    assert findings.repeated == 10 * 2 * 2  # those against Opp_B
    assert len(findings.games) == 10 * 2 * 2 * 3


def test_halves_of_a_pair_in_two_runs_are_joined(tmp_path):
    first, second = gauntlet(1), gauntlet(1)
    first.rows.pop(0)
    second.rows.pop(1)
    findings = load_findings([first.write(tmp_path / "one"), second.write(tmp_path / "two")])
    assert findings.pairs.unfinished == 0


@pytest.mark.parametrize(("key", "value"), [("limit", "nodes=77"), ("board", "5x5"), ("openings", "random:4")])
def test_runs_that_ask_different_questions_are_not_pooled(tmp_path, key, value):
    first = gauntlet(2).write(tmp_path / "one")
    second = gauntlet(2, config={key: value}).write(tmp_path / "two")
    with pytest.raises(ValueError, match=f"two has {key} = .*--mixed"):
        load_findings([first, second])
    assert len(load_findings([first, second], mixed=True).sources) == 2


def test_of_a_run_that_was_killed_before_its_first_game_it_is_said_how_to_go_on(tmp_path):
    run = gauntlet(0, planned=100).write(tmp_path / "my run")
    section = summary_headline(load_findings([run])).sections[0]
    text = section.title.split("\n")
    assert section.caveat == "Stopped: 0 of 100 planned games are in the log."
    assert text == [
        "No games are logged yet. If no process is playing this run, "
        f"resume it with: isolation tournament --resume '{run}'",
        "No result.",
    ]
    assert text[0] in compare_headline(load_findings([run])).sections[0].title


def test_a_name_with_other_settings_is_refused_or_told_apart(tmp_path):
    first, second = gauntlet(2), gauntlet(2)
    second.agent("Good", "contender", limit={"nodes": 5000})
    paths = [first.write(tmp_path / "one"), second.write(tmp_path / "two")]
    with pytest.raises(
        ValueError,
        match=r"Good is not the same player in .*one and .*two: limit nodes=1000 and limit nodes=5000; ",
    ):
        load_findings(paths)
    agents = load_findings(paths, mixed=True).pairs.agents
    assert {"Good@nodes=1000", "Good@nodes=5000"} < set(agents)


def test_a_baseline_can_be_named_and_must_exist(tmp_path):
    path = gauntlet(4).write(tmp_path / "run")
    assert judge(load_findings([path], baseline="Good")).comparisons[0].contender == "Base"
    with pytest.raises(ValueError, match="no agent 'Nobody'"):
        load_findings([path], baseline="Nobody")


def test_runs_of_different_baselines_have_none_until_one_is_named(tmp_path):
    first, second = gauntlet(4), gauntlet(4)
    second.agent("Base", "contender").agent("Good", "baseline")
    paths = [first.write(tmp_path / "one"), second.write(tmp_path / "two")]
    assert load_findings(paths).baseline is None
    assert load_findings(paths, baseline="Good").baseline == "Good"


def test_quantiles_are_the_least_values_that_reach_their_share():
    spread = Distribution(("A", "B"), np.array([1.0, 2, 3]), np.array([[1, 1, 2], [0, 0, 0]]))
    quantiles = spread.quantiles((0.25, 0.5, 0.51, 1))
    assert quantiles[0].tolist() == [1, 2, 3, 3]
    assert np.isnan(quantiles[1]).all()


def test_a_run_given_twice_is_refused(tmp_path):
    path = gauntlet(2).write(tmp_path / "run")
    with pytest.raises(ValueError, match="named twice"):
        load_findings([path, path])


def test_no_run_is_said_in_one_line(tmp_path):
    with pytest.raises(ValueError, match="not a run directory"):
        load_findings([tmp_path])


def test_headings_of_p_values_say_which_they_are(tmp_path):
    sections = compare_sections(load_findings([with_control(gauntlet(20)).write(tmp_path / "run")]))
    heading = {key: render_sections(sections, "markdown", only=key).splitlines()[2] for key in ("verdicts", "effects")}
    assert "| adjusted p |" in heading["verdicts"]
    assert "| heterogeneity p |" in heading["verdicts"]
    assert "| one-sided p, unadjusted |" in heading["effects"]


def test_a_missing_interval_leaves_its_columns_empty(tmp_path):
    sections = compare_sections(load_findings([with_control(gauntlet(20)).write(tmp_path / "run")]))
    p_better = {row["opponent"]: row["p_better"] for row in rows_of(sections, "effects")}
    assert p_better["mean"] is None
    assert p_better["Opp_A"] == 1
    header, *lines = render_sections(sections, "csv", only="effects").splitlines()
    assert {line.count(",") for line in lines} == {header.count(",")}


def test_beside_a_baseline_whose_cost_is_not_known_no_cost_is(tmp_path):
    run = Invented().agent("Good", "contender").agent("Base", "baseline", kind="greedy", method=None, limit=None)
    run.costing(Good=1.0).pair("Good", "Base", 1, 2)
    (row,) = rows_of(compare_sections(load_findings([run.write(tmp_path / "run")])), "head_to_head")
    assert row["cost"] is None


def test_a_census_head_to_head_is_exact_and_asks_for_no_more(tmp_path):
    run = Invented(population=20, is_census=True).agent("A", "contender").agent("B", "baseline")
    for opening in range(20):
        run.pair("A", "B", opening, 2 if opening < 11 else 0)
    sections = compare_sections(load_findings([run.write(tmp_path / "run")]))
    (row,) = rows_of(sections, "head_to_head")
    assert (row["verdict"], row["more_pairs"]) == ("better", None)
    assert "better on all openings" in render_sections(sections, "table")
    assert row["win_rate_low"] == row["win_rate_high"] == 0.55


@pytest.mark.parametrize(("spec", "repeats"), [("A=ID:open@nodes=100", True), ("A=ID:open@nodes=100,ties", False)])
def test_agents_that_break_ties_at_random_leave_things_to_chance(tmp_path, spec, repeats):
    run = Invented(population=20).agent("A", "contender").agent("B", "baseline")
    agent = make_agent(parse_spec(spec))
    run.agents["A"]["settings"] = settings_text(parse_spec(spec), agent)
    for opening in range(20):
        run.pair("A", "B", opening, 1)
    findings = load_findings([run.write(tmp_path / "run")])
    assert findings.agents["A"].deterministic == repeats
    assert findings.pool_of(["A", "B"]) == (20 if repeats else None)
    (duel,) = judge(findings).duels
    assert duel.is_census == repeats


@pytest.mark.parametrize(("limit", "repeats"), [({"nodes": 1000}, True), ({"ms": 50}, False)])
def test_the_perfect_player_repeats_itself_unless_a_clock_stops_it(tmp_path, limit, repeats):
    run = Invented().agent("A", "contender", kind="perfect", limit=limit).agent("B", "baseline")
    findings = load_findings([run.pair("A", "B", 1, 2).write(tmp_path / "run")])
    assert findings.agents["A"].deterministic == repeats
