"""Capture user code's output and keep it from ending the process."""

from __future__ import annotations

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

from isolation.usercode.user_exceptions import format_exception

MOST_SHOWN = 80
"""Characters of a printed line that are told."""
_CHUNK = 1 << 16


class WantsToEnd(Exception):
    """A user's code has called for the end of the process; the message says how."""


@dataclass
class CapturedOutput:
    """What code has printed: how many lines, and the first of them, cut."""

    lines: int = 0
    first: str = ""

    def sentence(self, who: str) -> str:
        """What was printed, in a sentence; empty if nothing was."""
        if not self.lines:
            return ""
        lines = "a line" if self.lines == 1 else f"{self.lines:,} lines"
        return f"{who} printed {lines}, hidden here; the first is {self.first!r}"


@contextmanager
def prevent_exit() -> Iterator[None]:
    """Turn what would end the process, `sys.exit` or `os._exit` in this thread, into an exception; Ctrl-C stays.

    So it is with what would end it before long: closing all descriptors by `os.closerange`, and emptying
    `sys.modules`, which is filled again.

    Raises:
        WantsToEnd: the code called for the end.
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
    """Put all modules back if code has emptied `sys.modules`, without which Python can do little.

    Raises:
        _Exit: it has.
    """
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
    """Keep what code prints from both of our streams, and count it; inside another one, that one counts.

    So it is with what Python prints, and what native code and programs write to the descriptors. What is warned of is
    said afterwards.
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
    """Have all that is printed in this process from now on go nowhere, for good, whoever prints it."""
    _flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
    sys.stdout = sys.stderr = io.TextIOWrapper(_Counting(CapturedOutput()), encoding="utf-8", errors="replace")
    warnings.simplefilter("ignore")


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
def _descriptors_kept(counting: _Counting) -> Iterator[None]:
    """Send what is written to the descriptors of our streams to a file meanwhile, and count it."""
    with ExitStack() as stack:
        kept = stack.enter_context(tempfile.TemporaryFile())
        _flush()
        for descriptor in (1, 2):
            with suppress(OSError):  # it is closed: nothing can be written there
                before = os.dup(descriptor)
                stack.callback(os.close, before)
                stack.callback(os.dup2, before, descriptor)
                os.dup2(kept.fileno(), descriptor)
        try:
            yield
        finally:
            _flush()
            kept.seek(0)
            while chunk := kept.read(_CHUNK):
                counting.write(chunk)


def _flush() -> None:
    """Empty Python's buffers and those of the C library into the descriptors."""
    for stream in (sys.__stdout__, sys.__stderr__):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()  # type: ignore[union-attr]
    with suppress(Exception):  # where there is no such library
        ctypes.CDLL(None).fflush(None)


class _Exit(BaseException):
    """Passes by every `except Exception` of the code that called for the end."""


class _Counting(io.BytesIO):
    """Keeps no more than the first line of what is written, and the number of lines."""

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
