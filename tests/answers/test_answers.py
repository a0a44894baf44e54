import json
import math
from itertools import combinations

import pytest
from invented_runs import Invented, gauntlet, random_wins
from scipy.stats import norm

from knights_isolation.experiments.published.claims import analyse_file
from knights_isolation.experiments.statistics.planning import games_a_second
from knights_isolation.experiments.statistics.proportions import score_from_elo
from knights_isolation.experiments.statistics.ratings import rate
from knights_isolation.experiments.statistics.run_results import load_findings
from knights_isolation.reports.pages.report_page import titles_of
from knights_isolation.reports.studies.headlines import ratings_headline, summary_headline
from knights_isolation.reports.studies.planning import plan_answer
from knights_isolation.reports.studies.published import published_sections
from knights_isolation.reports.tables.ratings import rating_sections
from knights_isolation.reports.tables.sequential import sprt_sections
from knights_isolation.reports.text.cell_values import Minutes
from knights_isolation.reports.text.rendering import render_sections


def tables(sections):
    return json.loads(render_sections(sections, "json"))


def duel(pairs, wins, **options):
    config = {"format": "head-to-head", "contenders": ["random"], "baseline": "greedy", **options.pop("config", {})}
    run = Invented(config=config, **options)
    run.agent("A", "contender").agent("B", "baseline")
    for opening in range(pairs):
        run.pair("A", "B", opening, wins(opening))
    return run


def test_ratings_put_the_baseline_at_zero_and_the_stronger_above(tmp_path):
    run = gauntlet(40, random_wins({"Base": 0.4, "Good": 0.8})).write(tmp_path / "run")
    sections = tables(rating_sections(load_findings([run])))
    by_name = {row["agent"]: row for row in sections["ratings"]}
    assert by_name["Base"]["rating"] == 0
    assert by_name["Good"]["rating_low"] > 0
    good, base = by_name["Good"]["rank"], by_name["Base"]["rank"]
    matrix = {row["rank"]: row for row in sections["superiority"]}
    assert matrix[good][str(base)] > 0.95
    assert matrix[good][str(base)] + matrix[base][str(good)] == pytest.approx(1)
    assert matrix[good][str(good)] is None


def test_ratings_say_who_got_half_a_game_and_what_the_zero_is(tmp_path):
    run = gauntlet(5, lambda agent, opponent, opening: 2).write(tmp_path / "run")
    notes = " ".join(tables(rating_sections(load_findings([run])))["notes"])
    assert "Base is 0" in notes
    assert "half a win" in notes
    other = " ".join(tables(rating_sections(load_findings([run]), zero="Opp_A"))["notes"])
    assert "Opp_A is 0" in other


def everybody_meets(names, openings, wins):
    """A run in which `wins` says how many games of a pair the first of two names wins."""
    run = Invented(config={"format": "round-robin", "contenders": ["random", "greedy"]})
    for name in names:
        run.agent(name, "contender")
    for opening in range(openings):
        for first, second in combinations(names, 2):
            run.pair(first, second, opening, wins(first, second))
    return run


def test_a_group_that_never_lost_to_the_other_is_told_from_agents_whose_intervals_are_open(tmp_path):
    # each of a, b, c wins and loses within the group, and wins everything against d and e
    run = everybody_meets("abcde", 12, lambda first, second: 2 if first in "abc" and second in "de" else 1)
    helped, opened = tables(rating_sections(load_findings([run.write(tmp_path / "run")])))["notes"][-3:-1]
    assert helped.startswith("d, e: won or lost every game against the rest, directly or through others")
    assert opened.startswith("d, e: in too many resamples no chain of wins over a bounds the rating")
    assert "is always finite" in opened
    assert "won or lost everything" not in helped


def test_few_openings_open_intervals_of_agents_that_needed_no_help_and_they_are_named(tmp_path):
    run = everybody_meets("abc", 1, lambda first, second: 1)
    findings = load_findings([run.write(tmp_path / "run")])
    opened = [rating.agent for rating in rate(findings).ratings if math.inf in (-rating.low, rating.high)]
    assert opened == ["b", "c"]
    notes = tables(rating_sections(findings))["notes"]
    assert not any("half a win" in note for note in notes)
    assert any(note.startswith("b, c: in too many resamples no chain of wins over a") for note in notes)


