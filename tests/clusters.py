"""Real clusters for tests: a scheduler and machines on the loopback address, of which nothing is left behind."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from knights_isolation.experiments.bench import COMMAND

PATIENCE = 60.0
"""Seconds in which whatever is started has to be there."""


@dataclass
class Cluster:
    """A scheduler and machines, each a process of the command line."""

    folder: Path
    scheduler: subprocess.Popen[bytes]
    machines: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def file(self) -> Path:
        return self.folder / "scheduler.json"

    @property
    def address(self) -> str:
        return json.loads(self.file.read_text())["address"]

    def join(self, *options: str, cluster: str | None = None) -> subprocess.Popen[bytes]:
        """Another machine, that plays a game at a time."""
        words = ["cluster", "join", cluster or str(self.file), "--jobs", "1", *options]
        self.machines.append(started(self.folder, *words))
        return self.machines[-1]

    def close(self) -> None:
        end([*self.machines, self.scheduler])


@contextmanager
def cluster(folder: Path, machines: int = 0, options: tuple[str, ...] = ()) -> Iterator[Cluster]:
    """A cluster of so many machines."""
    file = folder / "scheduler.json"
    made = Cluster(folder, started(folder, "cluster", "start", "--port", "0", "--scheduler-file", str(file), *options))
    try:
        wait_for(lambda: file.exists() and file.stat().st_size > 0 and made.address)
        for _ in range(machines):
            made.join()
        yield made
    finally:
        made.close()


class Proxy:
    """A port that leads to another one, until the connections through it are cut."""

    def __init__(self, port: int) -> None:
        self.cuts = 0
        self._target = port
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> "Proxy":
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        self.cut()

    def cut(self) -> None:
        """End all connections that there are."""
        self.cuts += 1
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self._open.clear()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                self._open += [near, far]
                for first, second in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=(first, second), daemon=True).start()

    def _pass_on(self, first: socket.socket, second: socket.socket) -> None:
        with suppress(OSError):
            while data := first.recv(1 << 16):
                second.sendall(data)
        for end in (first, second):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def started(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    """A command of ours, or another program, in a process group of its own, with a folder for what it leaves about."""
    command = list(words) if words[0].startswith("/") else [*COMMAND, *words]
    with (folder / "log").open("ab") as log:
        environment = {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        return subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)


def wait_for(condition: object) -> None:
    """Wait until a condition holds."""
    assert callable(condition)
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it does not come"
        time.sleep(0.02)


def end(processes: list[subprocess.Popen[bytes]]) -> None:
    """End processes and all that they have started."""
    for process in processes:
        process.send_signal(signal.SIGCONT)
        process.terminate()
    for process in processes:
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    for process in processes:
        wait_for(lambda process=process: not is_group_alive(process.pid))


def is_group_alive(group: int) -> bool:
    """Whether any process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
