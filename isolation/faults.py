"""What people's code raises: told in one clean line, and kept apart from the Ctrl-C of whoever runs it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

LONGEST = 200
"""How many characters of what people's code says are kept: a table and a log have a line for it, not a page."""
LONGEST_LINE = 500
"""How many of a line in which more than that is said."""
_LONGEST_READ = 20 * LONGEST_LINE
_name_of = type.__dict__["__name__"].__get__

IsCtrlC = Callable[[BaseException], bool]
"""Says whether what was raised is the user's Ctrl-C, which ends what runs, or the code's own doing."""


def told(error: BaseException, longest: int = LONGEST) -> str:
    """An exception in one line, such as ``ValueError: no such cell``; its name alone if it says nothing."""
    name, text = name_of(error), clean(error, longest)
    return _cut(f"{name}: {text}", longest) if text else name


def name_of(value: object) -> str:
    """The name of a value's class, clean."""
    return clean(_name_of(type(value)))


def clean(said: object, longest: int = LONGEST) -> str:
    """What a value says of itself, as one line that any file, terminal and page takes, of at most so many characters;
    an ellipsis is the last of them where more was said.

    What cannot be printed is escaped, lone surrogates included. What does not tell says so.
    """
    return _one_line(said, str, longest)


def shown(value: object, longest: int = LONGEST) -> str:
    """A value as code would write it; see `clean`."""
    return _one_line(value, repr, longest)


def _one_line(value: object, tell: Callable[[object], str], longest: int) -> str:
    try:
        # Of a class of their own, text could do anything; what a slice of `str` itself returns is plain.
        text = str.__getitem__(tell(value), slice(_LONGEST_READ))
    except BaseException as error:
        return f"(what it says cannot be told: {clean(_name_of(type(error)))})"[:longest]
    return _cut("".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in " ".join(text.split())), longest)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


@contextmanager
def heeding_ctrl_c() -> Iterator[IsCtrlC]:
    """Tell the user's Ctrl-C, or a request to end, from a KeyboardInterrupt that people's code raises by itself.

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
