"""Parse user source without printing Python's warnings."""

from __future__ import annotations

import ast
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from typing import Any

reading = threading.RLock()
"""Lock for reading source: Python's warning filters are process-wide, `inspect` fills a shared cache of lines, and
Python 3.11.7 raises SystemError if two threads parse at once.
"""


_CONFLICT = re.compile(rb"^<{7} .*?^={7}\r?$.*?^>{7} ", re.MULTILINE | re.DOTALL)


@contextmanager
def suppress_warnings() -> Iterator[None]:
    """Suppress syntax warnings, which would be repeated each time a worker reads the same file."""
    with reading, warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


@contextmanager
def _conflicts_named(source: Any) -> Iterator[None]:
    """Name an unresolved merge conflict as that, with the line where it begins, wherever Python stumbles over it."""
    try:
        yield
    except SyntaxError as error:
        text = source.encode() if isinstance(source, str) else bytes(source) if isinstance(source, bytes) else b""
        if not (begin := _CONFLICT.search(text)):
            raise
        line = text.count(b"\n", 0, begin.start()) + 1
        why = "unresolved merge conflict: keep one side, and delete the lines <<<<<<<, ======= and >>>>>>>"
        raise SyntaxError(why, (error.filename, line, None, None)) from None


class SilentLoader(SourceFileLoader):
    """Loads a module from source without printing syntax warnings."""

    def source_to_code(self, *arguments: Any, **options: Any) -> Any:  # type: ignore[override]
        """Compile the source."""
        with suppress_warnings(), _conflicts_named(arguments[0]):
            return super().source_to_code(*arguments, **options)


def parse(source: str | bytes) -> ast.Module:
    """Parse the source of a file, one thread at a time.

    Raises:
        SyntaxError, ValueError: the source is not Python.
    """
    with suppress_warnings(), _conflicts_named(source):
        return ast.parse(source)


def parse_expression(source: str) -> ast.expr:
    """Parse an expression."""
    (statement,) = parse(source).body
    assert isinstance(statement, ast.Expr)
    return statement.value


def syntax_warnings(source: str | bytes) -> list[tuple[int, str]]:
    """Return Python's warnings for a valid source, such as `is` with a number, as lines and messages.

    >>> syntax_warnings("x = 1\\nassert (x, 'always true')")
    [(2, 'assertion is always true, perhaps remove parentheses?')]
    """
    with reading, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compile(source, "<source>", "exec", dont_inherit=True)
    # Other threads may issue warnings meanwhile.
    line_texts = [(warning.lineno, str(warning.message)) for warning in caught if warning.filename == "<source>"]
    return sorted({(line, text[:1].lower() + text[1:]) for line, text in line_texts})
