"""`isolation system bench`: its rows at invented speeds, and what it starts."""

import subprocess
from pathlib import Path

import pytest

from knights_isolation.experiments import bench
from knights_isolation.isolation.rules.game import Cost


def invent_speeds(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Measure nothing; the list of commands that would have been timed."""

    def costs(agents, size="7x7", *, interpreted=False):
        times = [1.0 if agent.heuristic_name == "improved" else 2.0 for agent in agents]
        return [Cost((50.0 if interpreted else 5.0) * each, each, each, each) for each in times]

    commands: list[list[str]] = []
    monkeypatch.setattr(bench, "measure_costs", costs)
    monkeypatch.setattr(bench, "games_per_second", lambda *_, interpreted=False: 1.0 if interpreted else 4.0)
    monkeypatch.setattr(bench, "_seconds", lambda command, cache: commands.append(command) or 0.5)
    return commands


def test_a_ratio_stands_beside_what_is_compared_and_names_its_comparator(monkeypatch: pytest.MonkeyPatch) -> None:
    invent_speeds(monkeypatch)
    rows = {row["measured"]: (row["ratio"], row["to"]) for row in bench.measure()}
    assert rows["ID:improved@nodes=10000"] == (None, "")
    assert rows["ID:territory@nodes=10000"] == (0.5, "improved")
    assert rows["the first, interpreted"] == (0.1, "compiled")
    assert rows["the same, move by move"] == (0.25, "in one call")
    assert all((ratio is None) == (to == "") for ratio, to in rows.values())


@pytest.fixture
def own_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with files of the user's that are called like modules of ours and of Python's."""
    for name in ("cli", "command_line", "heuristics", "experiments", "reports", "isolation", "random", "signal"):
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('the user's {name}.py was run')\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_start_that_is_timed_is_ours_whatever_lies_in_the_working_directory(
    own_modules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = invent_speeds(monkeypatch)
    bench.measure()
    (command,) = {tuple(command) for command in commands if "--help" in command}
    started = subprocess.run(command, capture_output=True, text=True, check=False)
    assert started.stdout.startswith("Usage: isolation [OPTIONS] COMMAND")
    assert started.stderr == ""


@pytest.mark.exhaustive
def test_a_match_is_played_with_our_modules_whatever_lies_in_the_working_directory(own_modules: Path) -> None:
    command = [*bench.COMMAND, "match", "random", "greedy", "--pairs", "2", "--jobs", "2", "--out", "run"]
    played = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "4 of 4 games" in played.stdout, played.stderr
    assert played.stderr == ""
