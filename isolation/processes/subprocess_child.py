"""Child side of `subprocess_player`: the loop in which user code plays.

Lines hold pickled objects in base 64. First comes an `PlayerSetup`; the answer is None, or a `SetupError`. Then come
`NEW_GAME`, answered by None, and (board, seed), answered by what the player gave: a `SearchResult`, or the `Given` of a
player object; either may be answered by a `Failure`. An order without a size is a call, answered by what it returns.
Answers are read as these and nothing else: in the process that sends them somebody's code may have its hands in
everything. What becomes of the game is for the other side to judge.
"""

from __future__ import annotations

import base64
import io
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, BinaryIO

from isolation.players.agents import SearchAgent, forfeit_from
from isolation.players.classic_agent import ClassicPlayer, Given
from isolation.search.result import SearchResult

if TYPE_CHECKING:
    from isolation.players.agents import Player

NEW_GAME = "new game"


@dataclass(frozen=True)
class PlayerSetup:
    """Who is to play: the agent, packed, and the (rows, columns) of the boards, for which its code is compiled.

    Without a size what is packed is a call, see `crossing.recipe`, whose value is asked for.

    Attributes:
        folder: that of the player's file, if it has one: errors are located in it.
        is_restricted: the process is restricted, and lives in that folder, before the agent is unpacked: see
            `confined.confine`.
    """

    agent: bytes
    size: tuple[int, int] | None
    folder: str = ""
    is_restricted: bool = False


@dataclass(frozen=True)
class SetupError:
    """Why the agent cannot play here."""

    why: str


@dataclass(frozen=True)
class Failure:
    """What user code has raised, in one line, and where in a player's file."""

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
        answer_class = _ANSWERS.get(f"{module}.{name}")
        if answer_class is None:
            raise pickle.UnpicklingError(f"{module}.{name} is no answer")
        return answer_class


def serve() -> None:
    """Answer questions, until the process that asks them is gone."""
    lines, answers = claim_stdio()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.argv[1:] = []
    questions: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=listen, args=(lines, questions), daemon=True).start()
    order = decode(questions.get())
    begin_move = _restrain(order)
    player = _begin(order, answers)
    while player is not None:
        question = decode(questions.get())
        begin_move()
        say(answers, _answer(player, question, order.folder))


def claim_stdio() -> tuple[BinaryIO, BinaryIO]:
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
    with suppress(PermissionError):  # of a restricted process, whose keeper does that
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)


def _restrain(order: PlayerSetup) -> Callable[[], None]:
    """Keep this process from harming others; returns what is to be called before each move."""
    from isolation.processes.sandbox import contain, enter_sandbox

    if not order.is_restricted:
        return contain()
    enter_sandbox(order.folder)
    return lambda: None


def _begin(order: PlayerSetup, answers: BinaryIO) -> Player | None:
    """Open the player that is ordered; None of a call, which is answered, and of one that cannot be opened."""
    from isolation.processes.agent_pickling import load_agent, one_line

    player: Player | None = None
    try:
        ordered: Any = load_agent(order.agent)
        answer: object = ordered
        if order.size is not None:
            ordered.compiled(order.size)
            player, answer = ordered.open(), None
    except BaseException as error:
        why = one_line(error)
        answer = SetupError(why.replace(f"{order.folder}/", "") if order.folder else why)
    say(answers, answer)
    return player


def _answer(player: Player, question: Any, folder: str) -> object:
    try:
        if question == NEW_GAME:
            player.new_game()
            return None
        return _ask_of(player)(*question)
    except BaseException as error:
        detail = forfeit_from(error).detail
        if not folder:
            return Failure(detail)
        from isolation.usercode.user_exceptions import user_traceback

        return Failure(detail, user_traceback(error, folder))


def _ask_of(player: Player) -> Callable[..., object]:
    """How a player is asked for a move that others judge."""
    if isinstance(player, ClassicPlayer):
        return player.give
    return player.find if isinstance(player, SearchAgent) else player.choose


def say(answers: BinaryIO, answer: object) -> None:
    """Send an answer."""
    answers.write(encode(answer) + b"\n")
    answers.flush()


_ANSWERS = {f"{kind.__module__}.{kind.__qualname__}": kind for kind in (SearchResult, Given, Failure, SetupError)}
