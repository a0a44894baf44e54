"""Evaluate candidates: where each kind of failure ends, what is kept, and what the best are judged on."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import knights_isolation as ki
from experiments.record.tries import read_tries
from isolation_cli.main import main
from reports.analysis.kept_pages import kept_pages, with_pages

GOOD = "def score(game, player):\n    return 1.0 * len(game.get_legal_moves(player))\n"
BETTER = """
def score(game, player):
    own, other = game.get_legal_moves(player), game.get_legal_moves(game.get_opponent(player))
    return len(own) - len(other) + 0.5 * len(game.reach(own)) - 0.5 * len(game.reach(other))
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


FAILURES = {
    "syntax": ("def score(game, player):\n    return 1 +\n", "parse", 2),
    "missing": ("def score(game):\n    return 1\n", "parse", None),
    "import": ("import nowhere\n" + GOOD, "load", 1),
    "exception": ("def score(game, player):\n    return nothing\n", "values", 2),
    "exception (too large)": ("def score(game, player):\n    return 10**400\n", "values", None),
    "value": ("def score(game, player):\n    return None\n", "values", None),
    "time": ("def score(game, player):\n    while True:\n        pass\n", "values", None),
    "memory": ("def score(game, player):\n    return float(len([0] * 10**10))\n", "values", 2),
    "compile": ("def score(game, player):\n    return eval('1')\n", "compile", 2),
    "crash": ("import os\nos.kill(os.getpid(), 9)\n" + GOOD, "load", None),
}


@pytest.mark.exhaustive
def test_each_failure_has_its_kind_stage_and_line_and_the_worst_score() -> None:
    answers = ki.evaluate_all([text for text, _, _ in FAILURES.values()], budget="compile", jobs=1)
    for answer, (kind, (_, stage, line)) in zip(answers, FAILURES.items(), strict=True):
        assert (answer.error_kind, answer.stage, answer.passed, answer.score) == (
            kind.partition(" ")[0],
            stage,
            False,
            -100,
        )
        assert answer.feedback
        assert line is None or answer.error_line == line


@pytest.mark.slow
def test_a_candidate_changes_neither_files_nor_its_worker(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("kept")
    writes = f"import os\nos.remove({str(tmp_path / 'precious.txt')!r})\n" + GOOD
    breaks = "import math\nmath.sqrt = None\n" + GOOD
    needs = "import math\n" + GOOD.replace("1.0", "math.sqrt(2)")
    first, second, third = ki.evaluate_all([writes, breaks, needs], budget="compile", jobs=1)
    assert (first.error_kind, third.passed) == ("import", True)
    assert "may not change files" in first.feedback
    assert (tmp_path / "precious.txt").exists()
    assert second.stage in ("load", "values", "compile")


@pytest.mark.slow
def test_what_differs_in_layout_only_is_answered_from_what_is_kept() -> None:
    first = ki.evaluate(GOOD, budget="compile")
    second = ki.evaluate('"""A docstring."""\n\n' + GOOD.replace("1.0 *", "1.0  *") + "# why\n", budget="compile")
    assert first.seconds > 0
    assert second.seconds == 0
    assert second.feedback == first.feedback
    assert ki.evaluate(GOOD.replace("1.0", "2.0"), budget="compile").seconds > 0


@pytest.mark.slow
def test_the_best_goes_through_all_stages_and_each_is_noted_as_a_try_by_its_last_lead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ISOLATION_TRIES", raising=False)
    (tmp_path / "better.py").write_text(BETTER)
    (tmp_path / "worse.py").write_text(GOOD.replace("1.0", "-1.0"))
    better, worse = ki.evaluate_all(["better.py", Path("worse.py")], budget="held-out", baseline="ID:open", jobs=1)
    assert (worse.stage, worse.passed, worse.error_kind, worse.games) == ("positions", False, "", None)
    assert worse.high < 0
    assert (better.stage, better.passed) == ("held-out", True)
    assert better.games is not None
    assert better.games.estimate > 0 < better.low <= better.score <= better.high
    assert better.held_out is not None
    assert better.held_out.n > 5000
    assert "overfitting" in better.feedback
    tried, other = read_tries()
    assert (other.n, other.p_value) == (300, None)
    assert (tried.command, tried.n, tried.p_value) == ("evaluate", better.held_out.n, better.held_out.p_value)
    assert tried.source


@pytest.mark.slow
def test_the_command_prints_every_field_and_ends_with_one_exit_code(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "bad.py").write_text(FAILURES["exception"][0])
    words = ["evaluate", "good.py", "bad.py:score", "--budget", "compile", "--jobs", "1", "--json"]
    result = CliRunner().invoke(main, words)
    good, bad = json.loads(result.stdout)
    assert result.exit_code == 1
    assert {key: good[key] for key in ("candidate", "stage", "passed", "error_kind", "error_line", "score")} == {
        "candidate": "good.py", "stage": "compile", "passed": True, "error_kind": "", "error_line": None, "score": 0.0,
    }  # fmt: skip
    assert (bad["error_kind"], bad["error_line"], bad["score"]) == ("exception", 2, -100)
    assert CliRunner().invoke(main, ["evaluate", "good.py", "--budget", "compile"]).exit_code == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["nowhere.py"], "no such file"),
        (["two.py"], "several functions: name one, as in two.py:first"),
        (["two.py:first", "--board", "7"], "ROWSxCOLUMNS"),
    ],
)
def test_what_was_asked_wrongly_is_said_in_one_line(words: list[str], why: str, tmp_path: Path) -> None:
    two = "\n".join(GOOD.replace("score", name) for name in ("first", "second"))
    (tmp_path / "two.py").write_text(two)
    result = CliRunner().invoke(main, ["evaluate", *words])
    assert result.exit_code == 2
    assert why in result.output
    assert len(result.output.strip().splitlines()) == 1


