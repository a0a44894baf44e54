"""Evaluate candidates: where each kind of failure ends, what is kept, and what the best are judged on."""

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import knights_isolation as ki
from knights_isolation.command_line.main import main
from knights_isolation.experiments.record.tries import read_tries
from knights_isolation.experiments.statistics.step_down import level_of
from knights_isolation.experiments.studies import evaluate as evaluating
from knights_isolation.experiments.studies.cascade import FRESH_PAIRS, PAIRS, admit, champions, decide_by_games
from knights_isolation.experiments.studies.evaluate import ask_worker, evaluate_all, judge_held_out
from knights_isolation.experiments.studies.evaluation import Answer, Evaluation, EvaluationTask, Lead
from knights_isolation.isolation.files.received import DamagedFileError
from knights_isolation.isolation.usercode.inputs import state_of
from knights_isolation.reports.pages.templates import kept_pages, with_pages

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
def test_a_candidate_reads_its_own_folder_alone(tmp_path: Path) -> None:
    for name in ("own", "others"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "weight.txt").write_text("2.0")
    file = tmp_path / "own" / "it.py"
    file.write_text("W = float(open('weight.txt').read())\n" + GOOD.replace("1.0", "W"))
    assert ki.evaluate(str(file), budget="values").passed
    file.write_text(f"W = float(open({str(tmp_path / 'others' / 'weight.txt')!r}).read())\n{GOOD}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the file that was denied is no reason to keep no answer
        denied = ki.evaluate(str(file), budget="values")
    assert (denied.error_kind, denied.error_line) == ("import", 1)
    assert ki.evaluate(str(file), budget="values").seconds == 0


@pytest.mark.slow
def test_what_differs_in_layout_only_is_answered_from_what_is_kept() -> None:
    first = ki.evaluate(GOOD, budget="compile")
    second = ki.evaluate('"""A docstring."""\n\n' + GOOD.replace("1.0 *", "1.0  *") + "# why\n", budget="compile")
    assert first.seconds > 0
    assert second.seconds == 0
    assert second.feedback == first.feedback
    assert ki.evaluate(GOOD.replace("1.0", "2.0"), budget="compile").seconds > 0


READERS = {
    "open": ("W = float(open('data.txt').read())", "W"),
    "path": ("from pathlib import Path\nW = float((Path(__file__).parent / 'data.txt').read_text())", "W"),
    "array": (
        "import numpy as np\nW = float(np.fromfile(ELSEWHERE + '/the_data.py', np.uint8)[4])",
        "W",
    ),
    "lazy": ("", "float(open('data.txt').read())"),
    "late": ("W = 1.0", "(W if len(game.get_blank_spaces()) > 40 else float(open('data.txt').read()))"),
    "module": ("import sys\nsys.path.insert(0, ELSEWHERE)\nimport the_data", "the_data.W"),
    "listed": ("import os\nW = float(len(os.listdir(ELSEWHERE)))", "W"),
    "exists": ("from pathlib import Path\nW = float(Path(ELSEWHERE, 'data.txt').exists())", "W"),
    "absent": ("try:\n    W = float(len(open(ELSEWHERE + '/data.txt').read()))\nexcept OSError:\n    W = 0.5", "W"),
    "variable": ("import os\nW = float(os.environ.get('ISOLATION_DATA', '1'))", "W"),
}


def write_readers(folder: Path) -> list[str]:
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "the_data.py").write_text("W = 1.0\n")
    (folder / "data.txt").write_text("1")
    for name, (head, value) in READERS.items():
        text = f"ELSEWHERE = {str(elsewhere)!r}\n{head}\n" + GOOD.replace("1.0", value)
        (folder / f"{name}.py").write_text(text)
    return [f"{name}.py:score" for name in READERS]


