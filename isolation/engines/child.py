"""The other side of `isolation.engines.guard`: a process in which an agent plays.

Lines hold pickled objects in base 64. First comes an `Order`; the answer is None, or a `Refusal`. Then come `NEW_GAME`,
answered by None, and (board, seed), answered by a `SearchResult`; either may be answered by a `Loss`. Answers are read
as these and nothing else: in the process that sends them somebody's code may have its hands in everything.
"""

from __future__ import annotations

import base64
import io
import os
import pickle
import signal
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, BinaryIO

from isolation.search.result import SearchResult

if TYPE_CHECKING:
    from isolation.agents import Player

NEW_GAME = "new game"
START = "import sys; sys.path[:] = sys.argv[1:]; from isolation.engines.child import serve; serve()"
"""The program of the process; its arguments are the folders that modules are looked for in."""


@dataclass(frozen=True)
class Order:
    """Who is to play: the agent, packed, and the (rows, columns) of the boards, for which its code is compiled.

    With a `folder`, the process is confined, and lives there, before the agent is unpacked: see `confined`.
    """

    agent: bytes
    size: tuple[int, int]
    folder: str = ""


@dataclass(frozen=True)
class Refusal:
    """Why the agent cannot play here."""

    why: str


@dataclass(frozen=True)
class Loss:
    """How the player has lost the game: the number of a `Reason`, the detail, and where in a confined player's code."""

    reason: int
    detail: str
    traceback: str = ""


def encode(value: object) -> bytes:
    """An object as a line."""
    return base64.b64encode(pickle.dumps(value))


def decode(line: bytes) -> Any:
    """The object again, of a line that we have sent."""
    return pickle.loads(base64.b64decode(line))


def decode_answer(line: bytes) -> Any:
    """An answer again, of a line that anybody may have sent.

    Raises:
        Exception: it is no answer.
    """
    return _Answers(io.BytesIO(base64.b64decode(line))).load()


class _Answers(pickle.Unpickler):
    """Makes answers out of bytes, and calls nothing else that they name."""

    def find_class(self, module: str, name: str) -> Any:
        found = _ANSWERS.get(f"{module}.{name}")
        if found is None:
            raise pickle.UnpicklingError(f"{module}.{name} is no answer")
        return found


def serve() -> None:
    """Answer questions, until the process that asks them is gone."""
    lines, answers = take_over_pipes()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.argv[1:] = []
    questions: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=listen, args=(lines, questions), daemon=True).start()
    order = decode(questions.get())
    player = _begin(order, answers)
    while True:
        question = decode(questions.get())
        say(answers, _answer(player, question, order.folder))


def take_over_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Keep the pipes for questions and answers; what a player reads is empty, and what it prints goes to the errors."""
    lines, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return lines, answers


def listen(lines: BinaryIO, questions: SimpleQueue[bytes]) -> None:
    """Take in questions, also while one is answered, so that the end of whoever asks them is noticed at once."""
    for line in lines:
        questions.put(line)
    if hasattr(os, "killpg"):
        with suppress(PermissionError):  # of a confined process, whose keeper does that
            os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)


def _begin(order: Order, answers: BinaryIO) -> Player:
    from isolation.engines.crossing import one_line, unpack

    try:
        if order.folder:
            from isolation.engines.confined import confine

            confine(order.folder)
        agent = unpack(order.agent)
        agent.compiled(order.size)
        player = agent.open()
    except BaseException as error:
        say(answers, Refusal(one_line(error).replace(f"{order.folder}/", "") if order.folder else one_line(error)))
        sys.exit()
    say(answers, None)
    return player


def _answer(player: Player, question: Any, folder: str) -> object:
    from isolation.agents import Forfeit, as_loss

    try:
        if question == NEW_GAME:
            player.new_game()
            return None
        return player.choose(*question)
    except BaseException as error:
        loss = as_loss(error)
        if not folder or isinstance(error, Forfeit):
            return Loss(int(loss.reason), loss.detail)
        from isolation.engines.traces import placed, trace

        return Loss(int(loss.reason), placed(loss.detail, error, folder), trace(error, folder))


def say(answers: BinaryIO, answer: object) -> None:
    """Send an answer."""
    answers.write(encode(answer) + b"\n")
    answers.flush()


_ANSWERS = {f"{one.__module__}.{one.__qualname__}": one for one in (SearchResult, Loss, Refusal)}
