"""Child processes for user code: started under a supervisor, awaited without a timeout."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress

import psutil

from isolation.processes.transport import EngineTransport, TransportTimeout

START = "import sys; sys.path[:] = sys.argv[1:]; from isolation.processes.subprocess_child import serve; serve()"
"""The program of a process that plays; its arguments are the folders that modules are looked for in."""
MOST_WAITS = 10
"""How often a player is waited for on a machine that is too busy to let it play."""
LONGEST_ANSWER = 1 << 20
"""Bytes of an answer; longer ones are none of ours."""
BEAT = 1.0
"""Seconds between two signs of life of whoever waits for a player."""


class PlayerProcess(EngineTransport):
    """A process of which seconds count only as far as the machine lets it run: busy with others, it is waited for.

    Its parent is a keeper, so that it does no harm to us, and ends itself, where it ends its parent.
    """

    def __init__(self, program: str = START) -> None:
        """Start a Python process with our modules.

        Args:
            program: its code.
        """
        super().__init__(_python_program(program), None, os.devnull, LONGEST_ANSWER)
        self.heartbeat: Callable[[], None] = lambda: None
        self._child: psutil.Process | None = None

    def receive(self, seconds: float) -> bytes:
        """Read a line; see `Transport.receive`.

        A process that would run, and did not get half of the time, has so many seconds again, `MOST_WAITS` times.
        `heartbeat` is called meanwhile, every second.
        """
        used = self.used()
        for _ in range(MOST_WAITS):
            try:
                answer = self._receive_within(seconds)
                self._continue_keeper()
                return answer
            except TransportTimeout:
                if not self._would_run() or self.used() - used > seconds / 2:
                    raise
        raise TransportTimeout

    def used(self) -> float:
        """Seconds of processor time that the process has used, by the system's clock; 0 if it is gone."""
        with suppress(psutil.Error, OSError):
            if child := self._found():
                if sys.platform == "linux":
                    return time.clock_gettime(~child.pid << 3 | _SCHEDULED)
                times = child.cpu_times()
                return float(times.user + times.system)
        return 0.0

    def _receive_within(self, seconds: float) -> bytes:
        deadline = time.monotonic() + seconds
        while True:
            self.heartbeat()
            left = max(0.0, deadline - time.monotonic())
            try:
                return super().receive(min(left, BEAT))
            except TransportTimeout:
                if left <= BEAT:
                    raise

    def _continue_keeper(self) -> None:
        """Let the keeper go on, which would not notice our end if the player has stopped it."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGCONT)

    def _would_run(self) -> bool:
        """Whether the process neither sleeps nor waits for anything but a processor or the disk."""
        with suppress(psutil.Error):
            child = self._found()
            return child is None or child.status() in (psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP)
        return False

    def _found(self) -> psutil.Process | None:
        """The process below its keeper, once it has been started."""
        if self._child is None:
            self._child = next(iter(psutil.Process(self.pid).children()), None)
        return self._child


_SCHEDULED = 2
"""The lowest bits of the number of another process's clock on Linux; see clock_getcpuclockid(3)."""


def _python_program(code: str) -> list[str]:
    """The command of a Python process that runs some code with our modules, wherever it works."""
    folders = (folder for folder in sys.path if isinstance(folder, str))
    whole = (os.path.abspath(folder) if os.path.isdir(folder or ".") else folder for folder in folders)
    return [sys.executable, "-P", "-c", code, *whole]
