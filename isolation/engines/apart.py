"""Players from files of people who may mean harm: loaded and played in a confined process of their own, never here."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from isolation.agents import Forfeit, Plain
from isolation.board import Board
from isolation.editions.players import THIRD
from isolation.editions.third.translating import why_unfit
from isolation.engines.child import START, Order
from isolation.engines.crossing import CannotCross, recipe
from isolation.engines.guard import DIED, Guard, python_program
from isolation.engines.transport import EngineTransport, Silence, Transport
from isolation.limits import Limit
from isolation.outcome import PROCESS_DIED, Reason
from isolation.search.result import SearchResult

if TYPE_CHECKING:
    from isolation.agents import Agent
    from isolation.search.compiled import CompiledPlayer

IMPORT_SECONDS = 10.0
"""What a file may take to be imported, its process's own start included."""
USUAL_CAP = 10.0
"""Seconds for a move where no hard cap was asked for."""
SLACK_MS = 30.0
"""What may lie between a player's own clock and the system's, which counts in hundredths of a second."""
MOST_WAITS = 10
"""How often a player is waited for on a machine that is too busy to let it play."""
LONGEST_ANSWER = 1 << 20
"""Bytes of an answer; longer ones are none of ours."""
_ANY_SIZE = (0, 0)
"""Of boards: nothing of a player from a file is compiled for a size."""


@dataclass(frozen=True)
class ApartAgent(Plain):
    """A player of a file that is nothing but data here.

    Attributes:
        file: the file's absolute path.
        player: FILE.py:CLASS, for people.
        limit: wall or processor time a move. It is kept by the player's process, and checked from outside, where no
            clock can be tampered with: see `ApartPlayer`.
        make: what makes the agent itself, of these arguments, in the process.
        edition: that of its class, as its source tells; empty where it does not.
        hard_cap: seconds after which a move, or the beginning of a game, counts as a hang.
        errors: the folder that tracebacks are kept in; empty for nowhere.
    """

    name: str
    file: str
    player: str
    limit: Limit
    make: Callable[..., Agent]
    arguments: tuple[Any, ...]
    edition: str = ""
    hard_cap: float = USUAL_CAP
    errors: str = ""
    is_deterministic: bool = field(default=False, init=False)
    is_user_code: bool = field(default=True, init=False)

    @property
    def heuristic(self) -> None:
        """None: what it evaluates by is its own affair."""

    @property
    def is_compilable(self) -> bool:
        """No: it plays in a process of its own."""
        return False

    @property
    def overruns(self) -> bool:
        """Whether it may go on computing beyond its limit, as players of the third edition do: what they put on their
        queue before counts."""
        return self.edition in ("", THIRD.name)

    def why_unfit(self, size: tuple[int, int]) -> str:
        """Players of the third edition know boards of up to 9x11."""
        return why_unfit(*size) if self.edition == THIRD.name else ""

    def settings(self) -> dict[str, Any]:
        """Where the player's code comes from, and its limit."""
        return {"kind": "apart", "player": self.player, "limit": {self.limit.unit: self.limit.value}}

    def compiled(self, size: tuple[int, int]) -> CompiledPlayer | None:
        """None: it plays in a process of its own."""
        return None

    def keeping_errors(self, folder: Path) -> ApartAgent:
        """The same player, its tracebacks going to a file in a folder, which is made in one that exists."""
        return replace(self, errors=str(folder)) if folder.parent.is_dir() else self

    def capped(self, seconds: float) -> ApartAgent:
        """The same player, given up after so many seconds without a move."""
        return replace(self, hard_cap=seconds)

    def open(self) -> ApartPlayer:
        """What asks the player's process for moves; it is started for the first game."""
        return ApartPlayer(self)


