"""Players that might never answer, each in a process of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from isolation.agents import Forfeit
from isolation.engines.child import NEW_GAME, START, Loss, Order, Refusal, decode_answer, encode
from isolation.engines.crossing import CannotCross, pack
from isolation.engines.idle import Idle
from isolation.engines.transport import Ended, ProcessTransport, Silence, Transport
from isolation.outcome import Reason
from isolation.search.result import SearchResult, is_well_formed

if TYPE_CHECKING:
    from isolation.agents import Agent
    from isolation.board import Board

START_SECONDS = 60.0
"""What a process may take to start, to load a user's file with all it imports, and to load compiled code."""

DIED = Forfeit(Reason.ERROR, "RuntimeError: its process died")
_NONSENSE = Forfeit(Reason.ERROR, "RuntimeError: its process answered with nonsense")


def start_process() -> Transport:
    """A new Python process that waits for an `Order`."""
    return ProcessTransport(python_program(START))


def python_program(code: str) -> list[str]:
    """The command of a Python process that runs some code with our modules, wherever it works."""
    folders = (folder for folder in sys.path if isinstance(folder, str))
    whole = (os.path.abspath(folder) if os.path.isdir(folder or ".") else folder for folder in folders)
    return [sys.executable, "-P", "-c", code, *whole]


@dataclass
class Guard:
    """The player of an agent whose code might hang: it lives in a process that is ended if it does.

    The process serves one game after another, is replaced when it had to be ended, and is kept for a while after
    `close`, for whoever opens the same agent next.
    """

    name: str
    order: Order
    hard_cap: float
    start: Callable[[], Transport] = start_process
    start_seconds: float = START_SECONDS
    _transport: Transport | None = field(default=None, init=False)
    _is_waiting: bool = field(default=False, init=False)

    def new_game(self) -> None:
        """Have the process make a fresh player.

        Raises:
            Forfeit: it fails, does not answer within the hard cap, or the process dies.
            CannotCross: the agent cannot be made in another process.
        """
        self._ask(NEW_GAME)

    def choose(self, board: Board, seed: int) -> SearchResult:
        """The move that the player in the process chooses.

        Raises:
            Forfeit: it has lost, does not answer within the hard cap, or the process dies.
            CannotCross: the agent cannot be made in another process.
        """
        result = self._ask((board, seed))
        if not (isinstance(result, SearchResult) and is_well_formed(result)):
            raise _NONSENSE
        return result

    def close(self) -> None:
        """Leave the process to the next who opens the agent; end it if an answer is still due."""
        transport, self._transport = self._transport, None
        if transport is None:
            return
        if self._is_waiting:
            transport.end()
        else:
            _idle.put(self.order, transport)

    @property
    def transport(self) -> Transport | None:
        """The process that plays, while it does."""
        return self._transport

    def _ask(self, question: object) -> object:
        if self._transport is None:
            self._transport = _idle.take(self.order) or self._started()
        try:
            answer = self._exchange(self._transport, question, self.hard_cap)
        except Silence:
            self._end()
            raise Forfeit(Reason.HANG, f"no answer within {self.hard_cap:g} s") from None
        except Ended:
            self._end()
            raise DIED from None
        except Exception:  # of whatever a line is that our side of the process has not written
            self._end()
            raise _NONSENSE from None
        if isinstance(answer, Loss):
            raise _forfeit(answer)
        return answer

    def _started(self) -> Transport:
        self._transport = self.start()
        try:
            answer = self._exchange(self._transport, self.order, self.start_seconds)
        except Silence:
            self._end()
            raise Forfeit(Reason.HANG, f"its process did not start within {self.start_seconds:g} s") from None
        except Ended:
            self._end()
            raise DIED from None
        if isinstance(answer, Refusal):
            self._end()
            raise CannotCross(self.name, answer.why)
        return self._transport

    def _exchange(self, transport: Transport, question: object, seconds: float) -> object:
        """An answer; if this is cut short, it is still due."""
        self._is_waiting = True
        transport.send(encode(question), seconds)
        answer: object = decode_answer(transport.receive(seconds))
        self._is_waiting = False
        return answer

    def _end(self) -> None:
        if self._transport is not None:
            self._transport.end()
        self._transport, self._is_waiting = None, False


def _forfeit(loss: Loss) -> Forfeit:
    """How the player has lost, if that is one of the ways there are."""
    is_known = type(loss.reason) is int and loss.reason in {int(reason) for reason in Reason}
    if not is_known or type(loss.detail) is not str or type(loss.traceback) is not str:
        return _NONSENSE
    return Forfeit(Reason(loss.reason), loss.detail, loss.traceback)


def guard(agent: Agent, size: tuple[int, int], hard_cap: float) -> Guard:
    """The guarded player of an agent for boards of (rows, columns); the process starts when it is first asked.

    Raises:
        CannotCross: the agent cannot be sent to another process.
    """
    return Guard(agent.name, Order(pack(agent), size), hard_cap)


_idle: Idle[Order, Transport] = Idle()
