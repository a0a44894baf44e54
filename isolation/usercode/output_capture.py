"""What user code prints while a command calls it: captured; and the code is kept from ending the process."""

from __future__ import annotations

import atexit
import ctypes
import io
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from typing import Any, NoReturn

from ..suggestions import COMMAND, Failed, tell
from .user_exceptions import format_exception

MOST_SHOWN = 80
"""Most characters shown of a printed line."""
_CHUNK = 1 << 16


class WantsToEnd(Exception):
    """User code has tried to end the process; the message says how."""


@dataclass
class CapturedOutput:
    """Captured output: the number of lines, and the first line, truncated."""

    lines: int = 0
    first: str = ""

    def __add__(self, later: CapturedOutput) -> CapturedOutput:
        return CapturedOutput(self.lines + later.lines, self.first or later.first)

    def sentence(self, who: str) -> str:
        """Return a sentence about the output, or "" if there was none."""
        if not self.lines:
            return ""
        lines = "a line" if self.lines == 1 else f"{self.lines:,} lines"
        return f"{who} printed {lines}, hidden here; the first is {self.first!r}"


@contextmanager
def prevent_exit() -> Iterator[None]:
    """Raise an exception instead of ending the process when this thread calls `sys.exit` or `os._exit`.

    The same applies to closing all descriptors by `os.closerange`, and to emptying `sys.modules`, which is restored.
    Ctrl-C still works.

    Raises:
        WantsToEnd: the code tried to end the process.
    """
    end, close_range, mine = os._exit, os.closerange, (os.getpid(), threading.get_ident())

    def refuse(status: int) -> NoReturn:
        if (os.getpid(), threading.get_ident()) != mine:
            end(status)
        raise _Exit(f"calls os._exit({status})")

    def refuse_range(low: int, high: int, /) -> None:
        if (os.getpid(), threading.get_ident()) != mine:
            return close_range(low, high)
        raise _Exit(f"calls os.closerange({low}, {high})")

    os._exit, os.closerange = refuse, refuse_range
    try:
        with _modules_kept():
            yield
    except (KeyboardInterrupt, Exception):
        raise
    except _Exit as error:
        raise WantsToEnd(str(error)) from error
    except BaseException as error:
        raise WantsToEnd(f"raises {format_exception(error)}") from error
    finally:
        os._exit, os.closerange = end, close_range


@contextmanager
def _modules_kept() -> Iterator[None]:
    """Restore all modules if code has emptied `sys.modules`, since Python hardly works without them."""
    modules, before = sys.modules, sys.modules.copy()
    try:
        yield
    finally:
        emptied = sys.modules is not modules or "builtins" not in modules
        if emptied:
            sys.modules = modules
            modules.update(before)
    if emptied:
        raise _Exit("empties sys.modules")


@contextmanager
def capture_output() -> Iterator[CapturedOutput]:
    """Capture and count what is printed to stdout and stderr; nested in another capture, the outer one counts.

    This includes output that native code and other programs write to the descriptors. Warnings are shown afterwards.
    """
    if isinstance(getattr(sys.stdout, "buffer", None), _Counting):
        yield CapturedOutput()
        return
    printed = CapturedOutput()
    counting = _Counting(printed)
    stream = io.TextIOWrapper(counting, encoding="utf-8", errors="replace", write_through=True)
    with _warned_of_later(), _descriptors_kept(counting), redirect_stdout(stream), redirect_stderr(stream):
        yield printed


def discard_output() -> None:
    """Discard stdout and stderr of this process permanently, including output of native code."""
    _flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
    sys.stdout = sys.stderr = io.TextIOWrapper(_Counting(CapturedOutput()), encoding="utf-8", errors="replace")
    warnings.simplefilter("ignore")


@contextmanager
def captured(code: str) -> Iterator[None]:
    """Capture what user code prints while a command calls it, and report its amount; in Python nothing is captured.

    `code` is the name of the code in the report. What the code prints when this process ends is discarded.

    Raises:
        Failed: the code tried to end the process.
    """
    if not COMMAND.get() or not code:
        yield
        return
    try:
        with capture_output() as printed, prevent_exit():
            yield
    except WantsToEnd as error:
        raise Failed(f"{code}: the code {error}") from error
    finally:
        atexit.register(discard_output)  # called before what the code has registered so far
    if sentence := printed.sentence(code):
        tell(f"Note: {sentence}")


@contextmanager
def _warned_of_later() -> Iterator[None]:
    waiting: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    show = warnings.showwarning
    warnings.showwarning = lambda *said, **options: waiting.append((said, options))
    try:
        yield
    finally:
        warnings.showwarning = show
        for said, options in waiting:
            show(*said, **options)


@contextmanager
def printing_into(file: int) -> Iterator[None]:
    """Let the descriptors of stdout and stderr lead into another file."""
    with ExitStack() as stack:
        for descriptor in (1, 2):
            with suppress(OSError):  # the descriptor is closed, so nothing can be written to it
                before = os.dup(descriptor)
                stack.callback(os.close, before)
                stack.callback(os.dup2, before, descriptor)
                os.dup2(file, descriptor)
        yield


@contextmanager
def _descriptors_kept(counting: _Counting) -> Iterator[None]:
    """Redirect the descriptors of stdout and stderr to a temporary file, and count its lines at the end."""
    with tempfile.TemporaryFile() as kept:
        _flush()
        with printing_into(kept.fileno()):
            try:
                yield
            finally:
                _flush()
                kept.seek(0)
                while chunk := kept.read(_CHUNK):
                    counting.write(chunk)


def _flush() -> None:
    for stream in (sys.__stdout__, sys.__stderr__):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()  # type: ignore[union-attr]
    with suppress(Exception):  # the C library is not available
        ctypes.CDLL(None).fflush(None)


class _Exit(BaseException):
    """Raised instead of ending the process; not caught by `except Exception` in user code."""


class _Counting(io.BytesIO):
    """A stream that keeps the number of lines and the first line only."""

    def __init__(self, printed: CapturedOutput) -> None:
        super().__init__()
        self.printed = printed
        self._is_new_line = True

    def write(self, data: Any) -> int:
        for piece in bytes(data).decode(errors="replace").splitlines(keepends=True):
            self.printed.lines += self._is_new_line
            if self.printed.lines == 1:
                self.printed.first = (self.printed.first + piece.rstrip("\n"))[:MOST_SHOWN]
            self._is_new_line = piece.endswith("\n")
        return len(data)