def test_equals_share_a_rank_and_each_keeps_a_column_of_the_matrix(tmp_path):
    run = everybody_meets("zyxab", 6, lambda first, second: 1 if second in "yxa" and first in "yxa" else 2)
    sections = tables(rating_sections(load_findings([run.write(tmp_path / "run")])))
    assert [(row["rank"], row["agent"]) for row in sections["ratings"]][::4] == [(1, "z"), (5, "b")]
    assert [row["rank"] for row in sections["ratings"]] == [1, 2, 2, 2, 5]
    assert [row["rank"] for row in sections["superiority"]] == [1, 2, 3, 4, 5]
    assert sections["notes"][-1].startswith("Agents with equal ratings share a rank")


def test_of_equals_that_are_rated_highest_none_is_put_above_the_other(tmp_path):
    run = everybody_meets("abc", 6, lambda first, second: 2 if second == "c" else 1)
    message = ratings_headline(load_findings([run.write(tmp_path / "run")])).sections[0]
    assert "a and b are rated highest of 3 agents" in message.title
    assert [row["rank"] for row in message.rows] == [1, 1, 3]


def test_of_equals_that_won_most_all_are_named_and_the_baseline_is_not_put_below_itself(tmp_path):
    run = gauntlet(4, lambda agent, *_: 2 if agent in ("Base", "Alike") else 0, contenders=("Alike", "Bad"))
    findings = load_findings([run.write(tmp_path / "run")])
    assert summary_headline(findings).sections[0].title.endswith("agents: Alike and Base won most, 100.0 %.")
    title = titles_of(findings, None, {}, rate(findings))["ratings"]
    assert title.startswith("Alike and Base are rated highest: 0 ")


def test_nobody_won_most_where_no_pair_is_complete(tmp_path):
    run = everybody_meets("ab", 1, lambda first, second: 1)
    run.rows.pop()
    text = summary_headline(load_findings([run.write(tmp_path / "run")])).sections[0].title
    assert text.endswith("1 game of 2 agents.")


def test_sprt_of_a_clear_duel_is_decided_on_the_way(tmp_path):
    run = duel(200, lambda opening: 2 if opening % 3 else 1).write(tmp_path / "run")
    sections = tables(sprt_sections(load_findings([run]), 0, 20))
    (row,) = sections["sprt"]
    assert (row["decision"], row["high"], row["unit"]) == ("H1", 20, "Elo")
    assert 0 < row["decided_after"] < 200
    assert min(step["after"] for step in sections["path"] if step["decided"]) == row["decided_after"]
    assert row["score_low"] < row["score"] < row["score_high"]


def test_pairs_that_were_finished_after_the_decision_are_in_the_score_only(tmp_path):
    run = duel(200, lambda opening: 2 if opening % 3 else 1, config={"sprt": (0.0, 20.0)}).write(tmp_path / "run")
    sections = tables(sprt_sections(load_findings([run]), 0, 20))
    later = 200 - sections["sprt"][0]["decided_after"]
    assert (
        f"It leaves out the {later} pairs finished after the decision, which the score includes."
        in (sections["notes"][0])
    )


def test_sprt_without_bounds_takes_the_run_s_own(tmp_path):
    run = duel(5, lambda opening: 1, config={"sprt": (-5.0, 5.0)}).write(tmp_path / "run")
    notes = tables(sprt_sections(load_findings([run]), None, None))["notes"]
    assert "-5 against 5 Elo" in notes[0]


def test_sprt_takes_the_error_rate_of_the_run(tmp_path):
    run = duel(200, lambda opening: 2 if opening % 3 else 1, config={"sprt": (0.0, 20.0, 1e-3)}).write(tmp_path / "run")
    (strict,) = tables(sprt_sections(load_findings([run]), None, None))["sprt"]
    (usual,) = tables(sprt_sections(load_findings([run]), None, None, 0.05, 0.05))["sprt"]
    assert strict["upper_bound"] == pytest.approx(6.9, abs=0.01)
    assert strict["decided_after"] > usual["decided_after"]


def test_when_the_openings_run_out_the_exact_share_is_reported(tmp_path):
    run = duel(40, lambda opening: 1 + (opening == 7), population=40, is_census=True).write(tmp_path / "run")
    sections = tables(sprt_sections(load_findings([run]), 0, 20))
    assert (sections["sprt"][0]["decision"], sections["sprt"][0]["openings_ran_out"]) == ("undecided", True)
    assert any(
        note.startswith("All 40 openings of this kind were played: ") and "exactly 51.2 % of the games" in note
        for note in sections["notes"]
    )


