"""What was tried in a project is logged, shown, and counted when the next verdict on the same positions is given."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import knights_isolation as ki
from cli import main
from experiments.inference.sequential.online_fdr import lond_levels
from experiments.record.tries import SETTING, Try, earlier_p_values, read_tries
from reports.studies.tries import season_sentence

FIRST = Try("screen", "A", "B", "ID:a", "aaa", "", "suite 7x7", 9, (1.0, 0.5, 1.5), 0.001, None)


@pytest.fixture(autouse=True)
def log_is_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SETTING)


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


def test_equal_code_counts_once_and_sequential_tests_not_at_all() -> None:
    tries = [FIRST, replace(FIRST, p_value=0.5), replace(FIRST, code="b", p_value=None), replace(FIRST, code="c")]
    found = earlier_p_values([*tries, replace(FIRST, code="d", judged_on="others")], "suite 7x7")
    assert {code: p_value for (code, _), p_value in found.items()} == {"aaa": 0.001, "c": 0.001}


def test_other_seeds_on_one_held_out_split_are_further_tests_of_it() -> None:
    """Whoever draws again until a difference is significant is corrected for all draws."""
    tries = [
        replace(FIRST, judged_on=f"openings random:4,screen with seed {seed} on 7x7", p_value=p_value, held_out="split")
        for seed, p_value in enumerate((0.5, 0.6, 0.04))
    ]
    assert list(earlier_p_values(tries, "split").values()) == [0.5, 0.6, 0.04]
    assert season_sentence(tries[2:], earlier_p_values(tries, "split")).startswith(
        "2 other tests were made on split. At a false discovery rate of 5 % over all of them, not significant"
    )


def test_levels_fall_with_tests_and_rise_with_discoveries() -> None:
    none_found, one_found = lond_levels([1.0] * 9), lond_levels([0.0] + [1.0] * 8)
    assert sum(lond_levels([1.0] * 10_000)) == pytest.approx(0.05, rel=0.01)
    assert none_found == sorted(none_found, reverse=True)
    assert one_found[1:] == pytest.approx([2 * level for level in none_found[1:]])


@pytest.mark.parametrize("real", [0, 10])
def test_a_season_of_a_hundred_tries_has_few_false_discoveries(real: int) -> None:
    generator = np.random.default_rng(1)
    shares = []
    for _ in range(2000):
        shared = generator.normal(size=1)  # all contenders are compared with the same baseline
        effects = np.where(generator.permutation(100) < real, 4.0, 0.0)
        z = np.sqrt(0.5) * (shared + generator.normal(size=100)) + effects
        p_values = normal_tails(z)
        found = p_values <= lond_levels(p_values)[:-1]
        shares.append((found & (effects == 0)).sum() / max(1, found.sum()))
    assert np.mean(shares) < 0.05 + 3 * np.std(shares) / np.sqrt(len(shares))
    assert np.mean(shares) > 0.002


def normal_tails(z: np.ndarray) -> np.ndarray:
    from scipy.stats import norm

    return 2 * norm.sf(np.abs(z))


def known(**p_values: float) -> dict[tuple[str, str], float]:
    return {(code, FIRST.judged_on): p_value for code, p_value in p_values.items()}


def test_a_verdict_after_others_on_the_same_positions_is_corrected_for_them() -> None:
    report = [replace(FIRST, code="c", agent="C"), replace(FIRST, code="d", agent="D")]
    assert season_sentence(report, known(a=0.9, c=0.04, d=1e-6)) == ""
    assert season_sentence(report, known(a=0.9, b=0.9, c=0.5, d=0.5)) == ""
    late = season_sentence(report, known(a=0.9, b=0.9, c=0.04, d=1e-6))
    assert late.startswith("2 other tests were made on the same openings or positions.")
    assert late.endswith("not significant any more: C (unadjusted p = 0.04, level 0.0038). Confirm on new openings.")
    assert season_sentence(report, known(a=0.9, b=0.9, c=1e-6, d=1e-6)).endswith("remains so.")


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
    monkeypatch.setenv(SETTING, "off")
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
    assert [(each.command, each.baseline, each.n) for each in points] == [("sweep", "Greedy", 3)] * 4
    assert (fitted.held_out, points[0].held_out) == ("held-out positions of suite 7x7", "")
    assert (fitted.command, fitted.baseline, fitted.n) == ("fit", "before", 12_676)
    assert fitted.p_value is not None
    assert fitted.source
    assert (selected.command, selected.p_value, "links" in selected.agent) == ("features", None, True)
    drawn = run("tried", "--plot", "tried.svg")
    assert drawn.exit_code == 0
    assert f"1 fit: {fitted.agent}"[:12] in Path("tried.svg").read_text()
    assert run("tried", "--plot", "tried.txt").exit_code == 2
