"""Format user exceptions in one line, and tell them from the user's Ctrl-C."""

from __future__ import annotations

import dis
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from sysconfig import get_paths
from traceback import walk_tb
from types import FrameType

LONGEST = 200
"""How many characters of what user code says are kept: a table and a log have a line for it, not a page."""
LONGEST_LINE = 500
"""How many of a line in which more than that is said."""
_LONGEST_READ = 20 * LONGEST_LINE
_HOME = Path(__file__).parents[2]
_PACKAGES = ("isolation", "heuristics", "experiments", "reports", "commands")
_name_of = type.__dict__["__name__"].__get__

IsCtrlC = Callable[[BaseException], bool]
"""Says whether what was raised is the user's Ctrl-C, which ends what runs, or the code's own doing."""


class CompilerFault(RuntimeError):
    """The compiler fails by a fault of ours, as where a new release of numba has moved a part; says what to report."""


def format_exception(error: BaseException, longest: int = LONGEST) -> str:
    """An exception in one line, such as ``ValueError: no such cell``; its name alone if it says nothing."""
    name, text = name_of(error), to_one_line(error, longest)
    return _cut(f"{name}: {text}", longest) if text else name


def origin(error: BaseException) -> str:
    """The file and line of user code that an exception came from, as in ``mine.py, line 3``; empty if there is none."""
    try:
        frames = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    except Exception:  # an exception may be of a class of the user's
        return ""
    return next((_line_of(file, line) for file, line in reversed(frames) if is_user_file(file)), "")


def return_lines(function: Callable[..., object]) -> str:
    """The file of a user's function and the lines that return from it; empty for what is no function of a user's.

    A profiler would name the line that did return; but in a long-lived process Python 3.11 was seen to loop forever
    in a call that one watched.
    """
    code = getattr(function, "__code__", None)
    if code is None or not is_user_file(code.co_filename):
        return ""
    instructions = [each for each in dis.get_instructions(code) if each.opname in ("RETURN_VALUE", "RETURN_CONST")]
    lines = sorted({each.positions.lineno for each in instructions if each.positions and each.positions.lineno})
    named = f"{to_one_line(os.path.basename(code.co_filename), LONGEST // 4)}, line"
    return f"{named} {lines[0]}" if len(lines) == 1 else f"{named}s {', '.join(map(str, lines))}"


def is_user_file(path: str) -> bool:
    """Whether code of this file is neither Python's nor that of an installed package nor ours."""
    return not path.startswith(("<frozen ", "<string>", *_not_the_users()))


@cache
def _not_the_users() -> tuple[str, ...]:
    installed = {path for name, path in get_paths().items() if name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return tuple(f"{path}{os.sep}" for path in (*installed, *(str(_HOME / package) for package in _PACKAGES)))


def _line_of(file: str, line: int | None) -> str:
    return f"{to_one_line(os.path.basename(file), LONGEST // 4)}, line {line}"


def name_of(value: object) -> str:
    """The name of a value's class, clean."""
    return to_one_line(_name_of(type(value)))


def to_one_line(said: object, longest: int = LONGEST) -> str:
    """What a value says of itself, as one line that any file, terminal and page takes, of at most so many characters;
    an ellipsis is the last of them where more was said.

    What cannot be printed is escaped, lone surrogates included. What does not tell says so.
    """
    return _one_line(said, str, longest)


def safe_repr(value: object) -> str:
    """A value as code would write it; see `to_one_line`."""
    return _one_line(value, repr, LONGEST)


def _one_line(value: object, tell: Callable[[object], str], longest: int) -> str:
    try:
        # Of a class of their own, text could do anything; what a slice of `str` itself returns is plain.
        text = str.__getitem__(tell(value), slice(_LONGEST_READ))
    except BaseException as error:
        return f"(unprintable {to_one_line(_name_of(type(error)))})"[:longest]
    return _cut("".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in " ".join(text.split())), longest)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


@contextmanager
def detect_ctrl_c() -> Iterator[IsCtrlC]:
    """Tell the user's Ctrl-C, or a request to end, from a KeyboardInterrupt that user code raises by itself.

    Where signals are not heard, outside the main thread and in workers, which are deaf to them, nothing is the user's.
    """
    pressed: list[int] = []
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def listening_before(handler: Callable[[int, FrameType | None], object]) -> Callable[[int, FrameType | None], None]:
        def hear(number: int, frame: FrameType | None) -> None:
            pressed.append(number)
            handler(number, frame)

        return hear

    heard = {number: handler for number, handler in before.items() if callable(handler)}
    for number, handler in heard.items():
        signal.signal(number, listening_before(handler))
    try:
        yield lambda error: isinstance(error, KeyboardInterrupt) and bool(pressed)
    finally:
        for number, handler in heard.items():
            signal.signal(number, handler)


MOST_FRAMES = 20
MOST_LINES = 60


def user_traceback(error: BaseException, folder: str) -> str:
    """The traceback from where the folder's code begins, its paths relative to the folder; empty if it has no part."""
    frames = _own_frames(error, folder)
    if not frames:
        return ""
    lines = ["Traceback (most recent call last):"]
    with suppress(Exception):  # whatever a source is that lies there
        for text in traceback.format_list(frames[:MOST_FRAMES]):
            lines += [_plain(line, folder) for line in text.splitlines()]
    if len(frames) > MOST_FRAMES:
        lines.append(f"  … and {len(frames) - MOST_FRAMES} calls more")
    return "\n".join([*lines[:MOST_LINES], format_exception(error)])


def _own_frames(error: BaseException, folder: str) -> list[traceback.FrameSummary]:
    """The calls from the first in a folder's file on, our own between them left out."""
    try:
        frames = traceback.extract_tb(error.__traceback__)
    except Exception:
        return []
    return [frame for frame in frames if frame.filename.startswith(f"{folder}/")]


def _plain(line: str, folder: str) -> str:
    indented = line[: len(line) - len(line.lstrip())]
    return indented + to_one_line(line.replace(f"{folder}/", ""))
