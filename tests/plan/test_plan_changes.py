"""What a tournament would play, told before it plays; and what changed between two runs."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from invented_runs import gauntlet

from cli import main
from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.plan.tournament_plan import make_plan, seconds_to_play
from knights_isolation.experiments.record.run_directory import is_run, latest_run
from knights_isolation.experiments.statistics.frames import difference_of
from knights_isolation.experiments.statistics.proportions import Interval
from knights_isolation.reports.studies.planning import between


def said(*words: object) -> str:
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.output


def forecast(**keys: object) -> float:
    usual = {"contenders": ["ID:open"], "opponents": ["random"], "pairs": 10, "limit": "nodes=10000"}
    return seconds_to_play(make_plan(load_config(None, {**usual, **keys})))


def test_a_dry_run_says_what_would_be_played_and_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    output = said("tournament", "--contender", "ID:open", "--opponent", "random", "--pairs", 7, "--dry-run")
    assert "Gauntlet on 7x7: 56 games would be played, in 4 matches of 7 openings (random:2)" in output
    assert [line.split()[:3] for line in output.splitlines() if line.startswith("ID_Open")] == [
        ["ID_Open", "contender", "28"]
    ]
    assert "Nothing was played or written." in output
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_says_between_which_times_it_takes():
    assert between(0.3) == between(0.7) == "about a second"
    assert between(40) == "16 seconds to 1.7 minutes"
    assert between(600) == "4 to 25 minutes"
    output = said("tournament", "--jobs", 2, "--dry-run")
    assert re.search(
        r"Estimated time: \d+ (seconds )?to [\d.]+ (seconds|minutes) on 2 cores, without compilation\.", output
    )
    assert ", less if a test stops early" in said("tournament", "--sprt", "0,2", "--dry-run")


def test_a_dry_run_names_the_classic_player_whose_whole_limit_it_counts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("player.py").write_text("class CustomPlayer:\n    def get_move(self, game, time_left): return (-1, -1)\n")
    text = " ".join(said("tournament", "--contender", "player.py:CustomPlayer", "--jobs", 2, "--dry-run").split())
    assert re.search(
        r"at most [\d.]+ (minutes|hours) \(if player\.CustomPlayer uses its full 150 ms per move\) "
        r"on 2 cores, without compilation\. (?!User code)",
        text,
    )


def test_a_forecast_has_an_engine_s_time_where_its_limit_tells_it_and_says_so_where_not(tmp_path, monkeypatch):
    engine = "engine:python3"  # a program that there is; nothing starts it
    assert forecast(opponents=[engine], limit="ms=100") > forecast(opponents=["random"], limit="ms=100")
    assert forecast(opponents=[engine]) < 1.1 * forecast(opponents=["random"])
    words = ["tournament", "--contender", "ID:open", "--opponent", engine, "--pairs", 2, "--dry-run"]
    output = said(*words, "--limit", "nodes=100")
    assert "The time of python3 is unknown and not included." in " ".join(output.split())
    assert "is unknown" not in said(*words, "--limit", "ms=5")


@pytest.mark.slow
def test_the_configuration_that_lies_in_a_run_makes_a_run_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said("match", "random", "greedy", "--pairs", 2, "--jobs", 1, "--out", "runs/first")
    again = said("tournament", "runs/first/config.toml")
    assert "4 of 4 games" in again
    assert len(list(Path("runs").iterdir())) == 2
    output = said("diff", "runs/first", latest_run())
    assert "4 games are in both" in output
    said("tournament", "runs/first/config.toml", "--out", "runs/second")
    assert is_run(Path("runs/second"))
    Path("mine.toml").write_text(Path("runs/first/config.toml").read_text())
    refused = CliRunner().invoke(main, ["tournament", "mine.toml"])
    assert "runs/first already holds a run" in refused.output


def test_a_dry_run_of_a_run_begun_counts_what_is_missing(tmp_path):
    run = tmp_path / "run"
    said("match", "random", "greedy", "--pairs", 5, "--jobs", 1, "--out", run)
    assert "0 games would be played in addition to 10 already played" in said(
        "tournament", "--resume", run, "--dry-run"
    )


def test_the_forecast_grows_with_games_limits_and_depth_as_play_does():
    usual = forecast()
    assert forecast(pairs=20) == pytest.approx(2 * usual)
    assert 5 < forecast(limit="nodes=100000") / usual < 10
    assert forecast(limit="ms=100") > 10 * usual
    assert forecast(contenders=["AB:open@depth=11"]) > 2 * forecast(contenders=["AB:open@depth=9"])


def test_a_run_is_no_different_from_itself(tmp_path):
    first, second = (gauntlet(7).write(tmp_path / name) for name in "ab")
    data = json.loads(said("diff", first, second, "--format", "json"))
    assert data["design"] == []
    assert (
        "56 games are in both runs with the same players, sides and openings: 56 are identical move by move, 0 have"
        in data["notes"][0]
    )
    assert {row["change"] for row in data["results"]} == {0.0}
    assert all(row["change_low"] == 0 == row["change_high"] for row in data["results"])
    assert data["notes"][1].startswith("0 of 1 verdict changed.")
    assert "Exactly 0.0:" in data["notes"][-1]


def test_agents_written_otherwise_are_no_change_and_values_are_said_as_in_a_configuration(tmp_path):
    plain = {"baseline": "ID:open", "opponents": ["random"], "control": True}
    spelt = {"baseline": "Base=ID:open", "opponents": ["Opp_A=ID:open", "Opp_B=ID:open"], "control": False}
    first = gauntlet(7, config=plain).write(tmp_path / "one")
    second = gauntlet(7, config=spelt).write(tmp_path / "other")
    data = json.loads(said("diff", first, second, "--format", "json"))
    assert data["design"] == [{"what": "control", "before": "true", "after": "false"}]


def test_of_imported_games_only_what_is_known_is_compared(tmp_path):
    (tmp_path / "games.pgn").write_text('[White "Opp_A"] [Black "Good"] 1. Nd4 Na1 1-0')
    said("import", tmp_path / "games.pgn", "--out", tmp_path / "imported")
    run = gauntlet(7).write(tmp_path / "run")
    data = json.loads(said("diff", run, tmp_path / "imported", "--format", "json"))
    assert {row["what"] for row in data["design"]} == {"Base", "Opp_B"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["import", "games.pgn", "--out", "imported"], "imported already holds a run: choose another --out"),
        (["tournament", "--resume", "imported"], "imported was imported; cannot resume"),
        (["tournament", "--extend", "imported", "--contender", "greedy"], "was imported; cannot resume"),
    ],
)
def test_an_imported_run_is_not_gone_on_with(tmp_path, monkeypatch, words, expected):
    monkeypatch.chdir(tmp_path)
    Path("games.pgn").write_text('[White "a"] [Black "b"] 1. Nd4 Na1 1-0')
    said("import", "games.pgn", "--out", "imported")
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert expected in result.output


def test_a_dry_run_refuses_equal_cost_where_the_run_would_and_says_when_limits_are_measured(tmp_path):
    asked = tmp_path / "t.toml"
    asked.write_text('format = "round-robin"\nequal_cost = true\ncontenders = ["ID:open", "ID:center"]\npairs = 5\n')
    result = CliRunner().invoke(main, ["tournament", str(asked), "--dry-run"])
    assert result.exit_code == 2
    assert "equal_cost needs a baseline" in result.output
    output = said("tournament", "--equal-cost", "--contender", "ID:open", "--pairs", 5, "--dry-run")
    assert (
        "Equal cost: the run measures costs when it starts and then replaces the contenders' limits shown here."
        in " ".join(output.split())
    )


def test_what_changed_is_named_design_agents_games_and_verdicts(tmp_path):
    before = gauntlet(7).write(tmp_path / "before")
    made = gauntlet(
        7, lambda agent, *_: 2 if agent == "Good" else 1, contenders=("Good", "New"), config={"limit": "nodes=50"}
    )
    made.agent("Good", "contender", limit={"nodes": 50})
    data = json.loads(said("diff", before, made.write(tmp_path / "after"), "--format", "json"))
    changes = {row["what"]: (row["before"], row["after"]) for row in data["design"]}
    assert changes["limit"] == ("nodes=10000", "nodes=50")
    assert changes["New"] == (None, "plays")
    assert "nodes" in changes["Good"][1]
    assert "14 have a different winner" in data["notes"][0]
    (good,) = [row for row in data["results"] if row["agent"] == "Good"]
    assert good["change"] == 0.5
    assert good["change_low"] > 0
    assert (good["verdict_before"], good["verdict_after"]) == ("no significant difference", "better")
    assert "Good, no significant difference before, better now" in data["notes"][1]


def test_the_interval_of_a_change_is_that_of_two_measured_apart():
    before, after = Interval(0.5, 0.47, 0.54, 0.95), Interval(0.6, 0.56, 0.63, 0.95)
    change = difference_of(before, after)
    assert (change.estimate, change.low, change.high) == pytest.approx((0.1, 0.1 - 0.0032**0.5, 0.1 + 0.0018**0.5))


def test_a_run_that_lies_nowhere_is_refused(tmp_path):
    result = CliRunner().invoke(main, ["diff", str(gauntlet(2).write(tmp_path / "a")), str(Path("nowhere"))])
    assert result.exit_code == 2
    assert "nowhere: not a run directory" in result.output
