"""Where nothing can be played, runs can still be read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from every_command import NAMED
from invented_runs import Invented
from played_games import write_run

from cli import main
from knights_isolation.registry import READING

HERE = Path(__file__).parents[1]
READERS = ["results run", "ratings run", "report run --out report.html", "runs .", "plan --effect 10",
           "plot run ladder --out plot.svg", "games games", "replay games 0", "show --moves d3,a2"]  # fmt: skip
PLAYERS = sorted(NAMED.keys() - {*READING})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("elsewhere")
    run = Invented().agent("improved", "baseline").agent("open", "contender").agent("center", "opponent")
    for opening in range(4):
        run.pair("improved", "center", opening, 1).pair("open", "center", opening, 2)
    run.write(path / "run")
    write_run(path / "games")
    return path


@pytest.mark.exhaustive
def test_runs_are_read_on_every_system(folder):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parent), *filter(None, sys.path)])}
    read = subprocess.run(
        [sys.executable, str(HERE / "other_platforms.py"), *READERS],
        cwd=folder, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert (read.returncode, read.stderr) == (0, "")
    printed = dict(part.split("\n", 1) for part in read.stdout.removeprefix("$ ").split("\n$ "))
    assert [*printed] == READERS
    assert all(text.strip() for text in printed.values())
    assert "improved" in printed["results run"]


@pytest.mark.exhaustive
def test_the_board_shows_games_on_every_system(folder):
    words = [sys.executable, str(HERE / "other_platforms.py"), "board games --no-open"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parent), *filter(None, sys.path)])}
    with subprocess.Popen(words, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as board:
        assert board.stdout.readline() == "$ board games --no-open\n"
        assert board.stdout.readline().startswith("Board: http://127.0.0.1:")
        board.terminate()


def test_what_plays_says_in_a_line_where_it_can(monkeypatch):
    from click.testing import CliRunner

    monkeypatch.setattr(sys, "platform", "win32")
    assert {"tournament", "match", "try", "perfect", "play"} <= {*PLAYERS}
    for name in PLAYERS:
        result = CliRunner().invoke(main, [name])
        assert result.exit_code == 1
        assert result.output.startswith(f"Error: {name} needs Linux or macOS; here runs can be read, by results, ")
        assert result.output.count("\n") == 1
        assert CliRunner().invoke(main, [name, "--help"]).exit_code == 0
