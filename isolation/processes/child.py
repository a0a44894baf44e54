"""Child side of `child_process`: the loop in which user code runs, and what is sent to it and back.

Lines hold pickled objects in base 64. The first is a `Setup`; the answer is None or a `SetupError`. The others are
questions, tuples of arguments for the function made by the setup; the answer is the function's return value or a
`Failure`. If the setup makes anything but a function, that is the only answer. Only these types, search results and
plain data are unpickled from answers, since user code may have tampered with the process that sends them.

A *forking* child stays as it was made: each question has a `Setup`, and is answered in a process that is forked for it
and restricted as the setup says. Nothing of an answer remains: no memory, no changed module, no loop.

In setups, values loaded from a user's file are pickled as the file and the name, and loaded again. Functions and
classes of importable modules are pickled by name; those of scripts, lambdas and local functions by value.
"""

from __future__ import annotations

import base64
import io
import os
import pickle
import select
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO, Literal, NoReturn

from ..loading.load_user_code import content_hash, data_hash, load, origin_of
from ..search import SearchResult
from ..search.agents import forfeit_from
from ..search.classic_agent import Given
from ..usercode.user_exceptions import name_of, to_one_line

Guard = Literal["none", "contained", "sandboxed", "forking"]
PROCESSOR_SECONDS = 60
"""Processor time of an answer in a sandbox, if its setup says nothing else."""
LONGEST_ANSWER = 1 << 20
"""Largest answer in bytes; longer ones are not from the toolkit."""
_CHUNK = 1 << 16
_LONGEST_WAIT_MS = 1 << 30


class Termination(Enum):
    """Why a process was asked in vain."""

    TIMED_OUT = "timed out"
    SPENT = "used up its processor time"
    DIED = "died"
    NONSENSE = "answered nonsense"
    REFUSED = "could not be set up"


class NoAnswer(Exception):
    """A process was asked in vain. One that `Child.ask` has asked is ended.

    Attributes:
        why: the reason.
        detail: why the setup was refused, or how the process ended; empty if unknown.
    """

    def __init__(self, why: Termination, detail: str = "") -> None:
        super().__init__(f"it {why.value}{detail and f': {detail}'}")
        self.why, self.detail = why, detail

    def described(self, late: str, died: str, nonsense: str) -> str:
        """Return the description of the reason; why a setup was refused describes itself."""
        reasons = dict.fromkeys((Termination.TIMED_OUT, Termination.SPENT), late)
        return {**reasons, Termination.DIED: died, Termination.NONSENSE: nonsense}.get(self.why, self.detail)


class LineReader:
    """Lines from a pipe, by deadlines."""

    def __init__(self, file: int, longest: int) -> None:
        self._file, self._longest, self._received = file, longest, bytearray()

    def receive(self, seconds: float) -> bytes:
        """Return the next line without its newline, within `seconds`.

        Raises:
            NoAnswer: no line arrives in time, none will arrive, or it is longer than `longest` bytes.
        """
        deadline = time.monotonic() + seconds
        seen = 0
        while (at := self._received.find(b"\n", seen)) < 0:
            seen = len(self._received)
            if seen > self._longest:
                raise NoAnswer(Termination.NONSENSE)
            wait_for(self._file, select.POLLIN, deadline)
            chunk = os.read(self._file, _CHUNK)
            if not chunk:
                raise NoAnswer(Termination.DIED)
            self._received += chunk
        line = bytes(self._received[:at])
        del self._received[: at + 1]
        return line


def wait_for(file: int, event: int, deadline: float) -> None:
    """Wait for an event of a file; raise NoAnswer at a deadline by the monotonic clock."""
    poll = select.poll()
    poll.register(file, event)
    if not poll.poll(min(max(0.0, 1e3 * (deadline - time.monotonic())), _LONGEST_WAIT_MS)):
        raise NoAnswer(Termination.TIMED_OUT)


