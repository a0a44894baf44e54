"""Terminals that show ASCII only, pipes, and readers that go away: every command that prints."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from invented_runs import Invented
from played_games import write_run

from cli import main
from knights_isolation.command_line.cli_errors import one_line_errors

ROOT = Path(__file__).parents[2]
START = [sys.executable, "-P", "-c", "from cli import main; main(prog_name='isolation')"]
PLAIN = [
    {"PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "C", "TERM": "dumb", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
]
PRINTING = [
    *("results run", "ratings run", "runs .", "games games", "replay games 0", "plan --effect 10"),
    *("eval --moves d3,a2", "heuristics", "plot run ladder --out p.svg", "system cache"),
    *("report run --out r.html", "perfect solve --moves a0,d3 --board 4x4", "system perft --depth 2 --board 4x4"),
]
PLAYING = "match random greedy --pairs 2 --jobs 1 --out played"


@pytest.fixture
def folder(tmp_path):
    run = Invented().agent("improved", "baseline").agent("größer", "contender").agent("center", "opponent")
    for opening in range(4):
        run.pair("improved", "center", opening, 1).pair("größer", "center", opening, 2)
    run.write(tmp_path / "run")
    write_run(tmp_path / "games")
    return tmp_path


def started(folder, words, settings, **options):
    environment = {**os.environ, **settings, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}
    return subprocess.Popen([*START, *words.split()], cwd=folder, env=environment, stdin=subprocess.DEVNULL, **options)


def said(folder, words, settings):
    """The exit code, and what a command printed and complained."""
    process = started(folder, words, settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    printed, complained = process.communicate()
    return process.returncode, printed, complained


@pytest.mark.slow
@pytest.mark.parametrize("settings", PLAIN, ids=["encoding", "locale"])
@pytest.mark.parametrize(
    "words", ["results run", "show --moves d3,a2", pytest.param(PLAYING, marks=pytest.mark.exhaustive)]
)
def test_a_terminal_that_takes_ascii_only_ends_no_command(folder, words, settings):
    code, printed, complained = said(folder, words, settings)
    assert code == 0, complained
    assert printed.decode()
    assert b"Traceback" not in complained


@pytest.mark.slow
@pytest.mark.parametrize("words", PRINTING)
def test_every_command_prints_on_such_a_terminal(folder, words, monkeypatch):
    monkeypatch.chdir(folder)
    result = CliRunner(charset="ascii").invoke(main, words.split())
    assert result.exit_code == 0, result.output
    assert result.stdout


@pytest.mark.parametrize("settings", PLAIN, ids=["encoding", "locale"])
def test_a_board_is_drawn_in_signs_that_there_are(folder, settings):
    _, printed, _ = said(folder, "show --moves d3,a2", settings)
    assert printed.isascii()
    assert b"?" not in printed


@pytest.mark.exhaustive
@pytest.mark.parametrize("words", ["heuristics", "games games --limit 12"])
def test_a_reader_that_goes_away_is_no_failure(folder, words):
    process = started(folder, words, {}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert (process.stderr.read(), process.wait()) == (b"", 0)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_long_error_is_broken_between_words_on_a_terminal_only(monkeypatch, is_terminal):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    message = "mine.toml: " + "what was wrong and where it was, " * 3
    with pytest.raises(click.ClickException) as error, one_line_errors():
        raise ValueError(message.strip())
    lines = f"Error: {error.value.format_message()}".splitlines()
    assert " ".join(lines) == f"Error: {message.strip()}"
    assert (len(lines) > 1, max(map(len, lines)) <= 40) == (is_terminal, is_terminal)
