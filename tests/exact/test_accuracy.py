"""Accuracy against the exact values: counted right, with intervals by game, and ranking players as their results do."""

from __future__ import annotations

import math
import re
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from invented_runs import Invented, gauntlet
from played_games import random_record, write_run

from cli import main
from knights_isolation import heuristics
from knights_isolation.experiments.exact import accuracy_games
from knights_isolation.experiments.exact.accuracy import (
    accuracies,
    accuracy_lines,
    is_eligible,
    run_decisions,
)
from knights_isolation.experiments.exact.accuracy_games import (
    FIELD,
    OPENING_PLIES,
    judged_plies,
    play_and_label,
    shortages,
)
from knights_isolation.experiments.exact.labelling import label_run
from knights_isolation.experiments.exact.labels import read_labels
from knights_isolation.experiments.exact.theory import knows_winners, opening_winners, split_by_theory
from knights_isolation.experiments.game_files import append_game
from knights_isolation.experiments.plan import parse_agent
from knights_isolation.experiments.plan.openings import random_openings
from knights_isolation.experiments.record.log import read_games
from knights_isolation.experiments.statistics.proportions import rate_interval
from knights_isolation.experiments.statistics.run_results import load_findings
from knights_isolation.isolation import Board, solve
from knights_isolation.isolation.rules.game import Size
from knights_isolation.reports.charts.line_plots import accuracy_by_depth, accuracy_by_ply
from knights_isolation.reports.plots.draw_chart import draw_chart, to_svg
from knights_isolation.reports.tables.accuracy import accuracy_sections, theory_section
from knights_isolation.reports.tables.compare import compare_sections
from knights_isolation.reports.text.rendering import flat_rows, render_sections


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("labelled") / "run"
    write_run(path, 30)
    label_run(path)
    return path


def decisions(rows, **options):
    """A frame of decisions from (game, ply, value, winning, legal, kept, won); every game has an opening of its own."""
    columns = ("game_id", "ply", "value", "winning", "legal", "kept", "won")
    frame = pd.DataFrame(rows, columns=columns)
    return frame.assign(
        orbit=frame["game_id"],
        agent=options.get("agent", "A"),
        heuristic=options.get("heuristic", ""),
        depth=options.get("depth", np.nan),
    )


# Of a run


def test_a_decision_is_a_labelled_move_of_its_mover(run):
    games = read_games(run).set_index("game_id")
    frame = run_decisions(run)
    assert len(frame) == int((games["plies"] - games["opening"].map(len)).sum())
    label = read_labels(run).set_index("game_id")
    for row in frame.sample(40, random_state=1).itertuples():
        game = games.loc[row.game_id]
        assert row.agent == (game["agent_1"] if row.ply % 2 == 0 else game["agent_2"])
        assert row.won == (game["winner"] == 1 + row.ply % 2)
        assert row.value == label.loc[row.game_id, "value"][row.ply]
        assert row.kept == label.loc[row.game_id, "kept"][row.ply]


def test_the_heuristic_and_the_depth_come_from_the_settings(run):
    frame = run_decisions(run).drop_duplicates("agent").set_index("agent")
    assert frame.loc["ID_Improved", "heuristic"] == "improved"
    assert frame.loc["Random", "heuristic"] == ""
    assert math.isnan(frame.loc["ID_Improved", "depth"])


def test_a_run_without_labels_says_how_to_get_them(tmp_path):
    write_run(tmp_path / "run", 1)
    with pytest.raises(ValueError, match="isolation perfect label"):
        run_decisions(tmp_path / "run")


def test_labels_of_other_games_are_refused(tmp_path):
    write_run(tmp_path / "one", 6)
    label_run(tmp_path / "one")
    for seed in range(6):
        agents = tuple(parse_agent(spec) for spec in ("ID:improved", "random"))
        append_game(tmp_path / "other", random_record(seed + 50, size="4x5"), agents, seed)
    shutil.copy(tmp_path / "one" / "labels.parquet", tmp_path / "other")
    for read in (run_decisions, label_run):
        with pytest.raises(ValueError, match="does not belong to the games of this run: delete it"):
            read(tmp_path / "other")


