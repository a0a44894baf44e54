"""What was tried in a project is logged, shown, and counted when the next verdict in the same family is given."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import knights_isolation as ki
from cli import main
from knights_isolation.experiments.record.run_directory import TRIES, TRIES_SETTING
from knights_isolation.experiments.record.tries import Try, read_tries
from knights_isolation.experiments.statistics.account import adjusted_p_values
from knights_isolation.experiments.studies.noted_tries import withdrawn_sentence

FIRST = Try("screen", "A", "B", "ID:a", "aaa", "", "suite 7x7", 9, (1.0, 0.5, 1.5), 0.001, None)


@pytest.fixture(autouse=True)
def log_is_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TRIES_SETTING)


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


def on_positions(name: str, p_value: float | None, family: str = "suite 7x7") -> Try:
    return replace(FIRST, agent=name, family=family, question=f"{name} {p_value}", p_value=p_value)


def test_questions_of_a_family_are_adjusted_together_and_equal_answers_count_once() -> None:
    tries = [
        on_positions("a", 0.01),
        on_positions("a", 0.01),
        on_positions("b", 0.5),
        on_positions("c", None),
        on_positions("d", 0.02, "others"),
    ]
    assert adjusted_p_values(tries) == {
        ("suite 7x7", "a 0.01"): 0.02,
        ("suite 7x7", "b 0.5"): 0.5,
        ("others", "d 0.02"): 0.02,
    }


def test_only_verdicts_that_a_report_gave_are_withdrawn() -> None:
    """By the p-values that it printed: what it had adjusted away was no verdict, whatever its p-value alone."""
    earlier = [on_positions(f"old {number}", 0.9) for number in range(4)]
    clear, weak, none = (on_positions(*each) for each in (("clear", 1e-6), ("weak", 0.02), ("none", 0.03)))
    known = [*earlier, clear, weak, none]
    judged = [(clear, 3e-6), (weak, 0.04), (none, 0.06)]
    assert withdrawn_sentence(judged, known) == (
        "Adjusted for 4 earlier tests on suite 7x7, not significant any more: weak (adjusted p = 0.12). Confirm on "
        "new openings."
    )
    assert withdrawn_sentence(judged[:1], known) == ""
    assert withdrawn_sentence([], known) == ""


def test_tries_of_versions_without_families_are_read(tmp_path: Path) -> None:
    """A look at games keeps its openings and its p-value; each set of openings is a question of its own."""
    old = {
        **{"command": "match", "agent": "A", "baseline": "B", "spec": "ID:a@nodes=9", "code": "aaa", "source": ""},
        **{"judged_on": "openings random:4 with seed 1 on 7x7", "n": 50, "difference": [-3, -6, 0], "p_value": 0.04},
        **{"cost": None, "when": "2026-01-01T00:00:00+00:00"},
    }
    suite = {**old, "command": "screen", "judged_on": "suite 7x7, split screen", "held_out": "held-out positions"}
    (tmp_path / TRIES).write_text(f"{json.dumps(old)}\n{json.dumps({**old, 'n': 100})}\n{json.dumps(suite)}\n")
    games, extended, positions = read_tries(tmp_path)
    assert games.family == extended.family == "head to head with B, random:4 openings on 7x7, nodes=9"
    assert (games.planned, games.looked, extended.looked, games.z) == (50, 50, 100, pytest.approx(-2.0537, abs=1e-3))
    assert positions.family == "held-out positions"
    assert adjusted_p_values([games, extended]) == {(games.family, games.question): pytest.approx(0.0444, abs=1e-3)}


@pytest.mark.exhaustive
def test_commands_log_what_they_compare_and_show_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    score = "def score(game, player):\n    return float({})\n"
    for value in (1, 2):
        Path("mine.py").write_text(score.format(value))
        played = run("match", "ID:mine.py:score@nodes=9", "greedy", "--pairs", 3, "--jobs", 1)
        assert played.exit_code == 0, played.output
    first, second = json.loads(run("tried", "--format", "json").output)["tries"][::-1]
    assert (first["command"], first["agent"], first["baseline"], first["n"]) == (
        "match",
        "ID_mine.score_9nodes",
        "Greedy",
        3,
    )
    assert first["source"] != second["source"]
    assert run("tried", "--diff", 1, 2).output.splitlines()[-2:] == ["-    return float(1)", "+    return float(2)"]
    assert run("tried", "--diff", 1, 3).exit_code == 2
    monkeypatch.setenv(TRIES_SETTING, "off")
    run("match", "random", "greedy", "--pairs", 1, "--jobs", 1)
    assert len(read_tries()) == 2


@pytest.mark.exhaustive
def test_fits_and_selections_are_logged_and_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(
        "def score(game, player, *, weight=0.2):\n"
        "    own = game.get_legal_moves(player)\n"
        "    return len(own) + weight * len(game.reach(own)) - len(game.get_legal_moves(game.get_opponent(player)))\n"
    )
    assert run("fit", "mine.py", "--limit", "nodes=20").exit_code == 0
    assert run("features", "links", "mobility", "--most", "2").exit_code == 0
    ki.sweep("ID:mine.py", "option.weight=0,1", opponent="greedy", limit="nodes=9", pairs=3, jobs=1)
    over = ["--over", "option.weight=0,2", "--limit", "nodes=9", "--opponent", "greedy"]
    assert run("sweep", "ID:mine.py", *over, "--pairs", 3, "--jobs", 1).exit_code == 0
    fitted, selected, *points = read_tries()
    assert [(each.command, each.baseline, each.n) for each in points] == [("sweep", "Greedy", 3)] * 3
    assert fitted.family == "held-out positions of suite 7x7, compared with before"
    assert points[0].family == "head to head with Greedy, random:4,fit openings on 7x7, nodes=9"
    assert (fitted.command, fitted.baseline, fitted.n) == ("fit", "before", 12_676)
    assert fitted.p_value is not None
    assert fitted.source
    assert (selected.command, selected.p_value, "links" in selected.agent) == ("features", None, True)
    drawn = run("tried", "--plot", "tried.svg")
    assert drawn.exit_code == 0
    assert f"1 fit: {fitted.agent}"[:12] in Path("tried.svg").read_text()
    assert run("tried", "--plot", "tried.txt").exit_code == 2
