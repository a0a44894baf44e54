"""Ctrl-C and SIGTERM end every command alike: with what was kept and a command that goes on, and exit code 1."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pytest
from click.testing import CliRunner
from scripted_pool import here

from cli import main
from knights_isolation.experiments.bench import COMMAND
from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.play.pools.interrupts import _Ear
from knights_isolation.experiments.play.runner import RunOutcome, play_tournament
from knights_isolation.reports.watch import what_is_kept

SOURCE = """
def score(game, player, *, reach=1.0):
    return reach * len(game.get_legal_moves(player))

def interpreted(game, player):
    return float(len(game.to_string()))
"""
PLAYER = """
class Mine:
    def get_move(self, game, time_left):
        while True:
            pass
"""
LONGEST = 60.0


def interrupted(folder: Path, number: signal.Signals, *words: str) -> subprocess.CompletedProcess[str]:
    """A command that hears a signal once it has started another process, as a script starts it in the background."""
    process = subprocess.Popen(
        [*COMMAND, *words],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )  # fmt: skip
    while len(group(process.pid)) < 2:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(number)
    output, errors = process.communicate(timeout=LONGEST)
    deadline = time.monotonic() + LONGEST
    while group(process.pid):
        assert time.monotonic() < deadline, "processes are left"
        time.sleep(0.05)
    return subprocess.CompletedProcess(words, process.returncode, output, errors)


def group(leader: int) -> list[int]:
    """The processes of a group that have not ended."""
    listed = subprocess.run(["ps", "-eo", "pid=,pgid=,stat="], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    return [int(pid) for pid, leads, stat in rows if int(leads) == leader and not stat.startswith("Z")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(SOURCE)
    return tmp_path


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (signal.SIGINT, "tune ID:mine.py:score --jobs 1"),
        pytest.param(signal.SIGTERM, "tune ID:mine.py:score --jobs 2", marks=pytest.mark.slow),
        *(
            pytest.param(number, words, marks=pytest.mark.exhaustive)
            for number, words in (
                (signal.SIGINT, "sweep ID:mine.py:score --over option.reach=0,1 --jobs 2 --pairs 100000"),
                (signal.SIGTERM, "fit mine.py:score"),
                (signal.SIGTERM, "perfect accuracy --heuristics improved --depths 5 --jobs 2 --positions 20000"),
                (signal.SIGTERM, "screen ID:mine.py:interpreted --jobs 2"),
            )
        ),
        *(
            pytest.param(signal.SIGINT, words, marks=pytest.mark.exhaustive)
            for words in ("suite build --board 5x5 --jobs 2", "perfect solve --all --board 8x8 --jobs 2")
        ),
    ],
)
def test_a_command_says_what_it_has_kept_and_how_it_goes_on(folder: Path, number: signal.Signals, words: str) -> None:
    ended = interrupted(folder, number, *shlex.split(words))
    kept = [*folder.glob("runs/*"), *folder.glob("*.parquet")]
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("Interrupted: ")
    assert (f" in {kept[0].relative_to(folder)}. Continue" if kept else ": nothing was saved. Restart") in ended.stderr
    assert ended.stderr.endswith(f" with: isolation {words}\n")
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.exhaustive
def test_a_request_to_end_labelling_is_answered(tmp_path: Path) -> None:
    keys = {"contenders": ["random"], "baseline": "greedy", "format": "head-to-head", "pairs": 300}
    play_tournament(load_config(None, {**keys, "out": str(tmp_path / "run")}), pools=here)
    ended = interrupted(tmp_path, signal.SIGTERM, "perfect", "label", "run", "--jobs", "2")
    assert ended.returncode == 1
    assert ended.stderr.startswith("Interrupted: ")
    assert ended.stderr.endswith("with: isolation perfect label run --jobs 2\n")
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_league_says_how_it_goes_on(tmp_path: Path, number: signal.Signals) -> None:
    for name in ("ada", "ben"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "player.py").write_text(PLAYER)
    ended = interrupted(tmp_path, number, "league", "class", "--jobs", "1", "--out", "run")
    assert ended.returncode == 1
    assert re.search(r"^Interrupted: .* with: isolation league class", ended.stderr, re.MULTILINE)


ASKING = """
from knights_isolation.experiments.suite import read_suite
from knights_isolation.experiments.studies.screening import collect_answers
positions = read_suite("7x7", "screen").sample(1000, 1).positions
try:
    show = lambda answered, agents: print(answered, agents, flush=True)
    collect_answers(["MCTS@nodes=400000"], positions, jobs=1, show=show)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.exhaustive
def test_a_compiled_agent_that_would_search_for_minutes_is_interrupted() -> None:
    with subprocess.Popen([sys.executable, "-c", ASKING], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "0 1\n"
            processor_time = psutil.Process(process.pid).cpu_times
            started = processor_time().user
            while processor_time().user < started + 0.3:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=LONGEST)[0] == "interrupted\n"
        finally:
            process.kill()


