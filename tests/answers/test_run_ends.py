"""How runs end on the command line, and how what people copy, mistype and leave out is met."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result
from every_command import EVERY, commands_of
from invented_runs import gauntlet

import knights_isolation as ki
from cli import main
from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.plan.run_keeping import finish
from knights_isolation.experiments.plan.tournament_plan import draw_openings, make_plan
from knights_isolation.experiments.play.interim_results import live_tests
from knights_isolation.experiments.record.run_directory import latest_run, load_run
from knights_isolation.parameters import command_of
from knights_isolation.registry import function_of
from knights_isolation.reports.text.cell_values import CopiedName, HeuristicValue, Identifier, Milliseconds
from knights_isolation.reports.text.rendering import coloured_verdict, render_rows

HELP_EXAMPLES = ("isolation help play", "isolation help all")
ORDER = ("first", "second", "third")
ENDLESS = "def custom_score(game, player):\n    while True:\n        pass\n"


def asked(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def said(*words: object) -> str:
    result = asked(*words)
    assert result.exit_code == 0, result.output
    return result.output


def refused(*words: object) -> str:
    result = asked(*words)
    assert result.exit_code == 2, result.output
    return result.output.splitlines()[-1]


@pytest.fixture
def runs() -> Path:
    """Two runs below runs/, the first one finished, and a later one without games."""
    for name, openings in (("first", 4), ("second", 4), ("third", 0)):
        run = gauntlet(openings).write(Path("runs") / name)
        facts = (run / "run.json").read_text().replace("2025-01-01", f"2025-01-0{ORDER.index(name) + 1}")
        (run / "run.json").write_text(facts)
    finish(Path("runs/first"), 32, 0, reproducible=True)
    return Path("runs")


def match(*options: object) -> str:
    return said("match", "ID:territory@nodes=30", "greedy", "--jobs", 1, *options)


def test_a_match_ends_with_its_verdict() -> None:
    text = match("--pairs", 20)
    assert "ID_Territory_30nodes significantly beats Greedy" in text
    assert "Next: isolation results" not in text
    assert re.search(r"40 of 40 games in \d+ s, logged in runs/\S+\. More: isolation results \S+ --full", text)


def test_a_tournament_ends_with_its_verdict_below_the_games_won() -> None:
    text = said("tournament", "--contender", "ID:open@nodes=20", "--baseline", "ID:null@nodes=20",
                "--opponent", "greedy", "--opponent", "random", "--pairs", 12, "--jobs", 1)  # fmt: skip
    table, verdict = text.index("win rate"), text.index("Percentage points of the win rate")
    assert table < text.index("ID_Open_20nodes", table) < verdict


def test_a_match_with_sprt_plays_until_it_is_decided_and_says_what_was_decided() -> None:
    text = match("--sprt", "0,50")
    decided = re.search(
        r"Decided after (\d+) pairs: ID_Territory_30nodes is stronger than Greedy \(H1: \+50 Elo rather", text
    )
    assert decided
    (run,) = Path("runs").iterdir()
    assert 2 * int(decided[1]) <= int(re.search(r"(\d+) of \d+ games in", text)[1]) < load_run(run).games  # type: ignore[index]


def test_a_match_that_ends_undecided_says_so_first_and_where_the_ratio_stands() -> None:
    text = match("--sprt", "0,5", "--pairs", 4)
    verdict = text[text.index("UNDECIDED after 4 pairs") :]
    assert re.match(
        r"UNDECIDED after 4 pairs: the log-likelihood ratio of ID_Territory_30nodes is \+0\.\d\d, "
        r"between −2\.94 \(H0: 0 Elo\) and \+2\.94 \(H1: \+5\)",
        verdict,
    )


def test_a_match_with_sprt_may_take_all_openings_there_are_and_no_other_match_does() -> None:
    asked_for = {"format": "head-to-head", "contenders": ["ID:null"], "baseline": "greedy"}
    open_ended = load_config(None, {**asked_for, "sprt": [0, 20]})
    shared, _, notes = draw_openings(open_ended)
    assert (len(shared), notes) == (2352, [])
    assert load_config(None, asked_for).pairs == 100
    assert load_config(None, {**asked_for, "sprt": [0, 20], "pairs": 7}).pairs == 7
    with pytest.raises(ValueError, match="pairs = 'all' needs openings"):
        load_config(None, {**asked_for, "pairs": "all"})


def test_a_running_test_shows_its_ratio_between_its_bounds() -> None:
    plan = make_plan(load_config(None, {"format": "head-to-head", "contenders": ["ID:null"], "baseline": "greedy",
                                        "sprt": [0, 100], "pairs": 40}))  # fmt: skip
    blank = np.full((40, 1, 2), -1, np.int8)
    (before,) = live_tests(plan, blank)
    won = blank.copy()
    won[:30] = 1
    (after,) = live_tests(plan, won)
    assert before.ratio == 0
    assert before.decision is None
    assert before.sprt.lower_bound < 0 < before.sprt.upper_bound < after.ratio
    assert after.decision is not None


def test_a_run_is_found_by_its_name_alone(runs: Path) -> None:
    assert said("results", "first") == said("results", "runs/first")
    assert said("replay", "first", "5") == said("replay", "runs/first", "5")


def test_the_latest_run_is_the_last_with_games_and_the_others_are_named(runs: Path) -> None:
    result = asked("results")
    assert "using the latest with games, runs/second, which is not finished (32 of 32 games)" in result.output
    assert "no games yet in runs/third" in result.output


def test_a_run_without_games_is_the_latest_only_while_it_is_played() -> None:
    gauntlet(0).write(Path("runs/empty"))
    for words in (("results",), ("games",), ("replay", "0"), ("plot", "forest"), ("report",)):
        assert "no run in runs/ has games: name one, or play runs/empty with" in refused(*words)
    with pytest.raises(ValueError, match="no run in runs/ has games"):
        ki.results()
    Path("runs/empty/lock").write_text(str(os.getpid()))
    assert latest_run() == Path("runs/empty")
    assert "No run named: using the latest, runs/empty, which is not finished" in asked("results").output


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["results", "runs/frist"], "runs/first"),
        (["results", "secnd"], "second"),
        (["games", "secnd"], "second"),
        (["plot", "first", "heatmpa"], "heatmap"),
        (["results", "first", "--baseline", "Bsae"], "Base"),
        (["results", "first", "--table", "oponents"], "opponents"),
    ],
    ids=str,
)
def test_what_is_mistyped_is_met_with_what_may_be_meant(runs: Path, words: list[str], meant: str) -> None:
    assert f"did you mean {meant}?" in refused(*words)


@pytest.mark.parametrize("words", ["try {}", "match ID:{}:score greedy", "tournament {}", "replay {}"])
def test_a_file_that_is_not_there_is_met_with_the_one_that_may_be_meant(words: str) -> None:
    for name in ("game_agent.py", "tournament.toml", "saved.json"):
        Path(name).touch()
    name, meant = {
        "tournament {}": ("tournment.toml", "tournament.toml"),
        "replay {}": ("svaed.json", "saved.json"),
    }.get(words, ("game_agnt.py", "game_agent.py"))
    assert re.search(rf"did you mean (\S*/)?{meant}\?", refused(*words.format(name).split()))


def test_one_equals_sign_in_a_condition_is_met_with_two(runs: Path) -> None:
    assert "did you mean `==`?" in refused("games", "first", "--where", "plies = 30")


def test_a_plot_without_a_kind_asks_for_one_and_one_without_data_is_not_written(runs: Path) -> None:
    assert "which plot of runs/first? isolation plot runs/first KIND" in refused("plot", "runs/first")
    assert "more than one limit" in refused("plot", "first", "limits", "--out", "limits.svg")
    assert not Path("limits.svg").exists()


def test_everything_wrong_in_a_file_is_said_at_once() -> None:
    Path("bad.toml").write_text('board = "7x"\npair = 4\nlimit = "nodes=x"\n')
    line = refused("tournament", "bad.toml")
    assert "board = " in line
    assert "limit = " in line
    assert "unknown key pair; did you mean pairs?" in line


def test_games_name_the_winner_and_ids_are_never_grouped(runs: Path) -> None:
    assert "won_by" in said("games", "first")
    assert "12824" in render_rows([{"game_id": Identifier(12824), "plies": 1204}], "table")
    assert "no game 12824" in refused("replay", "first", "12,824")


def test_cells_of_times_and_values_are_read_at_a_glance() -> None:
    assert [Milliseconds(value).text for value in (0.0046, 0.4588, 12.04, 1204.3)] == ["< 0.01", "0.46", "12", "1,204"]
    assert [HeuristicValue(value).text for value in (4.0, -0.4286, float("-inf"), 1e9)] == [
        "4.00",
        "−0.43",
        "−∞",
        "1e+09",
    ]


@pytest.mark.parametrize("width", [80, 50])
def test_a_narrow_terminal_never_hides_the_answer_nor_shortens_what_is_copied(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr("knights_isolation.reports.text.rendering.is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    run = "runs/2026-11-23-124231-head-to-head"
    row = {"run": CopiedName(run), "board": "7x7", "games": 20, "verdict": "better"}
    text = click.unstyle(render_rows([row, {**row, "games": 9}], "table", keep=("verdict",)))
    assert text.count(run) == 2
    assert text.count("better") == 2
    assert ("board" in text.splitlines()[0]) == (width == 80)
    assert ("Columns hidden (narrow terminal)" in text) == (width == 50)


def test_verdicts_have_the_colours_of_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    green, red, dim = (
        click.style("x", **style).split("x")[0] for style in ({"fg": "green"}, {"fg": "red"}, {"dim": True})
    )
    cells = {"better": green, "worse": red, "no significant difference": dim, "accepted: 20 Elo (H1)": green,
             "accepted: 0 Elo (H0)": red, "undecided": dim, "no difference of 2.0": dim}  # fmt: skip
    assert all(coloured_verdict("verdict", text).startswith(colour) for text, colour in cells.items())
    assert coloured_verdict("stands", "no").startswith(red)
    monkeypatch.setenv("NO_COLOR", "1")
    assert coloured_verdict("verdict", "better") == "better"


@pytest.mark.exhaustive
def test_a_function_that_never_returns_is_named_before_anything_waits_for_it() -> None:
    Path("endless.py").write_text(ENDLESS)
    silence = "ID_endless.custom_score did not search 40 nodes within 2 s, it may never return"
    assert silence in refused("screen", "ID:endless.py:custom_score")
    text = said("match", "ID:endless.py:custom_score@nodes=9", "random", "--pairs", 1, "--hard-cap", 0.5, "--jobs", 1)
    text = " ".join(text.split())
    assert text.index(silence.replace("custom_score", "custom_score_9nodes")) < text.index("games in")


@pytest.mark.parametrize("name", EVERY)
def test_every_help_shows_two_examples_that_the_command_line_takes(name: str) -> None:
    page = re.sub(r"\s+", " ", said(*name.split(), "--help"))
    examples = HELP_EXAMPLES if name == "help" else command_of(function_of(name)).examples
    assert len(examples) == 2
    assert all(line in page for line in examples)
    for file in ("tournament.toml", "games.pgn", "results.csv"):
        Path(file).touch()
    Path("submissions").mkdir()
    for line in examples:
        if line.startswith("isolation ") and "|" not in line:
            takes(shlex.split(line)[1:])


def takes(words: list[str]) -> None:
    """Have a command parse its words, without running it."""
    command: click.Command = main
    while isinstance(command, click.Group):
        word, *words = words
        command = commands_of(command)[word]
    command.make_context(word, words)


def test_plan_counts_effect_and_worth_in_the_same_unit() -> None:
    rows = said("plan", "--effect", 3, "--format", "csv").splitlines()
    assert rows == said("plan", "--worth", 3, "--format", "csv").splitlines()
    assert "0.03" in refused("plan", "--effect", 0.03)