@pytest.mark.slow
def test_an_answer_is_repeated_only_while_all_that_was_read_is_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers = write_readers(tmp_path)

    def answers() -> dict[str, tuple[bool, str]]:
        evaluations = ki.evaluate_all(readers, budget="values", jobs=1)
        assert [each.feedback for each in evaluations if not each.passed] == []
        return {name: (each.seconds > 0, each.code) for name, each in zip(READERS, evaluations, strict=True)}

    first, again = answers(), answers()
    assert [name for name, (is_new, _) in first.items() if not is_new] == []
    assert [name for name, (is_new, _) in again.items() if is_new] == []
    (tmp_path / "data.txt").write_text("2")
    (tmp_path / "elsewhere/the_data.py").write_text("W = 2.0\n")
    (tmp_path / "elsewhere/data.txt").write_text("2")
    monkeypatch.setenv("ISOLATION_DATA", "2")
    changed = answers()
    assert [name for name, (is_new, _) in changed.items() if not is_new] == []
    assert [name for name in READERS if first[name][1] == changed[name][1]] == []
    (tmp_path / "data.txt").write_text("1")
    assert [name for name, (is_new, _) in answers().items() if is_new] == []  # both are kept


@pytest.mark.slow
def test_the_same_code_beside_other_data_is_another_candidate(tmp_path: Path) -> None:
    for folder, weight in (("one", 1), ("two", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "data.txt").write_text(str(weight))
        (tmp_path / folder / "it.py").write_text(READERS["open"][0] + "\n" + GOOD.replace("1.0", "W"))
    one, two = ki.evaluate_all(["one/it.py", "two/it.py"], budget="values", jobs=1)
    assert one.code != two.code
    assert ki.evaluate("two/it.py", budget="values").code == two.code


@pytest.mark.slow
def test_what_changes_meanwhile_or_is_read_unseen_is_not_kept_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def evaluate_and_change(*arguments: Any) -> Answer:
        answer = ask_worker(*arguments)
        (tmp_path / "data.txt").write_text("2")
        return answer

    write_readers(tmp_path)
    (tmp_path / "unseen.py").write_text("import pyarrow\n" + GOOD)
    with monkeypatch.context() as context:
        context.setattr(evaluating, "ask_worker", evaluate_and_change)
        with pytest.warns(UserWarning, match=r"open.py:score: its evaluation is not kept: file data.txt changed"):
            ki.evaluate("open.py", budget="values")
    for _ in range(2):
        with pytest.warns(UserWarning, match=r"unseen.py:score: its evaluation is not kept: what pyarrow reads"):
            assert ki.evaluate("unseen.py", budget="values").seconds > 0
    assert ki.evaluate("open.py", budget="values").seconds > 0


@pytest.mark.slow
def test_another_baseline_in_the_same_file_is_another_question(tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text(GOOD)
    ki.evaluate(BETTER, budget="values", baseline="ID:base.py")
    (tmp_path / "base.py").write_text(GOOD.replace("1.0", "2.0"))
    assert ki.evaluate(BETTER, budget="values", baseline="ID:base.py").seconds > 0
    assert ki.evaluate(BETTER, budget="values", baseline="ID:base.py").seconds == 0


def test_a_champion_is_met_only_with_the_code_and_data_with_which_it_won(tmp_path: Path) -> None:
    home, question, file = tmp_path / "runs", EvaluationTask(), tmp_path / "it.py"
    file.write_text(READERS["open"][0] + "\n" + GOOD)
    (tmp_path / "data.txt").write_text("1")
    inputs = {f"{kind} data.txt": state_of(kind, "data.txt", tmp_path) for kind in ("file", "presence")}
    assert admit(home, question, file, "score", 1.5, inputs) == ""
    assert admit(home, question, file, "score", 1.5, {"folder .": "x"}) == "it depends on folder ."
    (champion,) = champions(home, question)
    assert (Path(champion.file).read_text(), champion.cost) == (file.read_text(), 1.5)
    folder = Path(champion.file).parent
    for name in ("it.py", "data.txt", "champion.json"):
        whole = (folder / name).read_text()
        (folder / name).write_text(whole.replace("1", "2"))
        with pytest.raises(DamagedFileError, match=r"; delete the folder, and later candidates do not meet it"):
            champions(home, question)
        (folder / name).write_text(whole)
    assert champions(home, question) == (champion,)


@pytest.mark.slow
def test_a_damaged_answer_is_named_and_not_taken(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(GOOD)
    ki.evaluate("good.py", budget="values")
    (kept,) = (tmp_path / "runs/evaluated").glob("*.jsonl")
    kept.write_text(kept.read_text().replace('"score": 0.0', '"score": 7.0'))
    result = CliRunner().invoke(main, ["evaluate", "good.py", "--budget", "values"])
    assert result.exit_code != 0
    assert f"{kept.name}, line 1: damaged or edited by hand; delete the file" in " ".join(result.output.split())


@pytest.mark.slow
def test_the_best_goes_through_all_stages_and_each_is_noted_as_a_try_by_its_last_lead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ISOLATION_TRIES", raising=False)
    (tmp_path / "better.py").write_text(BETTER)
    (tmp_path / "worse.py").write_text(GOOD.replace("1.0", "-1.0"))
    files = ["better.py", Path("worse.py")]
    better, worse = ki.evaluate_all(files, budget="held-out", baseline="ID:open", jobs=1, reveal=True)
    assert (worse.stage, worse.passed, worse.error_kind, worse.games) == ("positions", False, "", None)
    assert worse.high < 0
    assert (better.stage, better.passed) == ("held-out", True)
    assert better.games is not None
    assert better.games.estimate > 0 < better.low <= better.score <= better.high
    assert better.held_out is not None
    assert better.held_out.n > 5000
    assert "overfitting" in better.feedback
    assert better.level == pytest.approx(0.0219, abs=1e-4)
    unseen = ki.evaluate("better.py", budget="held-out", baseline="ID:open")
    assert (unseen.passed, unseen.level, unseen.held_out) == (True, better.level, None)
    assert "overfitting" not in unseen.feedback
    assert "significantly better on held-out positions, question 1 to them, at level 0.022." in unseen.feedback
    tried, other = read_tries()
    assert (other.n, other.p_value) == (300, None)
    assert (tried.command, tried.n, tried.p_value) == ("evaluate", better.held_out.n, better.held_out.p_value)
    assert tried.source


def test_leads_are_printed_with_a_minus_and_zero_without_a_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluation = Evaluation(-0.5, -1.1, -0.04, 1.0, "positions", False, "", None, f"{Lead(0.5, -0.04, 1.1, 300)}.")
    monkeypatch.setattr("knights_isolation.experiments.studies.evaluate.evaluate_all", lambda *asked: [evaluation])
    printed = CliRunner().invoke(main, ["evaluate", "mine.py"]).stdout
    assert "−0.5 (−1.1 to below 0)" in printed
    assert printed.endswith("mine.py: +0.5 (0.0 to +1.1) points.\n")


@pytest.mark.parametrize(("number", "passed"), [(1, True), (2, False)])
def test_each_further_question_to_held_out_positions_is_tested_at_a_lower_level(number: int, passed: bool) -> None:
    lead, evaluation = Lead(1.0, 0.1, 1.9, 6000, 0.01), Evaluation(0, 0, 0, 1.0, "held-out", True, "", None, "")
    judged = judge_held_out(replace(evaluation, held_out=lead), number)
    assert (judged.passed, judged.level) == (passed, level_of(number))
    assert not judge_held_out(replace(evaluation, held_out=Lead(-1.0, -1.9, -0.1, 6000, 1e-9)), 1).passed
    assert sum(map(level_of, range(1, 10_000))) < 0.05


def test_a_held_out_lead_that_nobody_asked_for_is_not_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forged = Evaluation(0, 0, 0, 1.0, "values", False, "", None, "", held_out=Lead(9.0, 8.0, 10.0, 6000, 1e-9))
    monkeypatch.setattr("knights_isolation.experiments.studies.evaluate._evaluated", lambda *asked: [Answer(forged)])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def score(game, player):\n    return 1.0\n")
    (evaluation,) = evaluate_all([tmp_path / "mine.py"], EvaluationTask("values"))
    assert (evaluation.passed, evaluation.level) == (False, None)


@pytest.mark.exhaustive
@pytest.mark.parametrize("truth", [3.0, 6.0])
def test_those_that_pass_the_test_by_games_lead_by_what_is_true_in_the_games_after_it(truth: float) -> None:
    """In the games of the test those of 3 points better lead by nearly 6, as only the lucky ones pass."""
    generator = np.random.default_rng(1)

    def play(numbers: range) -> np.ndarray:
        return generator.choice(3, len(numbers), p=[0.25 - truth / 200, 0.5, 0.25 + truth / 200])

    passed = []
    for _ in range(200):
        decision, lead = decide_by_games(play, PAIRS, play, FRESH_PAIRS)
        passed += [lead.estimate] * (decision == "H1")
    assert len(passed) > 60
    assert np.mean(passed) == pytest.approx(truth, abs=0.5)


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