def test_only_labelled_games_count(tmp_path):
    write_run(tmp_path / "run", 12)
    label_run(tmp_path / "run", sample=5)
    assert run_decisions(tmp_path / "run")["game_id"].nunique() == 5


# Counting


def test_only_choices_that_could_lose_a_win_are_eligible():
    frame = decisions(
        [
            (0, 2, 1, 2, 4, 1, True),  # won, kept
            (0, 4, 1, 4, 4, 1, True),  # nothing to go wrong
            (0, 6, 0, 0, 4, -1, True),  # lost anyway
            (0, 8, 1, 1, 3, 0, True),  # thrown away
            (0, 10, -1, -1, 3, -1, True),  # unknown
            (0, 12, 1, -1, 3, 1, True),  # won, but not known by how many moves
        ]
    )
    assert is_eligible(frame).tolist() == [True, False, False, True, False, False]
    (accuracy,) = accuracies(frame)
    assert (accuracy.games, accuracy.decisions, accuracy.unknown, accuracy.eligible) == (1, 5, 1, 2)
    assert accuracy.kept.estimate == 0.5
    assert accuracy.chance == pytest.approx((2 / 4 + 1 / 3) / 2)
    assert accuracy.mistakes.estimate == 1


def test_the_interval_of_the_share_kept_is_clustered_by_game():
    together = decisions([(game, ply, 1, 1, 2, int(game % 2), True) for game in range(20) for ply in range(2, 22, 2)])
    apart = decisions([(game, 2, 1, 1, 2, game % 2, True) for game in range(200)])
    first, second = accuracies(together)[0].kept, accuracies(apart)[0].kept
    assert first.estimate == second.estimate == 0.5
    assert first.high - first.low > 2 * (second.high - second.low)
    expected = rate_interval([10 * (game % 2) for game in range(20)], [10] * 20)
    assert (first.low, first.high) == pytest.approx((expected.low, expected.high))


def test_intervals_of_accuracy_cover_it_when_games_of_one_opening_are_alike():
    rng = np.random.default_rng(1)
    openings, games = 40, 7
    covered = np.zeros(3)
    as_if_independent = np.zeros(3)
    runs = 120
    game = np.arange(openings * games)
    for _ in range(runs):
        # what a player that repeats itself does in an opening, it does against all seven opponents
        keeps = np.repeat(rng.random(openings) < 0.8, games).astype(int)
        wins = np.repeat(rng.random(openings) < 0.8, games)
        frame = decisions([]).reindex(game).assign(
            game_id=game, orbit=game // games, ply=4, value=1, winning=1, legal=2, kept=keeps, won=wins, agent="A"
        )  # fmt: skip
        for item, count in ((frame, covered), (frame.assign(orbit=game), as_if_independent)):
            (result,) = accuracies(item)
            truths = ((result.kept, 0.8), (result.mistakes, 0.2), (result.conversion, 0.8))
            count += [interval.low <= truth <= interval.high for interval, truth in truths]
    assert (covered >= 0.92 * runs).all()
    assert (as_if_independent < 0.75 * runs).all()


def test_a_won_position_is_converted_if_the_game_was_won():
    frame = decisions(
        [
            (0, 2, 1, 1, 2, 1, True),
            (0, 4, 1, 1, 2, 1, True),
            (1, 2, 1, 1, 2, 0, False),
            (1, 4, 0, 0, 2, -1, False),
            (2, 2, 0, 0, 2, -1, True),
        ]
    )
    (first,) = accuracies(frame)
    assert (first.won_games, first.conversion.estimate) == (2, 0.5)
    assert first.mistakes.estimate == pytest.approx(1 / 3)


def test_bands_share_out_the_plies():
    frame = decisions([(0, ply, 1, 1, 2, ply % 2, True) for ply in range(2, 30)])
    bands = accuracies(frame, 7)
    assert [(band.first, band.last) for band in bands] == [(0, 6), (7, 13), (14, 20), (21, 27), (28, 34)]
    assert sum(band.eligible for band in bands) == accuracies(frame)[0].eligible == 28
    assert bands[0].kept.estimate == pytest.approx(2 / 5)


