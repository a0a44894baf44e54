"""What shells complete: commands, runs, heuristics, and the parts of specs; and the help, which leaves nothing out."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner
from every_command import EVERY
from invented_runs import gauntlet

from cli import main
from knights_isolation.registry import FIRST, TASKS

ROOT = Path(__file__).parents[2]


def completed(*words: str) -> list[str]:
    *before, begun = words
    return [item.value for item in ShellComplete(main, {}, "isolation", "X").get_completions(before, begun)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("2025-a", "2025-b"):
        gauntlet(1).write(tmp_path / "runs" / name)
    (tmp_path / "mine.py").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["tourn"], ["tournament"]),
        (["results", "runs/2025-"], ["runs/2025-b", "runs/2025-a"]),
        (["results", "ru"], ["runs/2025-b", "runs/2025-a", "ru"]),
        (["try", "m"], ["mine.py"]),
        (["fit", "m"], ["mine.py"]),
        (["plot", "runs/2025-a", "heat"], ["heatmap", "heat"]),
        (["match", "ra"], ["random"]),
        (["match", "random", "ID:terr"], ["ID:territory"]),
        (["match", "ID:mi"], ["ID:mine.py"]),
        (["match", "Mine=AB:improved@de"], ["Mine=AB:improved@depth="]),
        (["match", "ID:improved@nodes=50,qu"], ["ID:improved@nodes=50,quiescence"]),
        (["tournament", "--contender", "MCTS:cent"], ["MCTS:center"]),
        (["perfect", "accuracy", "--heuristics", "improved,terr"], ["improved,territory"]),
    ],
    ids=lambda value: " ".join(value),
)
@pytest.mark.usefixtures("folder")
def test_what_is_begun_is_completed(words: list[str], expected: list[str]) -> None:
    assert completed(*words) == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_is_told_how(shell: str) -> None:
    result = CliRunner().invoke(main, ["system", "completion", shell])
    assert result.exit_code == 0
    assert f"_ISOLATION_COMPLETE={shell}_complete" in result.output


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("line", "reply"),
    [
        ("isolation system compl", "completion"),
        ("isolation match ID:terr", "territory"),
        ("isolation match ID:improved@nod", "@nodes="),
        ("isolation match ID:mine.py:score@", "@depth="),
        ("isolation match ID:improved@nodes=5,qu", "5,quiescence"),
        ("isolation match random Mine=gree", "greedy"),
        ("isolation results runs/2025-a", "runs/2025-a"),
    ],
)
def test_bash_replaces_what_it_takes_for_the_last_word(folder: Path, line: str, reply: str) -> None:
    asked = f'COMP_LINE="{line}"; COMP_POINT={len(line)}; _isolation_completion 2>/dev/null; echo "${{COMPREPLY[0]}}"'
    assert run_in_shell("bash", asked, folder)[0] == reply


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh")
@pytest.mark.parametrize(
    ("line", "added"),
    [
        ("isolation tourn", "-V isolation described tournament:Play a tournament"),
        ("isolation match ID:improved@nodes=5,qu", "-U -V isolation -a whole ID:improved@nodes=5,quiescence"),
        ("isolation match ID:improved@nod", "-U -V isolation -S -a begun ID:improved@nodes="),
    ],
)
def test_zsh_adds_a_blank_behind_what_is_whole_only(folder: Path, line: str, added: str) -> None:
    # the line editor, which there is none of here, is played by what prints what it is told
    editor = "compdef() { }; compadd() { print -r -- $* $whole $begun }; _describe() { print -r -- $* $described }"
    asked = f"words=({line}); CURRENT=$#words; _isolation_completion; true"
    (message,) = run_in_shell("zsh", asked, folder, editor)
    assert message.startswith(added)


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish")
@pytest.mark.parametrize(
    ("line", "replies"),
    [
        ("isolation results runs/2025-", ["runs/2025-b", "runs/2025-a"]),
        ("isolation match ID:improved@nodes=5,qu", ["ID:improved@nodes=5,quiescence"]),
    ],
)
def test_fish_keeps_the_order_and_the_commas_of_a_spec(folder: Path, line: str, replies: list[str]) -> None:
    assert run_in_shell("fish", f"complete -C '{line}'", folder) == replies


def run_in_shell(shell: str, commands: str, folder: Path, before: str = "") -> list[str]:
    """The lines that a shell prints that has been told how to complete."""
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    program = bin_folder / "isolation"
    program.write_text(f"#!{sys.executable}\nimport sys\nfrom cli import main\nmain(prog_name='isolation')\n")
    program.chmod(0o755)
    path = {"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    environment = {**os.environ, **path, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}
    script = CliRunner().invoke(main, ["system", "completion", shell]).output
    message = subprocess.run(
        [shell, "-c", f"{before}\n{script}\n{commands}"],
        cwd=folder, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return message.stdout.splitlines()


def test_help_all_lists_every_command_under_a_task_with_a_whole_sentence() -> None:
    listed = {name for task in TASKS.values() for name in task.commands}
    assert listed == set(EVERY) - {"help"}
    page = CliRunner().invoke(main, ["help", "all"]).output
    assert "..." not in page
    titles = [task.title for task in TASKS.values()]
    assert [line.rstrip(":") for line in page.splitlines() if line.rstrip(":") in titles] == titles
    rows = [line.strip() for line in page.splitlines() if line.startswith("  ") and line[2] != " "]
    assert {re.split(r" {2,}", row)[0] for row in rows} == listed


def test_help_alone_shows_eight_commands_on_one_screen_and_where_the_others_are() -> None:
    page = CliRunner().invoke(main, ["--help"]).output
    assert len(page.splitlines()) <= 40
    start = page.partition("Start here:\n")[2].partition("\n\n")[0]
    assert tuple(line.split()[0] for line in start.splitlines() if line[2] != " ") == FIRST
    for key, task in TASKS.items():
        assert f"help {key}" in page
        first = next(iter(task.commands))
        assert CliRunner().invoke(main, ["help", key]).output.startswith(f"{task.title}:\n  {first} ")


def test_help_of_a_command_is_its_own() -> None:
    for words in (["help", "results"], ["results", "--help"], ["help", "compare"], ["compare", "--help"]):
        assert "Compare contenders with the baseline" in CliRunner().invoke(main, words).output
    result = CliRunner().invoke(main, ["help", "nothing"])
    assert result.exit_code == 2
    assert "no task or command 'nothing'" in result.output


@pytest.mark.usefixtures("folder")
def test_without_a_run_the_latest_is_meant_and_said() -> None:
    for words in (["results"], ["ratings"], ["games"], ["replay", "1"]):
        result = CliRunner().invoke(main, words)
        assert result.exit_code == 0, result.output
        latest = f"{Path('runs/2025-b')}, which is not finished (8 of 8 games)"
        assert result.stderr == f"No run named: using the latest with games, {latest}.\n"


@pytest.mark.usefixtures("folder")
def test_a_report_is_opened_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("knights_isolation.reports.pages.report_page.report_page", lambda findings: "<!doctype html>")
    CliRunner().invoke(main, ["report"])
    assert opened == []
    assert CliRunner().invoke(main, ["report", "runs/2025-a", "--open"]).exit_code == 0
    assert opened == [Path("runs/2025-a/report.html").resolve().as_uri()]
