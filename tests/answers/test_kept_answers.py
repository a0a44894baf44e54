"""Answers about finished runs: kept, and made again when anything that they rest on changes."""

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner
from invented_runs import Invented, gauntlet

from knights_isolation.command_line.main import main
from knights_isolation.commands.results import results
from knights_isolation.experiments.record.run_directory import TRIES_SETTING
from knights_isolation.isolation.files import cache_folder


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of kept answers of this test."""
    monkeypatch.setattr("knights_isolation.reports.kept_answers.folder", lambda: tmp_path)
    return tmp_path / "answers"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The answers that were made: one entry each."""
    calls: list[str] = []
    for name in ("run_answer", "ratings_headline"):
        whole = f"knights_isolation.reports.studies.headlines.{name}"
        original = getattr(__import__("knights_isolation.reports.studies.headlines", fromlist=[name]), name)

        def counted(*arguments, original=original, name=name):
            calls.append(name)
            return original(*arguments)

        monkeypatch.setattr(whole, counted)
    return calls


def said(*words: str) -> str:
    run = CliRunner().invoke(main, words)
    assert run.exit_code == 0, run.output
    return run.output


def test_a_kept_answer_says_the_same_and_is_not_made_again(made: list[str]) -> None:
    gauntlet().write("runs/a")
    first, second = said("results", "runs/a"), said("results", "runs/a")
    assert first == second
    assert "between Good and Base" in first
    assert made == ["run_answer"]
    assert said("ratings", "runs/a") == said("ratings", "runs/a")
    assert made == ["run_answer", "ratings_headline"]


def test_tables_behind_a_kept_answer_are_those_of_the_run(made: list[str]) -> None:
    gauntlet().write("runs/a")
    words = ("results", "runs/a", "--table", "opponents", "--format", "csv")
    fresh = said(*words)
    assert said(*words) == fresh
    assert json.loads(said("results", "runs/a", "--format", "json"))["standings"]


@pytest.mark.parametrize("other", [("--worth", "9"), ("--baseline", "Good"), ("--mixed",)])
def test_another_question_gets_its_own_answer(other: tuple[str, ...], made: list[str]) -> None:
    gauntlet().write("runs/a")
    said("results", "runs/a")
    said("results", "runs/a", *other)
    assert len(made) == 2


def _another_game_is_logged(run: Path) -> None:
    log = next((run / "games").iterdir())
    os.utime(log, ns=(0, 1))


def _another_run_is_played_beside(run: Path) -> None:
    gauntlet().write("runs/b")


def _a_run_beside_it_goes_on(run: Path) -> None:
    os.utime(next(Path("runs/beside/games").iterdir()), ns=(0, 1))


def _the_games_lie_elsewhere_and_change(run: Path) -> None:
    (run / "games").rename("elsewhere")
    (run / "games").symlink_to(Path("elsewhere").resolve())
    said("results", str(run))
    os.utime(next(Path("elsewhere").iterdir()), ns=(0, 1))


def _bytes_change_but_not_the_time(run: Path) -> None:
    (part,) = (run / "games").iterdir()
    before = part.stat()
    part.write_bytes(part.read_bytes())
    os.utime(part, ns=(before.st_atime_ns, before.st_mtime_ns))


def _tries_are_not_logged(run: Path) -> None:
    os.environ[TRIES_SETTING] = "off"


def _a_try_is_noted(run: Path) -> None:
    with open("runs/tries.jsonl", "a") as file:
        file.write("")
    os.utime("runs/tries.jsonl", ns=(0, 1))


def _facts_are_edited(run: Path) -> None:
    facts = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**facts, "population": 77}))


@pytest.mark.parametrize(
    "change",
    [
        *(_another_game_is_logged, _another_run_is_played_beside, _a_run_beside_it_goes_on),
        *(_the_games_lie_elsewhere_and_change, _a_try_is_noted, _facts_are_edited),
        *(_bytes_change_but_not_the_time, _tries_are_not_logged),
    ],
)
def test_an_answer_is_made_again_when_something_it_rests_on_changes(
    change, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TRIES_SETTING, "on")
    gauntlet().write("runs/a")
    gauntlet().write("runs/beside")
    for _ in range(3):  # the first look is noted, which changes the log of tries
        said("results", "runs/a")
    assert made == ["run_answer"] * 2
    change(Path("runs/a"))
    before = len(made)
    said("results", "runs/a")
    assert len(made) == before + 1