def test_nothing_to_judge_is_no_accuracy():
    assert accuracies(decisions([])) == []
    (accuracy,) = accuracies(decisions([(0, 2, 0, 0, 3, -1, False)]))
    assert (accuracy.eligible, accuracy.won_games) == (0, 0)
    assert math.isnan(accuracy.kept.estimate)
    assert math.isnan(accuracy.chance)
    rows = render_sections(accuracy_sections([accuracy]), "markdown")
    assert "| A | – | 1 | 1 | 0 | – |" in rows


# Without a tournament


@pytest.fixture(scope="module")
def sparring():
    return play_and_label(["null", "territory"], [1, 3], 40, size=Size(5, 5))


@pytest.mark.exhaustive
def test_players_are_judged_in_the_middle_of_games_against_the_field(sparring):
    first, last = judged_plies(Size(5, 5))
    assert sparring["ply"].between(first, last).all()
    assert list(sparring["agent"].unique()) == [
        f"{name} at depth {depth}" for name in ("null", "territory") for depth in (1, 3)
    ]
    assert judged_plies(Size(7, 7)) == (14, 28)
    assert len(FIELD) == 4


@pytest.mark.slow
def test_enough_decisions_are_eligible_and_better_players_keep_more(sparring):
    accuracies_by_name = {accuracy.agent: accuracy for accuracy in accuracies(sparring)}
    assert all(item.eligible >= 40 for item in accuracies_by_name.values())
    assert accuracies_by_name["territory at depth 3"].kept.low > accuracies_by_name["null at depth 1"].kept.high
    assert accuracies_by_name["null at depth 1"].depth == 1
    assert accuracies_by_name["null at depth 1"].heuristic == "null"


@pytest.mark.exhaustive
def test_several_processes_judge_alike(sparring):
    pd.testing.assert_frame_equal(play_and_label(["null", "territory"], [1, 3], 40, size=Size(5, 5), jobs=2), sparring)


@pytest.mark.slow
def test_openings_may_run_out(monkeypatch):
    monkeypatch.setattr("knights_isolation.experiments.exact.accuracy_games._MOST_OPENINGS", 13)
    frame = play_and_label(["null"], [1], 10**6, size=Size(5, 5))
    assert frame["game_id"].nunique() <= 26
    assert is_eligible(frame).any()


@pytest.mark.slow
def test_a_player_named_twice_is_judged_once(sparring):
    twice = play_and_label(["null", "territory", "null"], [1, 3, 1], 40, size=Size(5, 5))
    pd.testing.assert_frame_equal(twice, sparring)


@pytest.mark.slow
def test_moves_of_the_opening_are_nobodys_decisions(monkeypatch):
    monkeypatch.setattr("knights_isolation.experiments.exact.accuracy_games._MOST_OPENINGS", 40)
    frame = play_and_label(["null"], [1], 10**6, size=Size(5, 5))
    assert frame["ply"].min() >= 6
    (output,) = shortages(frame, 10**6)
    assert output.startswith(f"null at depth 1: found only {is_eligible(frame).sum():,} of 1,000,000")


FAILING = """
def sometimes(game, player):
    if sum(7 * row + column for row, column in game.get_blank_spaces()) % 97 == 0:
        return float("nan")
    return float(len(game.get_legal_moves(player)))

def late(game, player):
    return float("nan") if len(game.get_blank_spaces()) < 12 else 0.0

def never(game, player):
    return None
"""
ENDLESS = """
def endless(game, player):
    at, own, other = 0, game.get_player_location(player), game.get_player_location(game.get_opponent(player))
    while own == {own} and other == {other} and len(game.get_blank_spaces()) == {blank}:
        at = (at + 1) % 7
    return float(at)
"""
"""Compiles, and does not return in one position, which is not among those in which it is compared with Python."""


@pytest.fixture
def failing(tmp_path):
    path = tmp_path / "failing.py"
    path.write_text(FAILING)
    return path


