"""Answers of the analysis board, computed in its child processes; every failure becomes an answer too."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from knights_isolation.isolation.processes.sandbox import limit_memory
from knights_isolation.isolation.usercode.user_exceptions import format_exception
from knights_isolation.reports.board import handlers
from knights_isolation.reports.board import request_models as asked
from knights_isolation.reports.board.game_export import export_line
from knights_isolation.reports.board.game_import import import_games
from knights_isolation.reports.board.resources import Resources, game, games

CAN_SEARCH = sys.platform != "win32"
"""Whether searches and child processes are available on this system."""

Answers = Mapping[type, Callable[[Any, Resources], dict[str, Any]]]
"""Functions that answer questions, by the question's type; a partial function asks for what it returns.

The message of a ValueError is an answer, too: of an illegal position, of a run, heuristic or agent that does not exist
or cannot be loaded, of a damaged file.
"""
ANSWERS: Answers = {
    asked.ValuesQuestion: lambda question, shelf: handlers.values(question, shelf.all_heuristics),
    asked.GraphQuestion: lambda question, shelf: handlers.graph(question, shelf.all_heuristics),
    asked.SolveQuestion: lambda question, shelf: handlers.exact(question),
    asked.MoveQuestion: lambda question, shelf: handlers.move(question, shelf.agents, seed=random.getrandbits(63)),
    asked.GamesQuestion: games,
    asked.GameQuestion: game,
    asked.ExploreQuestion: handlers.explored,
    asked.ImportQuestion: lambda question, shelf: import_games(question),
    asked.ExportQuestion: export_line,
    partial: lambda function, shelf: function(shelf),
}


class BoardAnswer(NamedTuple):
    """An HTTP status, and the response to the page as JSON."""

    status: int
    body: str


Answer = Callable[[object, Resources], BoardAnswer]
"""Answers a question about the resources; in another process if it can be pickled."""


def succeeded(content: dict[str, Any]) -> BoardAnswer:
    """Return an answer with what a page has asked for."""
    return BoardAnswer(200, json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def failed(status: int, why: str) -> BoardAnswer:
    """Return an answer with an error message."""
    return succeeded({"error": why})._replace(status=status)


def answering(answer: Answer, shelf: Resources, memory: int) -> Callable[[object], tuple[Any, ...]]:
    """Return a function that answers questions, in a process that may use at most `memory` additional bytes.

    Memory 0 leaves the limit as it is, as a sandboxed process must.
    """
    if memory:
        limit_memory(memory)
    return lambda question: tuple(answer(question, shelf))


def answer(question: object, shelf: Resources, answers: Answers = ANSWERS) -> BoardAnswer:
    """Answer a question; failures become answers too."""
    searching = asked.ValuesQuestion | asked.GraphQuestion | asked.MoveQuestion | asked.SolveQuestion
    if not CAN_SEARCH and isinstance(question, searching):
        return failed(400, "positions can be analysed on Linux and macOS only; here the board only shows games")
    try:
        return succeeded(answers[type(question)](question, shelf))
    except MemoryError:
        return failed(400, "the request needs too much memory: request less")
    except (ValueError, OSError) as error:
        return failed(400, str(error))
    except BaseException as error:
        return failed(500, f"the board failed: {format_exception(error)}")
