"""Answers of user code: descriptions of wrong ones, and whether a heuristic returns, and answers twice the same."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from ..compiling.source_rewriter import CompileError, rewrite
from ..processes.subprocess_player import subprocess_player
from ..rules.classic_board import Board
from ..rules.edition import THIRD, TOO_LATE, describe_answer, make_player, names_no_move
from ..rules.game import Limit, Reason
from ..search import SearchResult
from ..search.agents import Agent, AgentPicklingError, ForfeitError, SearchAgent, opened_player
from ..usercode.output_capture import WantsToEnd, prevent_exit
from ..usercode.timeouts import UserCodeTimeout, cpu_timeout
from ..usercode.user_exceptions import format_exception, origin

NODES = 40
POSITIONS = 3
SAMPLE = 60
LONGEST_ANSWER = 2.0
LONGEST_LOOK = 5.0
LONGEST_CHECK = 3.0
"""Seconds of CPU time after which a check ends with what it has seen."""
LONGEST_MOVE = 5.0
"""Timeout of making a player and of one answer, in seconds; see `cpu_timeout`."""


@dataclass(frozen=True)
class CheckResult:
    """Result of a check: its name, whether it passed, what was observed, and the first failing position.

    A note that is not `ok` is reported, but does not count as a failure.
    """

    check: str
    ok: bool
    seen: str
    is_note: bool = False
    fen: str = ""


def new_player(factory: Callable[[], Any], seat: int = 0) -> Any:
    """Return a new player object for a seat; raise what its code raises, or a timeout."""
    with cpu_timeout(LONGEST_MOVE), prevent_exit():
        return make_player(factory, seat)


RESIGNED = "where every move loses: a resignation, which changes no result"
"""What it means that a player names no move in a lost position."""


def wrong_move(answer: object, method: object) -> str:
    """Describe an answer that is not a legal move; `method` gave it."""
    if answer is None:
        return "returns None (is the method still to be written?)"
    if answer is TOO_LATE:
        return f"puts no action on its queue within {THIRD.usual_limit:g} ms of CPU time"
    said = describe_answer(method, answer)
    return said.replace("played", "plays", 1) + (", as if it had no move," if names_no_move(answer) else "")


def is_number(value: object) -> bool:
    """Return whether a heuristic's value is a number other than NaN.

    Raises:
        Exception: it cannot become a float, as a search will find too: a whole number that is too large, or user code.
    """
    try:
        return not math.isnan(value)  # type: ignore[arg-type]
    except TypeError:
        return False


def explain(error: BaseException) -> str:
    """Describe the exception that ended a call."""
    if issubclass(type(error), NotImplementedError):
        return "raises NotImplementedError (still to be written)"
    if issubclass(type(error), UserCodeTimeout | WantsToEnd):
        return str(error)
    where = origin(error)
    return f"raises {format_exception(error)}{f' ({where})' if where else ''}"


def check_determinism(agent: Agent, size: tuple[int, int]) -> Agent:
    """Return the agent, marked as nondeterministic if its heuristic gives two answers to the same question.

    Only user code that does not compile is tested, since other code is analysed from its source. The test runs in a
    child process, because user code may hang or end it. Agents that cannot be tested are assumed deterministic.
    """
    if not isinstance(agent, SearchAgent) or not agent.is_user_code or not agent.is_deterministic or _compiles(agent):
        return agent
    boards = _positions(size)
    deadline = time.monotonic() + LONGEST_LOOK
    seen: dict[int, tuple[int, float]] = {}
    with suppress(ForfeitError, AgentPicklingError), _asked(agent, size) as choose:
        for index in (*range(len(boards)), *range(len(boards))):
            result = choose(boards[index])
            if seen.setdefault(index, (result.move, result.score)) != (result.move, result.score):
                return replace(agent, contradicts_itself=True)
            if time.monotonic() > deadline:
                break
    return agent


def unresponsive_reason(agent: Agent, size: tuple[int, int]) -> str:
    """Return a message if an agent of user code does not finish a short search, as in an endless loop; else "".

    The search runs in a child process. Agents that cannot be tested, or fail in another way, return "".
    """
    if not isinstance(agent, SearchAgent) or not agent.is_user_code:
        return ""
    try:
        with suppress(AgentPicklingError), _asked(agent, size) as choose:
            choose(_positions(size)[0])
    except ForfeitError as error:
        if error.reason == Reason.HANG:
            late = f"{agent.name} did not search {NODES} nodes within {LONGEST_ANSWER:g} s, it may never return"
            return f"{late}: check it with isolation try"
    return ""


@contextmanager
def _asked(agent: SearchAgent, size: tuple[int, int]) -> Iterator[Callable[[Board], SearchResult]]:
    """Yield a function that asks the agent for a move, by a short search in a child process."""
    short = replace(agent, limit=Limit(nodes=NODES))
    with opened_player(subprocess_player(short, size, LONGEST_ANSWER)) as player:
        player.new_game()
        yield lambda board: player.choose(board, 0)


def _compiles(agent: SearchAgent) -> bool:
    if agent.heuristic is None:
        return True
    try:
        rewrite(agent.heuristic)
    except CompileError:
        return False
    return True


def _positions(size: tuple[int, int]) -> list[Board]:
    """Return the positions of seeded games with the most legal moves."""
    from ..compiling.compile_heuristic import sample_positions

    return sorted(sample_positions(size, SAMPLE), key=lambda board: -len(board.legal_cells()))[:POSITIONS]
