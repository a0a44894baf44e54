"""Child processes: engines, and user code, asked by deadlines that allow for a busy machine; and the child's side.

A child reads lines of pickled objects in base 64. The first is a `Setup`; the answer is None or a `Failure`. The others
are questions, tuples of arguments for the function made by the setup; the answer is the function's return value or a
`Failure`. If the setup makes anything but a function, that is the only answer. Only these types, moves and plain data
are unpickled from answers, and validated, since user code may have tampered with the process that sends them.

A *forking* child stays as it was made: each question has a `Setup`, and is answered in a process that is forked for it
and restricted as the setup says. Nothing of an answer remains: no memory, no changed module, no loop.

In setups, values loaded from a user's file are pickled as the file and the name, and loaded again. Functions and
classes of importable modules are pickled by name; those of scripts, lambdas and local functions by value.
"""

from __future__ import annotations

import base64
import io
import math
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO, Generic, Literal, NoReturn, Protocol, TypeVar

import psutil

from ..loading.load_user_code import content_hash, data_hash, load, origin_of
from ..search import SearchResult, is_well_formed
from ..search.agents import forfeit_from
from ..search.classic_agent import Given
from ..usercode.inputs import visible_variables
from ..usercode.user_exceptions import LONGEST_LINE, name_of, to_one_line, user_traceback
from .sandbox import allow_processor, contain, enter_sandbox, limit_processor

