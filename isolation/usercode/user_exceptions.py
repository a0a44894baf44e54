"""Format user exceptions in one line, and distinguish them from the user's Ctrl-C."""

from __future__ import annotations

import dis
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from sysconfig import get_path
from traceback import walk_tb
from types import FrameType

from .imports import FOLDERS

LONGEST = 200
"""Most characters kept of a text by user code, so that it fits in a line of a table or a log."""
LONGEST_LINE = 500
"""Most characters of a line that contains more than such a text."""
_LONGEST_READ = 20 * LONGEST_LINE
_NOT_THE_USERS = tuple(f"{path}{os.sep}" for path in (get_path("stdlib"), get_path("platstdlib"), *FOLDERS))
_name_of = type.__dict__["__name__"].__get__

IsCtrlC = Callable[[BaseException], bool]
"""Returns whether an exception is the user's Ctrl-C, rather than raised by the code itself."""


def format_exception(error: BaseException, longest: int = LONGEST) -> str:
    """Format an exception in one line, such as ``ValueError: no such cell``; only its name if it has no message."""
    name, text = name_of(error), to_one_line(error, longest)
    return _cut(f"{name}: {text}", longest) if text else name


def origin(error: BaseException) -> str:
    """Return the file and line of user code that raised an exception, as in ``mine.py, line 3``; "" if none."""
    try:
        frames = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    except Exception:  # the exception's class may be user code
        return ""
    return next((f"{_line_in(file)} {line}" for file, line in reversed(frames) if is_user_file(file)), "")


def return_lines(function: object) -> str:
    """Return the file of a user's function and its lines with return statements; "" for other functions.

    A profiler could find the line that did return, but in a long-lived process Python 3.11 was seen to loop forever in
    a profiled call.
    """
    code = getattr(function, "__code__", None)
    if code is None or not is_user_file(code.co_filename):
        return ""
    instructions = [each for each in dis.get_instructions(code) if each.opname in ("RETURN_VALUE", "RETURN_CONST")]
    lines = sorted({each.positions.lineno for each in instructions if each.positions and each.positions.lineno})
    return f"{_line_in(code.co_filename)}{'s' * (len(lines) != 1)} {', '.join(map(str, lines))}"


def is_user_file(path: str) -> bool:
    """Return whether a file belongs to neither Python, an installed package nor this toolkit."""
    is_installed = not {"site-packages", "dist-packages"}.isdisjoint(Path(path).parts)
    return not (is_installed or path.startswith(("<frozen ", "<string>", *_NOT_THE_USERS)))


def _line_in(file: str) -> str:
    return f"{to_one_line(os.path.basename(file), LONGEST // 4)}, line"


def name_of(value: object) -> str:
    """Return the name of a value's class, in printable characters."""
    return to_one_line(_name_of(type(value)))


def to_one_line(said: object, longest: int = LONGEST) -> str:
    """Convert a value to one printable line of at most `longest` characters, ending with an ellipsis if truncated.

    Unprintable characters are escaped, including lone surrogates. If the conversion fails, the result says so.
    """
    return _one_line(said, str, longest)


def safe_repr(value: object) -> str:
    """Return a value's `repr` as one line; see `to_one_line`."""
    return _one_line(value, repr, LONGEST)


def _one_line(value: object, tell: Callable[[object], str], longest: int) -> str:
    try:
        # The text may be of a user's subclass of str, whose methods could do anything; a slice by `str` is a plain str.
        text = str.__getitem__(tell(value), slice(_LONGEST_READ))
    except BaseException as error:
        return f"(unprintable {to_one_line(_name_of(type(error)))})"[:longest]
    return _cut("".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in " ".join(text.split())), longest)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


@contextmanager
def detect_ctrl_c() -> Iterator[IsCtrlC]:
    """Yield a function that tells Ctrl-C and requests to end from a KeyboardInterrupt raised by user code.

    Outside the main thread, and in workers, no signals are received, so every KeyboardInterrupt is the code's own.
    """
    pressed: list[int] = []
    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM) if is_main}
    handlers = {number: handler for number, handler in before.items() if callable(handler)}

    def hear(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        handlers[signal.Signals(number)](number, frame)

    for number in handlers:
        signal.signal(number, hear)
    try:
        yield lambda error: issubclass(type(error), KeyboardInterrupt) and bool(pressed)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


MOST_FRAMES = 20
MOST_LINES = 60


def user_traceback(error: BaseException, folder: str) -> str:
    """Return the traceback from the folder's first frame on, with paths relative to the folder; "" if none."""
    try:
        frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename.startswith(f"{folder}/")]
    except Exception:  # the exception's class may be user code
        return ""
    if not frames:
        return ""
    lines = ["Traceback (most recent call last):"]
    with suppress(Exception):  # the source file may contain anything
        for text in traceback.format_list(frames[:MOST_FRAMES]):
            for line in text.splitlines():
                indent = line[: len(line) - len(line.lstrip())]
                lines.append(indent + to_one_line(line.replace(f"{folder}/", "")))
    if len(frames) > MOST_FRAMES:
        lines.append(f"  … and {len(frames) - MOST_FRAMES} calls more")
    return "\n".join([*lines[:MOST_LINES], format_exception(error)])