def test_an_answer_is_made_again_by_other_code(
    made: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gauntlet().write("runs/a")
    code = tmp_path / "toolkit" / "reports" / "kept_answers.py"
    code.parent.mkdir(parents=True)
    code.write_text("before")
    monkeypatch.setattr("knights_isolation.reports.kept_answers.__file__", str(code))
    for text in ("before", "after", "after"):
        code.write_text(text) if text != code.read_text() else None
        said("results", "runs/a")
    assert made == ["run_answer"] * 2


def test_projects_whose_runs_have_the_same_names_each_keep_theirs(
    made: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for project in ("one", "two") * 2:
        (tmp_path / project).mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / project)
        if not Path("runs").exists():
            gauntlet().write("runs/a")
        said("results", "runs/a")
    assert made == ["run_answer"] * 2


def test_a_report_of_the_run_leaves_the_answer_as_it_is(made: list[str]) -> None:
    gauntlet().write("runs/a")
    said("results", "runs/a")
    said("report", "runs/a")
    said("results", "runs/a")
    assert made == ["run_answer"]


def test_the_answer_of_an_unfinished_run_is_never_kept(made: list[str]) -> None:
    run = gauntlet()
    run.planned = len(run.rows) + 10
    run.write("runs/a")
    assert "planned games are in the log" in said("results", "runs/a")
    said("results", "runs/a")
    assert made == ["run_answer"] * 2


def test_whoever_sends_a_run_sends_no_answer_with_it(folder: Path, made: list[str]) -> None:
    gauntlet().write("runs/a")
    before = set(Path("runs").rglob("*"))
    said("results", "runs/a")
    assert set(Path("runs/a").rglob("*")) <= before
    assert len(list(folder.iterdir())) == 1


def _other_title(kept: bytes) -> bytes:
    return kept.replace(b"No significant", b"A significant ")


def _of_another_version(kept: bytes) -> bytes:
    body = b'{"first": {"$kind": "Gone", "of": []}, "more": []}'
    return sha256(body).digest() + body


@pytest.mark.parametrize(
    "damage",
    [lambda kept: b"", lambda kept: kept[:40], lambda kept: kept[32:], _other_title, _of_another_version],
)
def test_a_damaged_or_edited_kept_answer_is_made_again(damage, folder: Path, made: list[str]) -> None:
    gauntlet().write("runs/a")
    first = said("results", "runs/a")
    (file,) = folder.iterdir()
    assert damage(file.read_bytes()) != file.read_bytes()
    file.write_bytes(damage(file.read_bytes()))
    assert said("results", "runs/a") == first
    assert len(made) == 2


def test_what_changes_while_an_answer_is_made_keeps_it_from_being_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gauntlet().write("runs/a")
    read = __import__("knights_isolation.reports.kept_answers", fromlist=["read_runs"]).read_runs

    def read_and_change(*arguments):
        found = read(*arguments)
        _another_game_is_logged(Path("runs/a"))
        return found

    monkeypatch.setattr("knights_isolation.reports.kept_answers.read_runs", read_and_change)
    said("results", "runs/a")
    assert not folder.exists()


def test_an_answer_in_a_deleted_folder_is_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, made: list[str]
) -> None:
    gauntlet().write(tmp_path / "a")
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert "between Good and Base" in said("results", str(tmp_path / "a"))
    monkeypatch.chdir(tmp_path)


def test_a_low_terminal_hides_rows_of_a_kept_answer_like_those_of_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Invented().agent("Base", "baseline").agent("Opp", "opponent")
    for number in range(12):
        run.agent(f"C{number}", "contender")
        for opening in range(8):
            run.pair(f"C{number}", "Opp", opening, (opening + number) % 3)
    for opening in range(8):
        run.pair("Base", "Opp", opening, opening % 3)
    run.write("runs/a")
    said("results", "runs/a")
    monkeypatch.setattr("knights_isolation.reports.text.rendering.terminal_height", lambda: 16)
    assert "5 contenders more without a significant difference: --full." in said("results", "runs/a")


def test_in_python_answers_have_a_value_and_every_row(made: list[str]) -> None:
    gauntlet().write("runs/a")
    said("results", "runs/a")
    answer = results("runs/a")
    assert answer.value.played
    assert made == ["run_answer"] * 2


def test_the_cache_folder_is_that_of_compiled_code() -> None:
    from knights_isolation.isolation.compiling import code_cache

    assert code_cache.folder() == cache_folder.folder()
