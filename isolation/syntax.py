"""Users' source, read without Python's own warnings on the terminal; whoever wants them asks for them."""

from __future__ import annotations

import ast
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_filtering = threading.RLock()
"""What Python warns of is a setting of the whole process: two threads that change and restore it would mix it up."""


@contextmanager
def unwarned() -> Iterator[None]:
    """Read source without a word: workers read the same file again and again, and each would warn of it again."""
    with _filtering, warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def parse(source: str | bytes) -> ast.Module:
    """The syntax tree of a file.

    Raises:
        SyntaxError, ValueError: it is not Python.
    """
    with unwarned():
        return ast.parse(source)


def doubtful_lines(source: str | bytes) -> list[tuple[int, str]]:
    """What Python warns of in a source that it can read, such as `is` with a number: the line and the warning.

    >>> doubtful_lines("x = 1\\nassert (x, 'always true')")
    [(2, 'assertion is always true, perhaps remove parentheses?')]
    """
    with _filtering, warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        compile(source, "<source>", "exec", dont_inherit=True)
    # Another thread may warn of something else meanwhile.
    told = [(warning.lineno, str(warning.message)) for warning in found if warning.filename == "<source>"]
    return sorted({(line, text[:1].lower() + text[1:]) for line, text in told})