# Without processes


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("knights_isolation.experiments.studies.pairwise_fit.fit", ["fit", "mine.py:score", "--seed", "2"]),
        ("knights_isolation.experiments.studies.screening.collect_answers", ["screen", "random", "--sample", "20"]),
        ("knights_isolation.experiments.analysis.quick_trial.try_heuristic", ["try", "mine.py"]),
        ("knights_isolation.experiments.play.runner.play_tournament", ["match", "random", "greedy", "--out", "my run"]),
    ],
)
def test_what_keeps_nothing_starts_again_with_the_same_command(
    folder: Path, function: str, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(folder)
    monkeypatch.setattr(function, press)
    monkeypatch.setattr("knights_isolation.reports.watch.play_tournament", press)
    result = CliRunner().invoke(main, words)
    command = shlex.join(["isolation", *words])
    assert result.output == f"Interrupted: nothing was saved. Restart with: {command}\n"
    assert result.exit_code == 1


def test_what_is_kept_is_said_with_its_place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def press(question: object, out: Path, **options: object) -> None:
        out.touch()
        raise KeyboardInterrupt

    monkeypatch.chdir(folder)
    monkeypatch.setattr("knights_isolation.reports.studies.tuning.tune", press)
    result = CliRunner().invoke(main, ["tune", "ID:mine.py:score", "--out", "games.parquet"])
    assert result.output == (
        "Interrupted: what was played is in games.parquet. "
        "Continue with: isolation tune ID:mine.py:score --out games.parquet\n"
    )


def test_a_sweep_says_how_far_its_run_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def press(config: Any, **options: object) -> object:
        return RunOutcome(Path(config.out), Any, 1, 1, 2, False, 0.0, np.zeros(0, np.int8), {}, ())  # type: ignore[arg-type]

    monkeypatch.chdir(folder)
    monkeypatch.setattr("knights_isolation.reports.watch.play_tournament", press)
    result = CliRunner().invoke(main, ["sweep", "ID:mine.py:score", "--over", "option.reach=0,1", "--out", "kept"])
    goes_on = "Continue with: isolation sweep ID:mine.py:score --over option.reach=0,1 --out kept"
    assert result.output == f"Interrupted: 1 of 2 games are in kept. {goes_on}\n"
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("logged", "is_finished", "kept"),
    [
        (1, False, "1 of 2 games are in run"),
        (2, False, "all 2 games are in run; only the end of the run is not recorded yet"),
        (2, True, "all 2 games are in run"),
    ],
)
def test_a_run_that_lacks_no_game_but_is_not_closed_is_said_to_be_so(logged: int, is_finished: bool, kept: str) -> None:
    outcome: Any = SimpleNamespace(logged=logged, total=2, finished=is_finished, path=Path("run"))
    assert what_is_kept(outcome) == kept


@pytest.mark.parametrize(
    "judging",
    [
        "knights_isolation.reports.studies.headlines.compare_headline",
        "knights_isolation.reports.lab.played_runs.note_run",
    ],
)
def test_a_run_that_is_interrupted_while_it_is_judged_is_kept_and_can_be_compared(
    folder: Path, judging: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(folder)
    monkeypatch.setattr(judging, press)
    words = ["match", "random", "greedy", "--pairs", "2", "--jobs", "1", "--out", "run"]
    result = CliRunner().invoke(main, words)
    assert result.stderr.endswith("Interrupted: all 4 games are in run. Continue with: isolation results run\n")
    assert result.exit_code == 1


def test_a_league_that_is_interrupted_while_it_is_judged_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(*arguments: object) -> None:
        raise KeyboardInterrupt

    run = Path("runs/first")
    outcome = SimpleNamespace(logged=2, total=2, finished=True, path=run)
    (tmp_path / "class").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "knights_isolation.experiments.league.league_run.League.play", lambda *arguments: (None, outcome)
    )
    monkeypatch.setattr("knights_isolation.reports.league.judge_league", press)
    result = CliRunner().invoke(main, ["league", "class"])
    goes_on = f"Continue with: isolation league class --resume {run}"
    assert result.output == f"Interrupted: all 2 games are in {run}. {goes_on}\n"
    assert result.exit_code == 1


# What is raised, and when

SWALLOWED = """
import os, signal, sys
from knights_isolation.experiments.play.pools.interrupts import arrived, listen
listen()
try:
    os.kill(os.getpid(), signal.SIGTERM)
    [None for _ in range(1000)]
except BaseException:
    pass
try:
    while True:
        pass
except KeyboardInterrupt:
    arrived()
    print("arrived")
"""


def test_what_a_library_swallows_comes_again() -> None:
    completed = subprocess.run([sys.executable, "-c", SWALLOWED], capture_output=True, text=True, timeout=LONGEST)
    assert (completed.stdout, completed.stderr) == ("arrived\n", "")


DROPPED = """
import os, signal
from knights_isolation.experiments.play.pools.interrupts import arrived, listen
listen()
code = "def cb():\\n    os.kill(os.getpid(), signal.SIGINT)\\n    [None for _ in range(1000)]"
exec(compile(code, "<frozen importlib._bootstrap>", "exec"))
class Lock:
    __del__ = lambda self: cb()
try:
    Lock()
    while True:
        pass
except KeyboardInterrupt:
    arrived()
    print("arrived")
"""


def test_where_python_clears_away_an_import_s_lock_nothing_is_raised_that_it_would_print_and_drop() -> None:
    completed = subprocess.run([sys.executable, "-c", DROPPED], capture_output=True, text=True, timeout=LONGEST)
    assert (completed.stdout, completed.stderr) == ("arrived\n", "")


def test_what_is_under_way_is_not_cut_short_by_another_one() -> None:
    ear = _Ear(is_raised=True, reminds=True, pressed=[time.monotonic()])
    with pytest.raises(KeyboardInterrupt):
        ear.hear(signal.SIGINT, None)
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        try:
            raise OSError
        except OSError:
            ear.hear(signal.SIGINT, None)
    ear.has_arrived = True
    ear.hear(signal.SIGINT, None)