def test_when_a_sample_of_the_openings_runs_out_nothing_is_exact(tmp_path):
    run = duel(40, lambda opening: 1 + (opening == 7), population=100).write(tmp_path / "run")
    sections = tables(sprt_sections(load_findings([run]), 0, 20))
    (row,), notes = sections["sprt"], sections["notes"]
    assert not row["openings_ran_out"]
    assert any("Undecided after the 40 pairs played: A won 51.2 % (" in note for note in notes)
    assert not any("exactly" in note for note in notes)


def test_sprt_of_a_gauntlet_reads_openings_in_percentage_points(tmp_path):
    run = gauntlet(100, random_wins({"Base": 0.4, "Good": 0.9})).write(tmp_path / "run")
    (row,) = tables(sprt_sections(load_findings([run]), 0, 10))["sprt"]
    assert row["openings"] == 100
    assert (row["decision"], row["high"], row["unit"]) == ("H1", 10, "points")
    assert 0.3 < row["difference"] < 0.7


@pytest.mark.parametrize(("pairs", "decision"), [(20, "undecided"), (200, "H0")])
def test_a_fixed_number_of_pairs_has_no_estimate_after_stopping(tmp_path, pairs, decision):
    for config, is_stop_rule in (({}, False), ({"sprt": (0.0, 20.0)}, True)):
        run = duel(pairs, lambda opening: opening % 2, config=config).write(tmp_path / str(is_stop_rule))
        sections = tables(sprt_sections(load_findings([run]), 0, 20))
        (row,), method = sections["sprt"], sections["notes"][0]
        assert row["decision"] == decision
        assert (row.get("estimate") is not None) == is_stop_rule
        assert ("No test stopped this run" in method) != is_stop_rule
        assert ("median-unbiased" in method) == is_stop_rule


def test_a_total_loss_that_is_undecided_is_explained_and_a_small_one_is_not(tmp_path):
    for share, is_explained in ((0.0, True), (0.55, False)):
        wins = random_wins({"Base": 0.6, "Bad": share})
        run = gauntlet(20, wins, contenders=("Bad",), config={"sprt": (0.0, 3.0)}).write(tmp_path / str(share))
        sections = tables(sprt_sections(load_findings([run]), None, None))
        (row,) = sections["sprt"]
        assert row["decision"] == "undecided"
        assert any(note.startswith("Bad is far from both 0 and 3 points") for note in sections["notes"]) == is_explained
        assert row["estimate_low"] < row["difference"] < row["estimate_high"]


def test_sprt_of_nothing_is_undecided(tmp_path):
    run = duel(0, lambda opening: 1, planned=20).write(tmp_path / "run")
    (row,) = tables(sprt_sections(load_findings([run]), 0, 20))["sprt"]
    assert (row["pairs"], row["decision"]) == (0, "undecided")


def test_a_plan_by_elo_is_the_plan_by_its_score():
    by_elo = tables(plan_answer(elo=20).sections)["plan"][0]
    by_effect = tables(plan_answer(effect=score_from_elo(20) - 0.5).sections)["plan"][0]
    assert by_elo["needed"] == by_effect["needed"] == 1187
    assert by_elo["expected_in_sprt"] < by_elo["needed"]


def test_a_plan_from_a_pilot_counts_what_is_still_to_be_played(tmp_path):
    pilot = load_findings([gauntlet(20, random_wins({"Base": 0.5, "Good": 0.5})).write(tmp_path / "run")])
    (row,) = tables(plan_answer(effect=0.03, pilot=pilot).sections)["plan"]
    assert row["pilot"] == 20
    assert row["more"] == row["needed"] - 20
    assert row["games"] == row["more"] * 4 * 2
    assert row["minutes"] > 0