@pytest.mark.exhaustive
def test_games_lost_by_failing_are_told_and_a_player_that_mostly_fails_is_left_out(failing):
    notes = []
    names = [f"{failing}:{name}" for name in ("late", "sometimes", "never")]
    frame = play_and_label(names, [2], 40, size=Size(5, 5), note=notes.append)
    assert list(frame["agent"].unique()) == [f"{failing}:sometimes at depth 2"]
    left_out, kept, never = (output.removeprefix(f"{failing}:") for output in notes)
    assert re.match(r"late at depth 2 was excluded: it lost \d+ of 16 games by error \(such as NotANumber: ", left_out)
    assert re.match(r"sometimes at depth 2 lost \d+ of \d+ games by error .*: kept and mistakes are based on", kept)
    assert never.startswith("never at depth 2 was excluded: it lost 16 of 16 games by error (such as NotANumber: ")


@pytest.mark.slow
def test_failures_stand_first_below_the_table(failing):
    asked = ["perfect", "accuracy", "--heuristics", f"{failing}:never,null", "--depths", "1", "--positions", "5"]
    result = CliRunner().invoke(main, [*asked, "--board", "5x5", "--jobs", "1", "--format", "markdown"])
    assert result.exit_code == 0
    below = result.stdout.rpartition("|\n")[2].strip()
    assert below.startswith(f"- {failing}:never at depth 1 was excluded: ")


@pytest.mark.slow
def test_players_that_only_fail_end_in_a_line(failing):
    with pytest.raises(
        ValueError,
        match=r"no agent can be evaluated: .*:never at depth 1 was excluded: it lost 16 of "
        "16",
    ):
        play_and_label([f"{failing}:never"], [1], 10, size=Size(5, 5))


@pytest.mark.exhaustive
def test_a_heuristic_that_never_returns_loses_that_game(tmp_path):
    board = Board.from_moves(
        random_openings(Size(5, 5), OPENING_PLIES, accuracy_games._MOST_OPENINGS, seed=1)[0], "5x5"
    )
    own, other = (divmod(cell, 5) for cell in (board.legal_cells()[0], board.locations[1]))
    path = tmp_path / "endless.py"
    path.write_text(ENDLESS.format(own=own, other=other, blank=board.blank.bit_count() - 1))
    notes = []
    frame = play_and_label([f"{path}:endless"], [1], 10, size=Size(5, 5), note=notes.append)
    assert len(frame) >= 10
    (note,) = notes
    assert re.match(rf"{path}:endless at depth 1 lost 1 of \d+ games by hang \(", note)


@pytest.mark.parametrize(
    ("names", "depths", "positions", "complaint"),
    [
        (["nul"], [1], 10, "did you mean"),
        (["null"], [0], 10, "depth must be a positive whole number"),
        (["null"], [1], 0, "at least one"),
        ([], [1], 10, "at least one"),
    ],
)
def test_bad_input_is_refused_before_any_game(names, depths, positions, complaint):
    with pytest.raises(ValueError, match=complaint):
        play_and_label(names, depths, positions, size=Size(5, 5))


def test_boards_without_such_openings_are_refused():
    with pytest.raises(ValueError, match="no opening of 6 plies"):
        play_and_label(["null"], [1], 10, size=Size(2, 2))
    with pytest.raises(ValueError, match="use a larger board"):
        play_and_label(["null"], [1], 10, size=Size(3, 3))


# By the theoretical winner of the opening


def test_openings_have_their_theoretical_winner(run):
    winners = opening_winners(run)
    assert knows_winners(run)
    games = read_games(run, ("opening_id", "opening"))
    assert set(winners) == set(games["opening_id"])
    for game in games.itertuples():
        assert winners[game.opening_id] == solve(Board.from_moves(game.opening, "5x5")).winner


def test_games_are_split_by_what_the_agent_could_hope_for(run):
    games = read_games(run, ("agent_1", "agent_2", "winner", "opening_id", "orbit"))
    winners = opening_winners(run)
    due = games["opening_id"].map(winners)
    for split in split_by_theory(games, winners):
        first, second = games["agent_1"] == split.agent, games["agent_2"] == split.agent
        ours = (first & (due == 1)) | (second & (due == 2))
        has_won = (first & (games["winner"] == 1)) | (second & (games["winner"] == 2))
        assert split.won == ours.sum()
        assert split.lost == ((first | second) & ~ours).sum()
        assert split.unknown == 0
        assert split.converted.estimate == pytest.approx(has_won[ours].mean())
        assert split.saved.estimate == pytest.approx(has_won[(first | second) & ~ours].mean())