@pytest.mark.exhaustive
def test_research_stops_at_the_first_no(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(FAILURES["exception"][0])
    (tmp_path / "worse.py").write_text(GOOD.replace("1.0", "-1.0"))
    bad = ki.research("bad.py", against="ID:improved").value
    assert [(step.name, step.passed) for step in bad.steps] == [("cost", False)]
    assert "NameError" in bad.steps[0].finding
    assert "NameError" in bad.page.read_text()
    assert CliRunner().invoke(main, ["research", "bad.py", "--against", "ID:improved"]).exit_code == 1
    worse = ki.research("worse.py:score", against="ID:improved", jobs=1)
    assert [(step.name, step.passed) for step in worse.value.steps] == [
        ("cost", True), ("fit", True), ("screen", False),
    ]  # fmt: skip
    assert not worse.value.is_better
    assert worse.sections[0].title.startswith("Stopped at screen")
    assert worse.value.cost > 0
    page = worse.value.page.read_text()
    assert "Stopped at screen" in page
    assert page.index('id="research"') < page.index('id="screen"')
    assert kept_pages(with_pages({}, Path("runs")))[0].title == "Research: worse.py:score"


@pytest.mark.exhaustive
def test_candidates_that_beat_the_baseline_become_champions_that_later_ones_meet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ISOLATION_TRIES", raising=False)
    first = ki.evaluate(BETTER, baseline="ID:open")
    second = ki.evaluate(BETTER.replace("0.5", "0.6"), baseline="ID:open")
    assert first.passed
    assert first.champions is None
    assert second.champions is not None
    assert second.champions.n == 400
    assert abs(second.champions.estimate) < 25
    assert "against the last champion" in second.feedback
    assert len(list((tmp_path / "runs/evaluated/champions").glob("*/*/champion.json"))) == 1 + (
        second.passed and second.champions.estimate >= 0
    )
    worse = ki.evaluate(GOOD.replace("1.0", "-1.0"), baseline="ID:open")
    assert (worse.stage, worse.champions) == ("positions", None)
    tries = read_tries()
    assert [(each.n, each.p_value) for each in tries][:1] == [(first.games.n if first.games else 0, None)]
    assert tries[-1].judged_on.startswith("suite 7x7, won positions of split fit")