class GuestProcess(EngineTransport):
    """A process of which seconds count only as far as the machine lets it run: busy with others, it is waited for.

    Its parent is a keeper, so that it does no harm to us, and dies itself, where it kills its parent.
    """

    def __init__(self, program: str) -> None:
        """Start a Python process with our modules.

        Args:
            program: its code.
        """
        super().__init__(python_program(program), None, os.devnull, LONGEST_ANSWER)
        self._guest: psutil.Process | None = None

    def receive(self, seconds: float) -> bytes:
        """Read a line; see `Transport.receive`.

        A process that would run, and did not get half of the time, has so many seconds again, `MOST_WAITS` times.
        """
        used = self.used()
        for _ in range(MOST_WAITS):
            try:
                return super().receive(seconds)
            except Silence:
                if not self._would_run() or self.used() - used > seconds / 2:
                    raise
        raise Silence

    def used(self) -> float:
        """Seconds of processor time that the process has used, seen from here; 0 if it is not there."""
        with suppress(psutil.Error):
            if guest := self._found():
                times = guest.cpu_times()
                return float(times.user + times.system)
        return 0.0

    def _would_run(self) -> bool:
        """Whether the process neither sleeps nor waits for anything but a processor or the disk."""
        with suppress(psutil.Error):
            guest = self._found()
            return guest is None or guest.status() in (psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP)
        return False

    def _found(self) -> psutil.Process | None:
        """The process below its keeper, once it has been started."""
        if self._guest is None:
            self._guest = next(iter(psutil.Process(self.pid).children()), None)
        return self._guest


def start_guest() -> Transport:
    """A process that waits for an `Order`."""
    return GuestProcess(START)


class ApartPlayer:
    """The player of an `ApartAgent`.

    It is late by its own clock, or, as it may have its hands in that, once its process has used more processor time
    than its limit. A wall-clock limit needs both, the time that passed outside and the time that was used. The first
    move of a game is not watched from outside: with it the player object is made, which is nobody's thinking.
    """

    def __init__(self, agent: ApartAgent, start: Callable[[], Transport] = start_guest) -> None:
        self._agent, self._start = agent, start
        self._guard: Guard | None = None
        self._has_moved = False

    def new_game(self) -> None:
        """Have the process make a fresh player.

        Raises:
            Forfeit: it cannot be had, or does not answer.
        """
        with self._telling():
            self._has_moved = False
            self._guarded().new_game()

    def choose(self, board: Board, seed: int) -> SearchResult:
        """The move that the player chooses.

        Raises:
            Forfeit: there is none, or it is illegal or late.
        """
        with self._telling():
            guard = self._guarded()
            used, started = _used(guard), time.monotonic()
            result = guard.choose(board, seed)
            passed, used = 1e3 * (time.monotonic() - started), 1e3 * (_used(guard) - used)
            is_watched, self._has_moved = self._has_moved and not self._agent.overruns, True
            limit = self._agent.limit
            longest = limit.value + SLACK_MS
            if is_watched and used > longest and (limit.unit == "cpu_ms" or passed > longest):
                raise Forfeit(
                    Reason.TIMEOUT, f"used {used:.0f} ms of processor time of {limit.value:g} ms, seen from outside"
                )
            return result

    def close(self) -> None:
        """Leave the process to the next who opens the agent; end it if an answer is still due."""
        guard, self._guard = self._guard, None
        if guard is not None:
            guard.close()

    def _guarded(self) -> Guard:
        if self._guard is None:
            agent = self._agent
            order = Order(recipe(agent.make, *agent.arguments), _ANY_SIZE, str(Path(agent.file).parent))
            self._guard = Guard(agent.name, order, agent.hard_cap, start=self._start, start_seconds=IMPORT_SECONDS)
        return self._guard

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Say how a process ended as the log does where one has died, and keep the traceback of an error."""
        try:
            yield
        except CannotCross as error:
            raise Forfeit(Reason.ERROR, f"cannot be loaded: {error.why}") from None
        except Forfeit as loss:
            if loss.reason is Reason.HANG:
                raise Forfeit(Reason.HANG, f"{PROCESS_DIED}: it was ended, {loss.detail}") from None
            if loss.detail == DIED.detail:
                raise Forfeit(Reason.ERROR, PROCESS_DIED) from None
            self._note(loss)
            raise

    def _note(self, loss: Forfeit) -> None:
        if not (loss.traceback and self._agent.errors):
            return
        folder = Path(self._agent.errors)
        said = {"detail": loss.detail, "traceback": loss.traceback}
        with suppress(OSError):
            folder.mkdir(exist_ok=True)
            with (folder / f"{file_name(self._agent.name)}.jsonl").open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps(said)}\n")


def file_name(agent: str) -> str:
    """An agent's name as that of a file.

    >>> file_name("my agent/2")
    'my_agent_2'
    """
    return re.sub(r"[^\w.+-]", "_", agent)


def _used(guard: Guard) -> float:
    """Seconds of processor time of the process that plays."""
    transport = guard.transport
    return transport.used() if isinstance(transport, GuestProcess) else 0.0