@dataclass(frozen=True)
class Setup:
    """The purpose of a process.

    Attributes:
        make: a pickled call that makes the function that answers questions, or the only answer; see
            `recipe`. For a fork, the pickled arguments of the function that its parent has made; see `to_bytes`.
        guard: restrictions of the process, see `sandbox.contain` and `sandbox.enter_sandbox`. They apply before
            anything is unpickled. Processes that run only the toolkit's code have none, nor do those that fork.
        folder: folder of the user's file, if any; errors are located in it, and a sandboxed process works in it.
        imports: modules of the toolkit to import into a sandboxed process, as some cannot be imported in it later.
        scratch: folder for compiled code in a sandboxed process, where it may change files; none by default.
        readable: what a sandboxed process may read besides, see `sandbox.enter_sandbox`.
        out: folder for the results of a sandboxed process, where it may change files as well.
        processor: seconds of processor time that a sandboxed process may use for each answer; 0 for no limit.
        wall: seconds after which a fork is ended.
    """

    make: bytes
    guard: Guard = "contained"
    folder: str = ""
    imports: tuple[str, ...] = ()
    scratch: str = ""
    readable: tuple[str, ...] = ()
    out: str = ""
    processor: int = PROCESSOR_SECONDS
    wall: float = 300.0


@dataclass(frozen=True)
class SetupError:
    """The reason why the setup failed."""

    why: str


@dataclass(frozen=True)
class Failure:
    """An exception of user code, in one line, and its traceback in the user's files."""

    detail: str
    traceback: str = ""


@dataclass(frozen=True)
class Forked:
    """What became of a fork.

    Attributes:
        said: the last of what the function noted, and its return value or a `Failure`, as far as it came.
        why: the value of a `Termination`; empty if the fork has answered.
        seconds: processor time used.
    """

    said: list[Any]
    why: str
    seconds: float


def encode(value: object) -> bytes:
    """Encode an object as a line."""
    return base64.b64encode(pickle.dumps(value))


def decode(line: bytes) -> Any:
    """Decode a line sent by the toolkit."""
    return pickle.loads(base64.b64decode(line))


def decode_answer(line: bytes) -> Any:
    """Decode an answer, a line that user code may have sent.

    Raises:
        Exception: not an answer.
    """
    answer = _Answers(io.BytesIO(base64.b64decode(line))).load()
    for field in fields(answer) if is_dataclass(answer) else ():
        getattr(answer, field.name)  # it may have been made without
    return answer


class _Answers(pickle._Unpickler):
    """Unpickles answers, and refuses all other classes and functions."""

    # In Python, whose memo is a dictionary: that of the faster one takes gigabytes if a line names a large index.

    def find_class(self, module: str, name: str) -> Any:
        answer_class = _ANSWERS.get(f"{module}.{name}")
        if answer_class is None:
            raise pickle.UnpicklingError(f"{module}.{name} is no answer")
        return answer_class


def serve() -> None:
    """Answer questions until the parent has ended."""
    lines, answers = claim_stdio()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.argv[1:] = []
    setup: Setup = decode(lines.readline())
    before_question = _restrain(setup)
    questions: SimpleQueue[bytes] = SimpleQueue()  # a thread that began before would not be restricted
    threading.Thread(target=_listen, args=(lines, questions), daemon=True).start()
    made = _make(setup)
    _say(answers, None if callable(made) else made)
    answering = partial(_answer_forked, made) if callable(made) and setup.guard == "forking" else made
    while callable(answering):
        question = decode(questions.get())
        before_question()
        _say(answers, _answer(answering, question, setup.folder))


def claim_stdio() -> tuple[BinaryIO, BinaryIO]:
    """Keep the pipes for questions and answers; user code reads empty input, and its output goes to stderr."""
    lines, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return lines, answers


def _listen(lines: BinaryIO, questions: SimpleQueue[bytes]) -> None:
    """Receive questions even while one is being answered, so that the parent's end is noticed at once."""
    for line in lines:
        questions.put(line)
    with suppress(PermissionError):  # in a sandboxed process, where the supervisor does it
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)


def _restrain(setup: Setup, *, is_fork: bool = False) -> Callable[[], None]:
    """Restrict this process as the setup requires; return a function to be called before each question."""
    from .sandbox import contain, enter_sandbox, limit_processor

    if setup.guard == "contained":
        return contain()
    if setup.guard != "sandboxed":
        return lambda: None
    if setup.scratch:
        from ..compiling.code_cache import move_to

        move_to(Path(setup.scratch))
    limit_processor(setup.processor, is_final=is_fork)
    enter_sandbox(setup.folder, setup.scratch, setup.readable, setup.imports, setup.out)
    return lambda: None