Guard = Literal["none", "contained", "sandboxed", "forking"]
PROCESSOR_SECONDS = 60
"""Processor time of an answer in a sandbox, if its setup says nothing else."""
LONGEST_ANSWER = 1 << 20
"""Largest answer in bytes; longer ones are not from the toolkit."""
START = "import sys; sys.path[:] = sys.argv[1:]; from knights_isolation.isolation.processes.child import serve; serve()"
"""The program of a child process; its arguments are the folders of `sys.path`."""
START_SECONDS = 70.0
"""Timeout of starting a process, including the import of a user's file and the loading of compiled code."""
MOST_WAITS = 10
"""Number of timeouts allowed on a machine that is too busy to run the process."""
SPARING = {
    **{f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")},
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
"""Environment variables that limit a child's memory: libraries use one thread, since each has a stack, and Arrow does
not reserve a gigabyte when it reads a file."""
_CHUNK = 1 << 16
_LONGEST_WAIT_MS = 1 << 30
_LAST_WORDS = 1.0
"""Seconds in which a supervisor says how a process has ended."""
_SPENT = "was ended by SIGXCPU"
_SCHEDULED = 2
"""Lowest bits of the id of another process's CPU clock on Linux; see clock_getcpuclockid(3)."""


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


# What is sent


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
        written: folders in which a sandboxed process may change files; the first is for compiled code.
        readable: what a sandboxed process may read besides.
        processor: seconds of processor time that a sandboxed process may use for each answer; 0 for no limit.
        wall: seconds after which a fork is ended.
    """

    make: bytes
    guard: Guard = "contained"
    folder: str = ""
    imports: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    processor: int = PROCESSOR_SECONDS
    wall: float = 300.0


@dataclass(frozen=True)
class Failure:
    """Why the setup failed, or an exception of user code in one line, with its traceback in the user's files."""

    detail: str
    traceback: str = ""


def encode(value: object) -> bytes:
    """Encode an object as a line."""
    return base64.b64encode(pickle.dumps(value))


def decode(line: bytes) -> Any:
    """Decode a line sent by the toolkit."""
    return pickle.loads(base64.b64decode(line))


def decode_answer(line: bytes) -> Any:
    """Decode an answer, a line that user code may have sent.

    Raises:
        Exception: not an answer, or one with a part that is missing or has another type.
    """
    answer = _Answers(io.BytesIO(base64.b64decode(line))).load()
    for field in fields(answer) if is_dataclass(answer) else ():
        getattr(answer, field.name)  # it may have been made without
    if not _is_well_formed(answer):
        raise TypeError(f"{type(answer).__name__} with parts of other types")
    return answer


def _is_well_formed(answer: object) -> bool:
    if isinstance(answer, Failure):
        return type(answer.detail) is type(answer.traceback) is str
    if isinstance(answer, Given):
        times, flags = (answer.seconds, answer.computed), (answer.is_missing, answer.gives_up)
        return (
            (answer.cell is None or (type(answer.cell) is int and 0 <= answer.cell < 1 << 15))
            and type(answer.text) is str
            and all(type(seconds) in (int, float) and abs(seconds) < math.inf for seconds in times)
            and all(type(flag) is bool for flag in flags)
        )
    return not isinstance(answer, SearchResult) or is_well_formed(answer)


_ANSWERS = {f"{kind.__module__}.{kind.__qualname__}": kind for kind in (SearchResult, Given, Failure)}


class _Answers(pickle._Unpickler):
    """Unpickles answers, and refuses all other classes and functions."""

    # In Python, whose memo is a dictionary: that of the faster one takes gigabytes if a line names a large index.

    def find_class(self, module: str, name: str) -> Any:
        if answer_class := _ANSWERS.get(f"{module}.{name}"):
            return answer_class
        raise pickle.UnpicklingError(f"{module}.{name} is no answer")

    def _build(self: Any) -> None:
        if isinstance(self.stack[-2], type):  # a state would change the class, for all of this process
            raise pickle.UnpicklingError("an answer holds the state of a class")
        pickle._Unpickler.dispatch[pickle.BUILD[0]](self)

    dispatch = {**pickle._Unpickler.dispatch, pickle.BUILD[0]: _build}  # noqa: RUF012 -- as in the class it extends


def recipe(make: Callable[..., object], *arguments: Any) -> bytes:
    """Pickle a call, to be made by the process; raises what `to_bytes` does."""
    return to_bytes(partial(make, *arguments))


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
            _wait_for(self._file, select.POLLIN, deadline)
            chunk = os.read(self._file, _CHUNK)
            if not chunk:
                raise NoAnswer(Termination.DIED)
            self._received += chunk
        line = bytes(self._received[:at])
        del self._received[: at + 1]
        return line


def _wait_for(file: int, event: int, deadline: float) -> None:
    """Wait for an event of a file; raise NoAnswer at a deadline by the monotonic clock."""
    poll = select.poll()
    poll.register(file, event)
    if not poll.poll(min(max(0.0, 1e3 * (deadline - time.monotonic())), _LONGEST_WAIT_MS)):
        raise NoAnswer(Termination.TIMED_OUT)


# The parent's side


class SupervisedProgram:
    """Lines to the standard input and from the standard output of a program, such as an engine, for one thread.

    The process is a new program, never a fork, so that this process may have threads. It inherits no pipe, socket or
    file but its own. It leads a process group and is ended with the group: by its supervisor, which is its parent, even
    if this process is killed. Its standard error goes to a file.
    """

    def __init__(
        self,
        command: Sequence[str],
        directory: str | None,
        errors: str,
        longest: int,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start the program. If it cannot be started, it has ended.

        Args:
            directory: its working directory; None for that of this process.
            errors: the file to which standard error is appended.
            longest: maximum length of the lines it sends, in bytes.
            environment: its environment variables; by default those of this process.

        Raises:
            OSError: the directory does not exist, or no process can be started.
        """
        self._notice, theirs = socket.socketpair()
        supervisor = str(Path(__file__).with_name("supervisor.py"))
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", supervisor, str(theirs.fileno()), errors, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,
                cwd=directory,
                pass_fds=(theirs.fileno(),),
                env=environment,
            )
        except OSError:
            self._notice.close()
            raise
        finally:
            theirs.close()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        os.set_blocking(self._input.fileno(), False)
        self._lines = LineReader(self._output.fileno(), longest)
        self._asking = threading.RLock()
        self.is_over = False

    @property
    def pid(self) -> int:
        """The id of the process and of its group."""
        return self._process.pid

    def send(self, line: bytes, seconds: float) -> None:
        """Send a line, given without its newline, within `seconds`.

        Raises:
            NoAnswer: it is not received in time, though part of it may be; or the program has ended.
        """
        deadline = time.monotonic() + seconds
        left = memoryview(line + b"\n")
        while left:
            self._check_running()
            _wait_for(self._input.fileno(), select.POLLOUT, deadline)
            try:
                left = left[os.write(self._input.fileno(), left) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise NoAnswer(Termination.DIED) from None

    def receive(self, seconds: float) -> bytes:
        """Return the next line; see `LineReader.receive`."""
        self._check_running()
        return self._lines.receive(seconds)

    def ending(self, seconds: float) -> str:
        """Return how the program ended, in words, if that is known within `seconds`; else ""."""
        if self.is_over:
            return ""
        self._notice.settimeout(seconds)
        try:
            return self._notice.recv(1000).decode(errors="replace")
        except OSError:
            return ""

    def end(self) -> None:
        """End the program and its group, and wait for its supervisor to end. Repeated calls do nothing.

        If another thread asks it, that hears that it has died, and ends it.
        """
        if not self.is_over:
            with suppress(ProcessLookupError, PermissionError):  # macOS raises it for a group with only a zombie left
                os.killpg(self._process.pid, signal.SIGKILL)
        if self._asking.acquire(blocking=False):
            try:
                self._close()
            finally:
                self._asking.release()

    def _close(self) -> None:
        if not self.is_over:
            self.is_over = True
            self._process.kill()
            self._process.wait()
            for pipe in (self._input, self._output, self._notice):
                pipe.close()

    def _check_running(self) -> None:
        if self.is_over:
            raise NoAnswer(Termination.DIED)


class Child(SupervisedProgram):
    """A child process: set up, asked questions by deadlines, and ended. One thread asks at a time; any may end it.

    Deadlines are extended while the machine is too busy to run it. Its parent is a supervisor, so that user code that
    kills its parent ends only itself. With a sandboxed setup, it gets only harmless variables of the environment.
    """

    def __init__(self, setup: Setup, longest: int = LONGEST_ANSWER, program: str = START) -> None:
        """Start a Python process with the same module path, in any directory; answers have at most `longest` bytes."""
        own = os.environ if setup.guard in ("none", "contained") else visible_variables()
        folders = (folder for folder in sys.path if isinstance(folder, str))
        whole = (os.path.abspath(folder) if os.path.isdir(folder or ".") else folder for folder in folders)
        command = [sys.executable, "-P", "-c", program, *whole]
        super().__init__(command, None, os.devnull, longest, {**own, **SPARING})
        self.setup = setup
        self._child: psutil.Process | None = None

    def start(self, seconds: float = START_SECONDS) -> Any:
        """Send the setup, and return its only answer, if it makes one; else None.

        Raises:
            NoAnswer: the setup is refused, or the process does not answer; it has been ended.
        """
        answer = self.ask(self.setup, seconds)
        if not isinstance(answer, Failure):
            return answer
        self.end()
        raise NoAnswer(Termination.REFUSED, to_one_line(answer.detail, LONGEST_LINE))

    def ask(self, question: Setup | tuple[Any, ...], seconds: float) -> Any:
        """Return the answer to a question. If this is interrupted, the process is ended.

        Raises:
            NoAnswer: there is none within `seconds`; the process has been ended.
        """
        line, is_answered = encode(question), False
        with self._asking:
            try:
                with suppress(psutil.Error, OSError):
                    if self.setup.guard == "sandboxed" and (child := self._found()):
                        allow_processor(child.pid, self.used(), self.setup.processor)
                self.send(line, seconds)
                answer = decode_answer(self.receive(seconds))
                is_answered = True
                return answer
            except NoAnswer as error:
                how = self.ending(_LAST_WORDS) if error.why is Termination.DIED else ""
                raise NoAnswer(Termination.SPENT if how == _SPENT else error.why, how or error.detail) from None
            except Exception:  # raised by decoding a line that was written by user code
                raise NoAnswer(Termination.NONSENSE) from None
            finally:
                if not is_answered:
                    self.end()

    def receive(self, seconds: float) -> bytes:
        """Read a line; see `SupervisedProgram.receive`.

        A process that is ready to run, but got less than half of the time, is given `seconds` more, `MOST_WAITS` times.
        """
        used, waits = self.used(), MOST_WAITS
        while True:
            try:
                answer = super().receive(seconds)
                with suppress(ProcessLookupError):  # user code may have stopped the supervisor
                    os.kill(self.pid, signal.SIGCONT)
                return answer
            except NoAnswer as error:
                waits -= 1
                may_wait = error.why is Termination.TIMED_OUT and waits and self._would_run()
                if not may_wait or self.used() - used > seconds / 2:
                    raise

    def memory(self) -> int:
        """Return the bytes that the process and its children hold; 0 if it has ended."""
        try:
            own = psutil.Process(self.pid)
            return sum(process.memory_info().rss for process in (own, *own.children(recursive=True)))
        except psutil.Error:
            return 0

    def used(self) -> float:
        """Return the CPU time that the process has used, in seconds; 0 if it has ended."""
        with suppress(psutil.Error, OSError):
            if child := self._found():
                if sys.platform == "linux":
                    return time.clock_gettime(~child.pid << 3 | _SCHEDULED)
                times = child.cpu_times()
                return float(times.user + times.system)
        return 0.0

    def _would_run(self) -> bool:
        """Return whether the process is ready to run or waits for the disk."""
        with suppress(psutil.Error):
            child = self._found()
            return child is None or child.status() in (psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP)
        return False

    def _found(self) -> psutil.Process | None:
        """Return the process below its supervisor, or None if it has not been started yet."""
        if self._child is None:
            self._child = next(iter(psutil.Process(self.pid).children()), None)
        return self._child


class _Endable(Protocol):
    is_over: bool

    def end(self) -> None: ...


Kept = TypeVar("Kept", bound=_Endable)


class Idle(Generic[Kept]):
    """Cache of idle processes by their setup; when full, the one that has waited longest is ended."""

    def __init__(self, most: int = 8) -> None:
        self._most = most
        self._waiting: list[tuple[tuple[int, Hashable], Kept]] = []
        self._lock = threading.Lock()

    def take(self, order: Hashable) -> Kept | None:
        """Return a process with this setup that this process has started, or None."""
        with self._lock:
            keys = [key for key, _ in self._waiting]
            key = os.getpid(), order
            return self._waiting.pop(keys.index(key))[1] if key in keys else None

    def put(self, order: Hashable, kept: Kept) -> None:
        """Add a process to the cache, unless it has been ended."""
        if kept.is_over:
            return
        with self._lock:
            self._waiting.append(((os.getpid(), order), kept))
            surplus = self._waiting.pop(0)[1] if len(self._waiting) > self._most else None
        if surplus is not None:
            surplus.end()


# The child's side


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
    if setup.guard == "contained":
        return contain()
    if setup.guard == "sandboxed":
        if setup.written:
            from ..compiling.code_cache import move_to

            move_to(Path(setup.written[0]))
        limit_processor(setup.processor, is_final=is_fork)
        enter_sandbox(setup.folder, setup.written, setup.readable, setup.imports)
    return lambda: None


def _make(setup: Setup) -> object:
    try:
        return from_bytes(setup.make)()
    except BaseException as error:
        why = one_line(error)
        return Failure(why.replace(f"{setup.folder}/", "") if setup.folder else why)


def _answer(function: Callable[..., object], question: tuple[Any, ...], folder: str) -> object:
    try:
        return function(*question)
    except BaseException as error:
        return Failure(forfeit_from(error).detail, user_traceback(error, folder) if folder else "")


def _answer_forked(function: Callable[..., object], setup: Setup) -> tuple[list[Any], str, float]:
    """Answer a question in a process forked from this one, which is ended when it has answered or is late.

    Return the last of what the function noted and its return value or a `Failure`, as far as it came; the value of a
    `Termination`, or "" if it has answered; and the processor time used, in seconds.
    """
    reading, writing = os.pipe()
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
        _, status, used = os.wait4(fork, 0)
        os.close(reading)
    seconds = used.ru_utime + used.ru_stime
    if os.WIFSIGNALED(status) and seconds >= setup.processor > 0:
        why = Termination.SPENT
    return list(said), why.value if status else "", seconds


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


def _say(answers: BinaryIO, answer: object) -> None:
    answers.write(encode(answer) + b"\n")
    answers.flush()
