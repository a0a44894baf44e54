"""Child side of `child_process`: the loop in which user code runs.

Lines hold pickled objects in base 64. First comes a `Setup`; the answer is None, or a `SetupError`. Then come
questions, tuples of arguments for the function that the setup has made; each is answered by what the function returns,
or by a `Failure`. A setup that makes anything but a function is a call: what it makes is the only answer. Answers are
read as these types, results of searches and plain data, and nothing else: in the process that sends them somebody's
code may have its hands in everything.
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
from typing import Any, BinaryIO, Literal

from isolation.players.agents import forfeit_from
from isolation.players.classic_agent import Given
from isolation.search.result import SearchResult

Guard = Literal["none", "contained", "sandboxed"]


@dataclass(frozen=True)
class Setup:
    """What a process is for.

    Attributes:
        make: the function that answers questions, packed, see `agent_pickling.recipe`; or a call.
        guard: what the process may do: see `sandbox.contain` and `sandbox.enter_sandbox`. It holds before anything is
            unpacked. What runs our own code is not guarded.
        folder: that of a user's file, if there is one: errors are located in it, and a sandboxed process lives there.
    """

    make: bytes
    guard: Guard = "contained"
    folder: str = ""


@dataclass(frozen=True)
class SetupError:
    """Why what was asked for cannot be made here."""

    why: str


@dataclass(frozen=True)
class Failure:
    """What user code has raised, in one line, and where in a user's file."""

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
    threading.Thread(target=_listen, args=(lines, questions), daemon=True).start()
    setup: Setup = decode(questions.get())
    before_question = _restrain(setup)
    made = _make(setup)
    _say(answers, None if callable(made) else made)
    while callable(made):
        question = decode(questions.get())
        before_question()
        _say(answers, _answer(made, question, setup.folder))


def claim_stdio() -> tuple[BinaryIO, BinaryIO]:
    """Keep the pipes for questions and answers; what user code reads is empty, and what it prints goes to stderr."""
    lines, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return lines, answers


def _listen(lines: BinaryIO, questions: SimpleQueue[bytes]) -> None:
    """Take in questions, also while one is answered, so that the end of whoever asks them is noticed at once."""
    for line in lines:
        questions.put(line)
    with suppress(PermissionError):  # of a sandboxed process, whose supervisor does that
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)


def _restrain(setup: Setup) -> Callable[[], None]:
    """Keep this process from harming others; returns what is to be called before each question."""
    from isolation.processes.sandbox import contain, enter_sandbox

    if setup.guard == "contained":
        return contain()
    if setup.guard == "sandboxed":
        enter_sandbox(setup.folder)
    return lambda: None


def _make(setup: Setup) -> object:
    """What is asked for, or why it cannot be made."""
    from isolation.processes.agent_pickling import from_bytes, one_line

    try:
        return from_bytes(setup.make)
    except BaseException as error:
        why = one_line(error)
        return SetupError(why.replace(f"{setup.folder}/", "") if setup.folder else why)


def _answer(function: Callable[..., object], question: tuple[Any, ...], folder: str) -> object:
    try:
        return function(*question)
    except BaseException as error:
        detail = forfeit_from(error).detail
        if not folder:
            return Failure(detail)
        from isolation.usercode.user_exceptions import user_traceback

        return Failure(detail, user_traceback(error, folder))


def _say(answers: BinaryIO, answer: object) -> None:
    answers.write(encode(answer) + b"\n")
    answers.flush()


_ANSWERS = {f"{kind.__module__}.{kind.__qualname__}": kind for kind in (SearchResult, Given, Failure, SetupError)}
