"""Answers of the analysis board and the lab, computed in child processes; every failure becomes an answer too."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from knights_isolation.isolation.processes.sandbox import limit_memory
from knights_isolation.isolation.usercode.user_exceptions import format_exception

from .resources import Resources

CAN_SEARCH = sys.platform != "win32"
"""Whether searches and child processes are available on this system."""
_USUAL = ("game_export", "game_import", "handlers")
"""Modules that are loaded before the first question."""

Question = Callable[[Resources], dict[str, Any]]
"""A function of the resources that can be pickled, such as `partial(values, request)`.

The message of a ValueError is an answer, too: of an illegal position, of a run, heuristic or agent that does not exist
or cannot be loaded, of a damaged file.
"""


class BoardAnswer(NamedTuple):
    """An HTTP status, and the response to the page as JSON."""

    status: int
    body: str


def succeeded(content: dict[str, Any]) -> BoardAnswer:
    """Return an answer with what a page has asked for."""
    return BoardAnswer(200, json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def failed(status: int, why: str) -> BoardAnswer:
    """Return an answer with an error message."""
    return succeeded({"error": why})._replace(status=status)


def answering(shelf: Resources, memory: int) -> Callable[[Question], tuple[Any, ...]]:
    """Return a function that answers questions, in a process that may use at most `memory` additional bytes.

    Memory 0 leaves the limit as it is, as a sandboxed process must.
    """
    for name in _USUAL:
        import_module(f"{__package__}.{name}")
    if memory:
        limit_memory(memory)
    return lambda question: tuple(answer(question, shelf))


def answer(question: Question, shelf: Resources) -> BoardAnswer:
    """Answer a question; failures become answers too."""
    try:
        return succeeded(question(shelf))
    except MemoryError:
        return failed(400, "the request needs too much memory: request less")
    except (ValueError, OSError) as error:
        return failed(400, str(error))
    except BaseException as error:
        return failed(500, f"the board failed: {format_exception(error)}")