def test_longer_openings_are_known_once_their_games_are_labelled(tmp_path):
    path = tmp_path / "run"
    agents = tuple(parse_agent(spec) for spec in ("ID:improved", "random"))
    for seed in range(8):
        record = random_record(seed)
        append_game(path, replace(record, opening=record.moves[: 4 + seed % 2]), agents, seed)
    assert opening_winners(path) == {}
    assert not knows_winners(path)
    label_run(path, sample=6)
    winners = opening_winners(path)
    assert knows_winners(path)
    games = read_games(path, ("game_id", "opening_id", "opening"))
    labelled = games[games["game_id"].isin(read_labels(path)["game_id"])]
    assert set(winners) == set(labelled["opening_id"])
    for game in labelled.itertuples():
        assert winners[game.opening_id] == solve(Board.from_moves(game.opening, "5x5")).winner


def test_openings_whose_winner_is_not_known_are_counted_apart(run):
    games = read_games(run, ("agent_1", "agent_2", "winner", "opening_id", "orbit"))
    nobody = split_by_theory(games, {})
    assert all((split.won, split.lost) == (0, 0) and split.unknown for split in nobody)
    assert all(math.isnan(split.converted.estimate) for split in nobody)


def test_a_comparison_tells_won_openings_from_lost_ones(tmp_path):
    def wins(agent, opponent, opening):
        return 2 if agent == "Good" else 1

    section = theory_section(load_findings([gauntlet(20, wins).write(tmp_path / "run")]))
    rows = flat_rows(section.rows)
    assert [row["agent"] for row in rows] == ["Good", "Base"]
    assert rows[0]["converted"] == rows[0]["saved"] == 1
    assert rows[0]["won_openings"] == rows[0]["lost_openings"] == 2 * 20
    assert "unknown" not in rows[0]


def test_a_comparison_says_nothing_of_openings_out_of_reach(tmp_path):
    run = Invented(config={"board": "9x11"}).agent("Good", "contender").agent("Base", "baseline")
    run.pair("Good", "Base", 1, 2)
    findings = load_findings([run.write(tmp_path / "run")])
    assert theory_section(findings) is None
    assert [section.key for section in compare_sections(findings)] == ["head_to_head"]


# Tables and plots


@pytest.mark.slow
def test_the_tables_hold_every_agent_best_first_and_its_bands(sparring):
    overall, by_ply = accuracy_sections(accuracies(sparring), accuracies(sparring, 7))
    kept = [row["kept"] for row in flat_rows(overall.rows)]
    assert kept == sorted(kept, reverse=True)
    assert len(kept) == 4
    assert {row["agent"] for row in by_ply.rows} == {row["agent"] for row in overall.rows}


@pytest.mark.slow
@pytest.mark.parametrize("chart_of", [accuracy_by_ply, accuracy_by_depth])
def test_accuracy_is_drawn_for_one_and_for_twenty_agents_of_long_names(sparring, chart_of):
    for count in (1, 20):
        names = [f"AB_<b>&$x$_a_name_of_forty_characters_{number:02d}_" for number in range(count)]
        frames = [sparring.assign(agent=name, heuristic=name) for name in names]
        assert "forty_characters_00_" in to_svg(draw_chart(chart_of(pd.concat(frames, ignore_index=True))))


@pytest.mark.parametrize("chart_of", [accuracy_by_ply, accuracy_by_depth])
def test_without_labelled_moves_there_is_no_chart_of_accuracy(chart_of):
    assert chart_of(decisions([])) is None


def test_the_field_plays_what_the_registry_has():
    assert {spec.partition(":")[2].partition("@")[0] for spec in FIELD} <= set(heuristics.names())


def test_each_agent_s_line_has_its_own_bands_alone(run):
    decisions = run_decisions(run)
    lines = accuracy_lines(decisions, band=4, fewest=1)
    bands = [accuracy for accuracy in accuracies(decisions, 4) if accuracy.eligible]
    assert len(lines) > 1
    assert lines == {name: [band for band in bands if band.agent == name] for name in lines}