def _make(setup: Setup) -> object:
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
        from ..usercode.user_exceptions import user_traceback

        return Failure(detail, user_traceback(error, folder))


def _answer_forked(function: Callable[..., object], setup: Setup) -> Forked:
    """Answer a question in a process forked from this one, which is ended when it has answered or is late."""
    reading, writing = os.pipe()
    before = _used_by_children()
    fork = os.fork()
    if not fork:
        _serve_fork(function, setup, writing)
    os.close(writing)
    said, lines, deadline = deque[Any](maxlen=2), LineReader(reading, LONGEST_ANSWER), time.monotonic() + setup.wall
    try:
        while True:
            said.append(decode_answer(lines.receive(deadline - time.monotonic())))
            if time.monotonic() > deadline:  # however fast it says more
                raise NoAnswer(Termination.TIMED_OUT)
    except NoAnswer as error:
        why = error.why
    except Exception:  # raised by decoding
        why = Termination.NONSENSE
    finally:
        os.kill(fork, signal.SIGKILL)  # one that has ended is unaffected until it is waited for
        status = os.waitpid(fork, 0)[1]
        os.close(reading)
    seconds = _used_by_children() - before
    if os.WIFSIGNALED(status) and seconds >= setup.processor > 0:
        why = Termination.SPENT
    return Forked(list(said), why.value if status else "", seconds)


def _serve_fork(function: Callable[..., object], setup: Setup, writing: int) -> NoReturn:
    try:
        os.closerange(3, writing)
        os.closerange(writing + 1, os.sysconf("SC_OPEN_MAX"))
        answers = os.fdopen(writing, "wb")
        _restrain(setup, is_fork=True)
        _say(answers, _answer(function, (partial(_say, answers), *from_bytes(setup.make)), setup.folder))
        os._exit(0)
    finally:
        os._exit(1)


def _used_by_children() -> float:
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _say(answers: BinaryIO, answer: object) -> None:
    answers.write(encode(answer) + b"\n")
    answers.flush()


_KINDS = SearchResult, Given, Failure, SetupError, Forked
_ANSWERS = {f"{kind.__module__}.{kind.__qualname__}": kind for kind in _KINDS}


class AgentPicklingError(ValueError):
    """An agent cannot be recreated in another process; the message is one line with its name and the reason."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name} cannot play in its own process, which a hard cap needs: {why}")
        self.why = why


def recipe(make: Callable[..., object], *arguments: Any) -> bytes:
    """Pickle a call that is made when the bytes are unpickled.

    Raises:
        Exception: an argument holds something that cannot leave this process.
    """
    return to_bytes(_Recipe(make, arguments))


class _Recipe:
    def __init__(self, make: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._call = make, arguments

    def __reduce__(self) -> tuple[Any, ...]:
        return self._call


def to_bytes(value: object) -> bytes:
    """Pickle agents, heuristics and plain data.

    Raises:
        Exception: the value holds something that cannot leave this process.
    """
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def persistent_id(self, value: Any) -> tuple[str, str, str, str] | None:
            loaded = origin_of(value)
            return (str(loaded.path), loaded.name, loaded.content_hash, data_hash(loaded.path)) if loaded else None

    file = io.BytesIO()
    Pickler(file).dump(value)
    return file.getvalue()


def from_bytes(data: bytes) -> Any:
    """Unpickle a value.

    Raises:
        Exception: a user's file has changed or is missing, or a module cannot be imported here.
    """
    return _Unpickler(io.BytesIO(data)).load()


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, origin: Any) -> Any:
        path, name, content, data = origin
        if content_hash(path) != content:
            raise ValueError(f"{path} has changed since it was loaded")
        value = load(path, name).value
        if data_hash(path) != data:
            raise ValueError(f"a file that {path} reads has changed since it was loaded")
        return value


def one_line(error: BaseException) -> str:
    """Format an exception in one line."""
    return to_one_line(error) or name_of(error)
