"""Child process of the analysis board: answers requests one at a time.

Lines hold pickled objects in base 64, as in `isolation.processes.subprocess_child`. First comes an `BoardSetup`; the
answer is None. Then come questions, each answered by an `BoardAnswer`.
"""

from __future__ import annotations

import random
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from isolation.processes.subprocess_child import claim_stdio, decode, listen, say
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

START = "import sys; sys.path[:] = sys.argv[1:]; from reports.board.board_child import serve; serve()"
"""The program of the process; its arguments are the folders that modules are looked for in."""
SPARING = {
    **{f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")},
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
"""The environment that keeps libraries in the process from using more than one processor, and Arrow from setting a
gigabyte aside as soon as it reads a file, which counts as memory that the process has."""

_CAN_SEARCH = sys.platform != "win32"

_ANSWERS: dict[type, Callable[[Any, Resources], dict[str, Any]]] = {
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


@dataclass(frozen=True)
class BoardSetup:
    """What can be asked for, packed, and how many bytes the process may take beside those it begins with."""

    shelf: Resources
    memory: int


@dataclass(frozen=True)
class BoardAnswer:
    """An HTTP status, and what the page is told."""

    status: int
    content: dict[str, Any]


def failed(status: int, why: str) -> BoardAnswer:
    """An answer that says in a sentence why there is none."""
    return BoardAnswer(status, {"error": why})


def serve() -> None:
    """Answer questions, until the process that asks them is gone."""
    lines, out = claim_stdio()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.argv[1:] = []
    questions: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=listen, args=(lines, questions), daemon=True).start()
    order: BoardSetup = decode(questions.get())
    _warm_up()
    _limit_memory(order.memory)
    say(out, None)
    while True:
        say(out, answer(decode(questions.get()), order.shelf))


def answer(question: object, shelf: Resources) -> BoardAnswer:
    """What a question is answered, whatever happens meanwhile."""
    if not _CAN_SEARCH and isinstance(question, ValuesQuestion | GraphQuestion | MoveQuestion | SolveQuestion):
        return failed(400, "positions can be analysed on Linux and macOS only; here the board only shows games")
    try:
        return BoardAnswer(200, _ANSWERS[type(question)](question, shelf))
    except MemoryError:
        return failed(400, "the request needs too much memory: request less")
    except (ValueError, OSError) as error:
        return failed(400, str(error))
    except BaseException as error:
        return failed(500, f"the board failed: {format_exception(error)}")


def _warm_up() -> None:
    """Import what most questions need, before anybody waits for an answer."""
    if not _CAN_SEARCH:
        return


def _limit_memory(most: int) -> None:
    """Have memory refused beyond so many bytes more, where the system can count them."""
    try:
        import resource
        from pathlib import Path

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5])
    except (ImportError, OSError):
        return
    most += pages * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
