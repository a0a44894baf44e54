"""No process of a run outlives it, however it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PLAYER = """
import os, pathlib
class CustomPlayer:
    def get_move(self, game, time_left):
        with (pathlib.Path(__file__).parent / "processes").open("a") as file:
            file.write(f"{os.getpid()} {os.getppid()}\\n")
        while True:
            pass
"""
LONGEST = 20.0
"""Seconds after which a process is here to stay."""


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{process}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("number", "options"),
    [(signal.SIGKILL, ()), (signal.SIGKILL, ("--hard-cap", "600")), (signal.SIGHUP, ())],
)
def test_no_process_outlives_a_run_that_is_ended(tmp_path: Path, number: signal.Signals, options: tuple[str]) -> None:
    for name in "ab":
        (tmp_path / f"{name}.py").write_text(PLAYER)
    asked = ["match", "A=a.py:CustomPlayer", "B=b.py:CustomPlayer", "--jobs", "2", "--out", "run", *options]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    run = subprocess.Popen(
        [sys.executable, "-m", "knights_isolation.command_line", *asked],
        cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # which nohup would have ignored
    )  # fmt: skip
    seen = tmp_path / "processes"
    while run.poll() is None and not (seen.exists() and len(seen.read_text().splitlines()) >= 2):
        time.sleep(0.05)
    processes = {int(word) for word in seen.read_text().split()} - {run.pid}
    assert processes
    run.send_signal(number)
    run.wait(LONGEST)
    ended = time.monotonic()
    while any(map(is_alive, processes)) and time.monotonic() - ended < LONGEST:
        time.sleep(0.05)
    assert not [process for process in processes if is_alive(process)]