def test_a_pilot_s_speed_is_by_the_clock_on_the_wall_without_pauses(tmp_path):
    run = gauntlet(20, random_wins({"Base": 0.5, "Good": 0.5}))
    for index, row in enumerate(run.rows):  # four batches of 40 games, whose moves take 4.8 ms; the third after an hour
        row["started_at"] = (0, 2_000_000, 3_600_000_000, 3_602_000_000)[index // 40]
    findings = load_findings([run.write(tmp_path / "run")])
    assert games_a_second(findings, 1) == pytest.approx(160 / (2 + 0.0048 + 2 + 0.0048))


@pytest.mark.parametrize(
    ("minutes", "printed"),
    [(0.001, "< 1 s"), (0.07267, "4 s"), (12.3, "12 min"), (99, "99 min"), (150, "2.5 h"), (72000, "1,200 h")],
)
def test_times_are_shown_in_a_unit_that_fits(minutes, printed):
    assert Minutes(minutes).text == printed


def test_contenders_of_one_pilot_share_alpha_as_their_verdicts_do(tmp_path):
    rates = {"Base": 0.5, "Good": 0.5, "Odd": 0.5}
    alone = load_findings([gauntlet(20, random_wins(rates)).write(tmp_path / "alone")])
    both = load_findings([gauntlet(20, random_wins(rates), contenders=("Good", "Odd")).write(tmp_path / "both")])
    (first,) = tables(plan_answer(effect=0.03, pilot=alone).sections)["plan"]
    second = tables(plan_answer(effect=0.03, pilot=both).sections)["plan"]
    assert (first["alpha"], [row["alpha"] for row in second]) == (0.05, [0.025, 0.025])
    good = next(row for row in second if row["for"] == "Good")
    z = norm.ppf([0.975, 0.9875]) + norm.ppf(0.8)
    assert good["needed"] / good["variance"] == pytest.approx((z[1] / 0.03) ** 2, rel=0.02)
    assert first["needed"] / first["variance"] == pytest.approx((z[0] / 0.03) ** 2, rel=0.02)


def test_a_duel_is_planned_in_pairs(tmp_path):
    pilot = load_findings([duel(50, lambda opening: opening % 3).write(tmp_path / "run")])
    (row,) = tables(plan_answer(elo=20, pilot=pilot).sections)["plan"]
    assert row["games"] == 2 * row["more"]


@pytest.mark.parametrize("arguments", [{}, {"effect": 0.1, "elo": 5.0}, {"effect": 3.0}, {"elo": 0.0}])
def test_plans_for_nothing_or_too_much_are_refused(arguments):
    with pytest.raises(ValueError, match=r"effect|--elo"):
        plan_answer(**arguments)


@pytest.mark.parametrize("openings", [1, 5])
def test_a_pilot_of_a_few_openings_is_too_little_data(openings, tmp_path):
    match = duel(openings, lambda opening: opening % 3, planned=20).write(tmp_path / "match")
    run = gauntlet(openings, random_wins({"Base": 0.5, "Good": 0.5})).write(tmp_path / "run")
    for pilot, plan in ((match, {"elo": 20}), (run, {"effect": 0.03})):
        findings = load_findings([pilot])
        with pytest.raises(ValueError, match=rf"^too little data: .*{openings} complete openings? .*, at least 6 are"):
            plan_answer(**plan, pilot=findings)


def test_a_pilot_of_six_openings_is_enough(tmp_path):
    match = duel(6, lambda opening: opening % 3).write(tmp_path / "match")
    run = gauntlet(6, random_wins({"Base": 0.5, "Good": 0.5})).write(tmp_path / "run")
    for pilot in (match, run):
        (row,) = tables(plan_answer(effect=0.03, pilot=load_findings([pilot])).sections)["plan"]
        assert row["pilot"] == 6


def test_a_gauntlet_is_not_planned_in_elo(tmp_path):
    pilot = load_findings([gauntlet(10).write(tmp_path / "run")])
    with pytest.raises(
        ValueError,
        match="--elo applies to head-to-head matches; plan a gauntlet with --effect, a difference of win rates",
    ):
        plan_answer(elo=20, pilot=pilot)


def test_the_published_tables_ship_with_their_verdicts():
    sections = tables(published_sections(analyse_file(None)))
    stands = {(row["agent"], row["tables"]): row["stands"] for row in sections["claims"]}
    assert stands["ID_net_advantage_score", "single-heuristic evaluation"] is False
    assert stands["ID_offensive_score", "single-heuristic evaluation"] is True
    assert any("measured" in note for note in sections["notes"])
    assert all(math.isfinite(row["win_rate_low"]) for row in sections["results"])


def test_notes_of_the_classic_scripts_are_read(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text(
        "Evaluating: ID_Improved\n  Match 1: ID_Improved vs MM/3_Null  Result: 15 to 5\n"
        "Evaluating: Student\n  Match 1: Student vs MM/3_Null  Result: 20 to 0\nStudent  99.9%\n"
    )
    sections = tables(published_sections(analyse_file(file)))
    assert sections["claims"][0]["agent"] == "Student"
    assert any("99.9" in note for note in sections["notes"])


def test_a_file_without_results_is_refused_by_name(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing here")
    with pytest.raises(ValueError, match=r"notes\.txt: no results found"):
        analyse_file(tmp_path / "notes.txt")
    with pytest.raises(ValueError, match=r"missing\.txt: No such file"):
        analyse_file(tmp_path / "missing.txt")
