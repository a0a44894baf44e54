"""Parse user source without printing Python's warnings."""

from __future__ import annotations

import ast
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from typing import Any

reading = threading.RLock()
"""Held by whoever reads source: what Python warns of is a setting of the whole process, `inspect` fills a table of
lines, and Python 3.11.7 raises SystemError where two threads make syntax trees at once.
"""


@contextmanager
def suppress_warnings() -> Iterator[None]:
    """Read source without a word: workers read the same file again and again, and each would warn of it again."""
    with reading, warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


class SilentLoader(SourceFileLoader):
    """Loads a module from source without a word."""

    def source_to_code(self, *arguments: Any, **options: Any) -> Any:  # type: ignore[override]
        """The code of the source."""
        with suppress_warnings():
            return super().source_to_code(*arguments, **options)


def parse(source: str | bytes) -> ast.Module:
    """The syntax tree of a file, made by one thread at a time.

    Raises:
        SyntaxError, ValueError: it is not Python.
    """
    with suppress_warnings():
        return ast.parse(source)


def parse_expression(source: str) -> ast.expr:
    """The syntax tree of an expression."""
    (statement,) = parse(source).body
    assert isinstance(statement, ast.Expr)
    return statement.value


def syntax_warnings(source: str | bytes) -> list[tuple[int, str]]:
    """What Python warns of in a source that it can read, such as `is` with a number: the line and the warning.

    >>> syntax_warnings("x = 1\\nassert (x, 'always true')")
    [(2, 'assertion is always true, perhaps remove parentheses?')]
    """
    with reading, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compile(source, "<source>", "exec", dont_inherit=True)
    # Another thread may warn of something else meanwhile.
    line_texts = [(warning.lineno, str(warning.message)) for warning in caught if warning.filename == "<source>"]
    return sorted({(line, text[:1].lower() + text[1:]) for line, text in line_texts})
