"""Answers of the analysis board, computed in its child processes; every failure becomes an answer too."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from isolation.processes.sandbox import limit_memory
from isolation.usercode.user_exceptions import format_exception
from reports.board import handlers
from reports.board.game_export import export_line
from reports.board.game_import import import_games
from reports.board.handlers import explored
from reports.board.request_models import (
    ExploreQuestion,
    ExportQuestion,
    GameQuestion,
    GamesQuestion,
    GraphQuestion,
    ImportQuestion,
    MoveQuestion,
    SolveQuestion,
    ValuesQuestion,
)
from reports.board.resources import Resources, game, games

CAN_SEARCH = sys.platform != "win32"
"""Whether searches and child processes are available on this system."""

Answers = Mapping[type, Callable[[Any, Resources], dict[str, Any]]]
"""Functions that answer questions, by the question's type."""
ANSWERS: Answers = {
    ValuesQuestion: lambda question, shelf: handlers.values(question, shelf.all_heuristics),
    GraphQuestion: lambda question, shelf: handlers.graph(question, shelf.all_heuristics),
    SolveQuestion: lambda question, shelf: handlers.exact(question),
    MoveQuestion: lambda question, shelf: handlers.move(question, shelf.agents, seed=random.getrandbits(63)),
    GamesQuestion: games,
    GameQuestion: game,
    ExploreQuestion: explored,
    ImportQuestion: lambda question, shelf: import_games(question),
    ExportQuestion: export_line,
}


class BoardAnswer(NamedTuple):
    """An HTTP status, and the response to the page as JSON."""

    status: int
    body: str


Answer = Callable[[object, Resources], BoardAnswer]
"""Answers a question about the resources; in another process if it can be pickled."""


def failed(status: int, why: str) -> BoardAnswer:
    """Return an answer with an error message."""
    return BoardAnswer(status, _json({"error": why}))


def answering(answer: Answer, shelf: Resources, memory: int) -> Callable[[object], tuple[Any, ...]]:
    """Return a function that answers questions, in a process that may use at most `memory` additional bytes.

    Memory 0 leaves the limit as it is, as a sandboxed process must.
    """
    if memory:
        limit_memory(memory)
    return lambda question: tuple(answer(question, shelf))


def answer(question: object, shelf: Resources, answers: Answers = ANSWERS) -> BoardAnswer:
    """Answer a question; failures become answers too."""
    if not CAN_SEARCH and isinstance(question, ValuesQuestion | GraphQuestion | MoveQuestion | SolveQuestion):
        return failed(400, "positions can be analysed on Linux and macOS only; here the board only shows games")
    try:
        return BoardAnswer(200, _json(answers[type(question)](question, shelf)))
    except MemoryError:
        return failed(400, "the request needs too much memory: request less")
    except (ValueError, OSError) as error:
        return failed(400, str(error))
    except BaseException as error:
        return failed(500, f"the board failed: {format_exception(error)}")


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
